//! A text chart: a few curves over a logarithmic axis, each drawn with its own mark.

use freshet_lab::figure::chart::{Chart, Note};
use freshet_lab::figure::number::readable;

/// Columns of the drawing area.
const WIDTH: usize = 64;

/// Rows of the drawing area.
const HEIGHT: usize = 14;

/// Columns for the labels of the vertical axis.
const LABEL_WIDTH: usize = 9;

/// Marks of the series, in order. The first series is drawn on top.
const MARKS: [char; 3] = ['●', '○', '·'];

/// Draws the chart as lines of text.
pub(super) fn draw(figure: &Chart) -> String {
    let mut canvas = vec![[' '; WIDTH]; HEIGHT];
    if let Some(column) = marked(figure).and_then(|(value, _)| column_of(figure, value)) {
        canvas.iter_mut().for_each(|row| row[column] = '┊');
    }
    for (series, mark) in figure.series.iter().zip(MARKS).rev() {
        let row_at = |column: usize| {
            let value = figure.across.scale.value(column as f64 / (WIDTH - 1) as f64);
            figure.value_at(series, value).and_then(|value| row_of(figure, value))
        };
        for (column, row) in (0..WIDTH).map(row_at).enumerate() {
            if let Some(row) = row {
                canvas[row][column] = mark;
            }
        }
    }
    let labels = tick_labels(figure);
    let rows = canvas.iter().zip(labels).map(|(row, label)| {
        let drawn: String = row.iter().collect();
        let axis = if label.is_empty() { '│' } else { '┤' };
        format!("{label:>LABEL_WIDTH$} {axis}{}\n", drawn.trim_end())
    });
    format!("{}\n{}{}", figure.title, rows.collect::<String>(), foot(figure))
}

/// The horizontal axis with its labels and title, followed by the legend.
fn foot(figure: &Chart) -> String {
    let mut axis = ['─'; WIDTH];
    let mut labels = [' '; WIDTH + LABEL_WIDTH];
    let mut free_from = 0;
    for tick in figure.across.scale.ticks() {
        let Some(column) = column_of(figure, tick) else { continue };
        let text: Vec<char> = readable(tick).chars().collect();
        let start = column.saturating_sub(text.len() / 2);
        if start < free_from || start + text.len() > labels.len() {
            continue;
        }
        axis[column] = '┬';
        labels[start..start + text.len()].copy_from_slice(&text);
        free_from = start + text.len() + 2;
    }
    let (axis, labels): (String, String) = (axis.iter().collect(), labels.iter().collect());
    let mut legend: Vec<String> =
        figure.series.iter().zip(MARKS).map(|(series, mark)| format!("{mark} {}", series.name)).collect();
    legend.extend(marked(figure).map(|(_, name)| format!("┊ {name}")));
    let indent = " ".repeat(LABEL_WIDTH + 2);
    format!(
        "{:>LABEL_WIDTH$} └{axis}\n{indent}{}\n{indent}{}\n{indent}{}\n",
        "",
        labels.trim_end(),
        figure.across.title,
        legend.join("   ")
    )
}

/// The label of each row; empty where there is no tick.
fn tick_labels(figure: &Chart) -> Vec<String> {
    let mut labels = vec![String::new(); HEIGHT];
    for tick in figure.up.scale.ticks() {
        if let Some(row) = row_of(figure, tick) {
            labels[row] = readable(tick);
        }
    }
    labels
}

/// The first value marked on the horizontal axis, with its label.
fn marked(figure: &Chart) -> Option<(f64, &str)> {
    figure.notes.iter().find_map(|note| match note {
        Note::At(value, name) => Some((*value, name.as_str())),
        Note::Level(..) | Note::Point(..) => None,
    })
}

fn column_of(figure: &Chart, value: f64) -> Option<usize> {
    figure.across.scale.place(value).map(|place| (place * (WIDTH - 1) as f64).round() as usize)
}

fn row_of(figure: &Chart, value: f64) -> Option<usize> {
    figure.up.scale.place(value).map(|place| ((1.0 - place) * (HEIGHT - 1) as f64).round() as usize)
}

#[cfg(test)]
mod tests {
    use freshet_lab::figure::chart::{Axis, Series};
    use freshet_lab::figure::scale::Scale;

    use super::*;

    #[test]
    fn a_chart_shows_axes_curve_gap_and_legend() {
        let points = vec![(1.0, 0.0), (10.0, 0.5), (100.0, 1.0), (1000.0, f64::INFINITY)];
        let figure = Chart {
            title: "freshness".to_owned(),
            across: Axis::new("visits a day", Scale::logarithmic([1.0, 1000.0])),
            up: Axis::new("freshness", Scale::linear(0.0, 1.0)),
            series: vec![Series::line("this plan", points)],
            notes: vec![Note::At(10.0, "budget".to_owned())],
        };
        let chart = draw(&figure);
        let lines: Vec<&str> = chart.lines().collect();
        assert_eq!(lines.len(), 1 + HEIGHT + 4);
        assert!(lines[1].starts_with("        1 ┤"), "{chart}");
        assert!(lines[HEIGHT].contains("0 ┤●"), "{chart}");
        assert!(chart.contains("● this plan   ┊ budget"), "{chart}");
        // The curve is drawn from 1 to 100; from 100 to 1000 there is a gap.
        assert_eq!(chart.matches('●').count(), 43 + 1, "{chart}");
    }
}
