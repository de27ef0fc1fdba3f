//! Bar chart in panels side by side: one row per contestant, one panel per range of cycles.
//!
//! It reads like a table whose numbers have lengths, so that any number of contestants stays legible. All
//! panels of a figure share one axis, which is marked below each. A dashed line in a panel is a ceiling.
//!
//! # Promises
//! - Every value is written next to its bar. A missing value is a dash.
//! - Names may contain any character.

use super::number::readable;
use super::svg::{Sheet, stroke, text_width};

/// A bar chart.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Its title.
    pub title: String,
    /// Title of the axis, with its unit.
    pub axis: String,
    /// Digits after the decimal point of the values.
    pub digits: usize,
    /// Names of the panels.
    pub panels: Vec<String>,
    /// Name of the ceiling and its value in each panel. `None` where there is nothing to draw.
    pub ceiling: Option<(String, Vec<Option<f64>>)>,
    /// The contestants.
    pub rows: Vec<Row>,
}

/// One row of bars.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its value in each panel.
    pub values: Vec<Option<f64>>,
    /// Whether to highlight it.
    pub is_ours: bool,
}

// Sizes in pixels at the figure's natural size.
const PANEL_WIDTH: f64 = 150.0;
const VALUE_WIDTH: f64 = 46.0;
const GAP: f64 = 14.0;
const ROW_HEIGHT: f64 = 20.0;
const BAR_HEIGHT: f64 = 13.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 62.0;
const MARGIN: f64 = 16.0;

const BAR: &str = "#9db7d5";
const OUR_BAR: &str = "#d9730d";
const CEILING: &str = "#a02020";

impl Bars {
    /// Draws the chart as SVG.
    pub fn draw(&self) -> String {
        let longest = self.rows.iter().map(|row| text_width(&row.name)).fold(60.0, f64::max);
        let left = MARGIN + longest + GAP;
        let panels = self.panels.len() as f64;
        let title_width = 2.0 * MARGIN + 1.3 * text_width(&self.title);
        let width = (left + panels * (PANEL_WIDTH + VALUE_WIDTH + GAP) + MARGIN).max(title_width);
        let height = TOP + self.rows.len() as f64 * ROW_HEIGHT + BOTTOM;
        let mut sheet = Sheet::new(width, height);
        sheet.text((MARGIN, 26.0), "font-size=\"15\" font-weight=\"bold\"", &self.title);
        if let Some((name, _)) = &self.ceiling {
            sheet.line((left, 44.0), (left + 26.0, 44.0), &ceiling_stroke());
            sheet.text((left + 34.0, 48.0), "", name);
        }
        for (number, row) in self.rows.iter().enumerate() {
            let y = TOP + number as f64 * ROW_HEIGHT + 14.0;
            let weight = if row.is_ours { " font-weight=\"bold\"" } else { "" };
            sheet.text((left - GAP, y), &format!("text-anchor=\"end\"{weight}"), &row.name);
        }
        for panel in 0..self.panels.len() {
            let x = left + panel as f64 * (PANEL_WIDTH + VALUE_WIDTH + GAP);
            self.panel(&mut sheet, panel, x);
        }
        sheet.finish()
    }

    fn panel(&self, sheet: &mut Sheet, panel: usize, left: f64) {
        let bottom = TOP + self.rows.len() as f64 * ROW_HEIGHT;
        sheet.text((left, TOP - 12.0), "font-weight=\"bold\"", &self.panels[panel]);
        let most = self.axis_end();
        let x = |value: f64| left + PANEL_WIDTH * (value / most).clamp(0.0, 1.0);
        for tick in ticks(most) {
            sheet.line((x(tick), TOP), (x(tick), bottom + 4.0), "stroke=\"#dddddd\" stroke-width=\"1\"");
            sheet.text((x(tick), bottom + 18.0), "text-anchor=\"middle\" font-size=\"11\"", &readable(tick));
        }
        for (number, row) in self.rows.iter().enumerate() {
            let top = TOP + number as f64 * ROW_HEIGHT;
            let value = row.values.get(panel).copied().flatten().filter(|value| value.is_finite());
            let written = value.map_or_else(|| "–".to_owned(), |value| self.written(value));
            if let Some(value) = value {
                let colour = if row.is_ours { OUR_BAR } else { BAR };
                let (bar_top, width) = (top + 0.5 * (ROW_HEIGHT - BAR_HEIGHT), x(value) - left);
                let style = format!("fill=\"{colour}\"");
                sheet.rectangle((left, bar_top), width, BAR_HEIGHT, &style);
            }
            let after = value.map_or(left, x) + 4.0;
            sheet.text((after, top + 14.0), "font-size=\"11\"", &written);
        }
        sheet.line((left, TOP), (left, bottom), "stroke=\"#555555\" stroke-width=\"1\"");
        if let Some(Some(ceiling)) = self.ceiling.as_ref().and_then(|(_, values)| values.get(panel)) {
            sheet.line((x(*ceiling), TOP - 4.0), (x(*ceiling), bottom), &ceiling_stroke());
        }
        let middle = left + 0.5 * PANEL_WIDTH;
        sheet.text(
            (middle, bottom + 38.0),
            "text-anchor=\"middle\" font-size=\"11\" fill=\"#555\"",
            &self.axis,
        );
    }

    fn written(&self, value: f64) -> String {
        format!("{value:.digits$}", digits = self.digits)
    }

    /// End of the axis: a round value not below any that is drawn.
    fn axis_end(&self) -> f64 {
        let drawn = self.rows.iter().flat_map(|row| &row.values);
        let ceilings = self.ceiling.iter().flat_map(|(_, values)| values);
        let most =
            drawn.chain(ceilings).flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
        round_up(most)
    }
}

/// The smallest of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below a value.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.map(|step| step * power).into_iter().find(|end| value <= end * (1.0 + 1e-9)).unwrap_or(10.0 * power)
}

fn ticks(end: f64) -> [f64; 3] {
    [0.0, 0.5 * end, end]
}

fn ceiling_stroke() -> String {
    stroke(CEILING, "5 3", 1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars() -> Bars {
        let row = |name: &str, values: &[Option<f64>], is_ours| Row {
            name: name.to_owned(),
            values: values.to_vec(),
            is_ours,
        };
        Bars {
            title: "ChangeRatio".to_owned(),
            axis: "changed / downloads".to_owned(),
            digits: 3,
            panels: vec!["1-3".to_owned(), "mean".to_owned()],
            ceiling: Some(("oracle".to_owned(), vec![Some(0.4), None])),
            rows: vec![
                row("a<b&c", &[Some(0.25), None], false),
                row("freshet", &[Some(0.31), Some(0.3)], true),
            ],
        }
    }

    #[test]
    fn every_value_is_written_and_a_missing_one_is_a_dash() {
        let svg = bars().draw();
        for piece in [">0.250<", ">0.310<", ">0.300<", ">–<", ">1-3<", ">mean<", ">changed / downloads<"] {
            assert!(svg.contains(piece), "{piece}");
        }
        assert_eq!(svg.matches("<rect").count(), 1 + 3);
    }

    #[test]
    fn names_may_hold_any_character() {
        let svg = bars().draw();
        assert!(svg.contains("a&lt;b&amp;c") && !svg.contains("a<b"));
    }

    #[test]
    fn the_axis_ends_at_a_round_value() {
        assert_eq!(bars().axis_end(), 0.4);
        for (value, end) in [(0.0, 1.0), (0.986, 1.0), (5.7, 6.0), (1.0, 1.0), (0.021, 0.03), (8.5, 10.0)] {
            assert!((round_up(value) - end).abs() < 1e-12, "{value}");
        }
    }
}
