//! An SVG sheet and the few shapes drawn on it.
//!
//! # Promises
//! - Texts may contain any character.

use std::fmt::Write as _;

/// A position on the sheet: right and down from its upper left corner, in pixels at its natural size.
pub(super) type Place = (f64, f64);

/// An SVG image under construction.
pub(super) struct Sheet {
    svg: String,
}

impl Sheet {
    /// A white sheet.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', \
             sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"white\"/>\n"
        );
        Self { svg }
    }

    /// Draws a line.
    pub(super) fn line(&mut self, from: Place, to: Place, style: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.put(&format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"));
    }

    /// Draws a line through several places.
    pub(super) fn line_through(&mut self, places: &[Place], style: &str) {
        let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        self.put(&format!("<polyline points=\"{points}\" fill=\"none\" stroke-linejoin=\"round\" {style}/>"));
    }

    /// Draws a rectangle by its upper left corner, width and height.
    pub(super) fn rectangle(&mut self, (x, y): Place, width: f64, height: f64, style: &str) {
        self.put(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {style}/>"
        ));
    }

    /// Draws a closed shape, given as an SVG path.
    pub(super) fn shape(&mut self, path: &str, style: &str) {
        self.put(&format!("<path d=\"{path}\" {style}/>"));
    }

    /// Draws a text.
    pub(super) fn text(&mut self, (x, y): Place, style: &str, content: &str) {
        let content = escaped(content);
        self.put(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{content}</text>"));
    }

    /// Draws a text that reads upwards, centred on the place.
    pub(super) fn upward_text(&mut self, (x, y): Place, style: &str, content: &str) {
        let turn = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\" {style}");
        self.text((x, y), &turn, content);
    }

    /// Returns the image.
    pub(super) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    fn put(&mut self, element: &str) {
        writeln!(self.svg, "{element}").expect("a string takes everything");
    }
}

/// A white outline that keeps a note legible on top of lines.
pub(super) const HALO: &str = "stroke=\"white\" stroke-width=\"4\" paint-order=\"stroke\"";

/// The style of a line. `dashes` is `none` or lengths of dashes and gaps.
pub(super) fn stroke(colour: &str, dashes: &str, width: f64) -> String {
    format!("stroke=\"{colour}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"")
}

/// Approximate width of a text, in pixels at the normal font size.
pub(super) fn text_width(text: &str) -> f64 {
    /// Approximate width of a letter at the normal font size.
    const LETTER: f64 = 6.6;
    text.chars().count() as f64 * LETTER
}

/// Escapes all characters that have a meaning in XML or HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_may_hold_any_character() {
        let mut sheet = Sheet::new(10.0, 10.0);
        sheet.text((0.0, 0.0), "", "a<b&\"c\"");
        assert!(sheet.finish().contains(">a&lt;b&amp;&quot;c&quot;<"));
    }
}
