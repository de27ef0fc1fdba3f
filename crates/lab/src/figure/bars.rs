//! Bars in panels side by side: a row for each contestant, a panel for each range of cycles.
//!
//! It reads like a table whose numbers have lengths, so that any number of contestants stays legible. All panels of a picture share
//! one axis, which is marked below each. A dashed line in a panel is a ceiling.
//!
//! # Promises
//! - Every value is written beside its bar; a value that is missing is a dash.
//! - Names may hold any character.

use std::fmt::Write as _;

/// A picture.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// What the axis measures, with its unit.
    pub axis: String,
    /// Digits behind the point of the values.
    pub digits: usize,
    /// Names of the panels.
    pub panels: Vec<String>,
    /// A ceiling in each panel, and what it is called; none where there is nothing to draw.
    pub ceiling: Option<(String, Vec<Option<f64>>)>,
    /// The contestants.
    pub rows: Vec<Row>,
}

/// One contestant.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its value in each panel.
    pub values: Vec<Option<f64>>,
    /// Whether it is to stand out.
    pub is_ours: bool,
}

// Measures in pixels of the picture at its natural size.
const PANEL_WIDTH: f64 = 150.0;
const VALUE_WIDTH: f64 = 46.0;
const GAP: f64 = 14.0;
const ROW_HEIGHT: f64 = 20.0;
const BAR_HEIGHT: f64 = 13.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 62.0;
const MARGIN: f64 = 16.0;
/// Width of a character of a name, about.
const CHARACTER: f64 = 6.8;

const BAR: &str = "#9db7d5";
const OUR_BAR: &str = "#d9730d";
const CEILING: &str = "#a02020";

impl Bars {
    /// The picture as SVG.
    pub fn draw(&self) -> String {
        let longest = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        let left = MARGIN + (longest as f64 * CHARACTER).max(60.0) + GAP;
        let panels = self.panels.len() as f64;
        let title_width = 2.0 * MARGIN + self.title.chars().count() as f64 * 1.25 * CHARACTER;
        let width = (left + panels * (PANEL_WIDTH + VALUE_WIDTH + GAP) + MARGIN).max(title_width);
        let height = TOP + self.rows.len() as f64 * ROW_HEIGHT + BOTTOM;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" \
             fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut svg, (MARGIN, 26.0), "font-size=\"15\" font-weight=\"bold\"", &self.title);
        if let Some((name, _)) = &self.ceiling {
            line(&mut svg, (left, 44.0), (left + 26.0, 44.0), &ceiling_stroke());
            text(&mut svg, (left + 34.0, 48.0), "", name);
        }
        for (number, row) in self.rows.iter().enumerate() {
            let y = TOP + number as f64 * ROW_HEIGHT + 14.0;
            let weight = if row.is_ours { " font-weight=\"bold\"" } else { "" };
            text(&mut svg, (left - GAP, y), &format!("text-anchor=\"end\"{weight}"), &row.name);
        }
        for panel in 0..self.panels.len() {
            let x = left + panel as f64 * (PANEL_WIDTH + VALUE_WIDTH + GAP);
            self.panel(&mut svg, panel, x);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn panel(&self, svg: &mut String, panel: usize, left: f64) {
        let bottom = TOP + self.rows.len() as f64 * ROW_HEIGHT;
        text(svg, (left, TOP - 12.0), "font-weight=\"bold\"", &self.panels[panel]);
        let most = self.axis_end();
        let x = |value: f64| left + PANEL_WIDTH * (value / most).clamp(0.0, 1.0);
        for tick in ticks(most) {
            line(svg, (x(tick), TOP), (x(tick), bottom + 4.0), "stroke=\"#dddddd\" stroke-width=\"1\"");
            text(svg, (x(tick), bottom + 18.0), "text-anchor=\"middle\" font-size=\"11\"", &short(tick));
        }
        for (number, row) in self.rows.iter().enumerate() {
            let top = TOP + number as f64 * ROW_HEIGHT;
            let value = row.values.get(panel).copied().flatten().filter(|value| value.is_finite());
            let written = value.map_or_else(|| "–".to_owned(), |value| self.written(value));
            if let Some(value) = value {
                let colour = if row.is_ours { OUR_BAR } else { BAR };
                let (bar_top, width) = (top + 0.5 * (ROW_HEIGHT - BAR_HEIGHT), x(value) - left);
                put(
                    svg,
                    &format!(
                        "<rect x=\"{left:.1}\" y=\"{bar_top:.1}\" width=\"{width:.1}\" \
                         height=\"{BAR_HEIGHT:.1}\" fill=\"{colour}\"/>"
                    ),
                );
            }
            let after = value.map_or(left, x) + 4.0;
            text(svg, (after, top + 14.0), "font-size=\"11\"", &written);
        }
        line(svg, (left, TOP), (left, bottom), "stroke=\"#555555\" stroke-width=\"1\"");
        if let Some(Some(ceiling)) = self.ceiling.as_ref().and_then(|(_, values)| values.get(panel)) {
            line(svg, (x(*ceiling), TOP - 4.0), (x(*ceiling), bottom), &ceiling_stroke());
        }
        let middle = left + 0.5 * PANEL_WIDTH;
        text(
            svg,
            (middle, bottom + 38.0),
            "text-anchor=\"middle\" font-size=\"11\" fill=\"#555\"",
            &self.axis,
        );
    }

    fn written(&self, value: f64) -> String {
        format!("{value:.digits$}", digits = self.digits)
    }

    /// Where the axis ends: a round value not below any that is drawn.
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

/// A number of the axis without needless digits.
fn short(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn ceiling_stroke() -> String {
    format!("stroke=\"{CEILING}\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\"")
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), style: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    put(svg, &format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"));
}

fn text(svg: &mut String, at: (f64, f64), style: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    put(svg, &format!("<text x=\"{:.1}\" y=\"{:.1}\" {style}>{content}</text>", at.0, at.1));
}

fn put(svg: &mut String, element: &str) {
    writeln!(svg, "{element}").expect("a string takes everything");
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

    #[test]
    fn numbers_of_the_axis_are_short() {
        let shorts = [0.0, 0.2, 0.015, 1.0, 250.0, 1500.0].map(short);
        assert_eq!(shorts, ["0", "0.2", "0.015", "1", "250", "1500"]);
    }
}
