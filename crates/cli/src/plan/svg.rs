//! Figures as an SVG picture: panels one below the other, with axes, grid, legend and notes.

use std::fmt::Write as _;

use super::figure::{Figure, Series};
use super::quantity::readable;

// Measures in pixels of the picture at its natural size.
const WIDTH: f64 = 760.0;
const PANEL_HEIGHT: f64 = 330.0;
const HEADING_HEIGHT: f64 = 62.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 58.0;

/// Colour and dashes of each series, first to last. The colours differ in lightness too, for eyes and printers without them.
const STROKES: [(&str, &str); 3] = [("#0b5394", "none"), ("#d9730d", "7 4"), ("#7a7a7a", "2 4")];

/// The picture of these figures under one heading.
pub(super) fn draw(heading: &str, figures: &[Figure<'_>]) -> String {
    let height = HEADING_HEIGHT + PANEL_HEIGHT * figures.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" \
         fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut svg, (LEFT, 24.0), "font-size=\"15\" font-weight=\"bold\"", heading);
    if let Some(figure) = figures.first() {
        legend(&mut svg, figure);
    }
    for (index, figure) in figures.iter().enumerate() {
        let panel = Panel { figure, top: HEADING_HEIGHT + PANEL_HEIGHT * index as f64 };
        panel.draw(&mut svg);
    }
    svg.push_str("</svg>\n");
    svg
}

fn legend(svg: &mut String, figure: &Figure<'_>) {
    for (index, (series, (colour, dashes))) in figure.series.iter().zip(STROKES).enumerate() {
        let x = LEFT + 150.0 * index as f64;
        line(svg, (x, 46.0), (x + 32.0, 46.0), &stroke(colour, dashes, 2.5));
        text(svg, (x + 40.0, 50.0), "", series.name);
    }
}

/// One figure at its place in the picture.
struct Panel<'a> {
    figure: &'a Figure<'a>,
    top: f64,
}

impl Panel<'_> {
    fn draw(&self, svg: &mut String) {
        text(svg, (LEFT, self.top + 20.0), "font-weight=\"bold\"", self.figure.title);
        self.grid(svg);
        for (series, (colour, dashes)) in self.figure.series.iter().zip(STROKES).rev() {
            self.curve(svg, series, &stroke(colour, dashes, 2.5));
        }
        self.notes(svg);
    }

    /// Grid lines with their labels, the frame, and the title of the horizontal axis.
    fn grid(&self, svg: &mut String) {
        let (bottom, right) = (self.y_of_place(0.0), self.x_of_place(1.0));
        let grid = stroke("#dddddd", "none", 1.0);
        for tick in self.figure.up.ticks() {
            let Some(y) = self.y(tick) else { continue };
            line(svg, (LEFT, y), (right, y), &grid);
            text(svg, (LEFT - 8.0, y + 4.0), "text-anchor=\"end\"", &readable(tick));
        }
        for tick in self.figure.across.ticks() {
            let Some(x) = self.x(tick) else { continue };
            line(svg, (x, self.y_of_place(1.0)), (x, bottom), &grid);
            text(svg, (x, bottom + 18.0), "text-anchor=\"middle\"", &readable(tick));
        }
        let frame = stroke("#555555", "none", 1.0);
        line(svg, (LEFT, bottom), (right, bottom), &frame);
        line(svg, (LEFT, self.y_of_place(1.0)), (LEFT, bottom), &frame);
        let middle = self.x_of_place(0.5);
        text(svg, (middle, bottom + 38.0), "text-anchor=\"middle\"", self.figure.across_title);
    }

    /// A curve, broken where it has no value.
    fn curve(&self, svg: &mut String, series: &Series<'_>, style: &str) {
        let places: Vec<_> = series.points.iter().map(|(x, y)| self.x(*x).zip(self.y(*y))).collect();
        for piece in places.split(Option::is_none) {
            let points: Vec<String> = piece.iter().flatten().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            if !points.is_empty() {
                let points = points.join(" ");
                writeln!(
                    svg,
                    "<polyline points=\"{points}\" fill=\"none\" stroke-linejoin=\"round\" {style}/>"
                )
                .expect("a string takes everything");
            }
        }
    }

    fn notes(&self, svg: &mut String) {
        if let Some((value, name)) = &self.figure.marked
            && let Some(x) = self.x(*value)
        {
            line(svg, (x, self.y_of_place(1.0)), (x, self.y_of_place(0.0)), &stroke("#222222", "3 3", 1.0));
            // The note stands at the end of the panel that the curves leave free.
            let height =
                self.figure.series.iter().find_map(|series| self.figure.up.place(series.value_at(*value)?));
            let at_foot = height.is_none_or(|height| height > 0.5);
            let y = if at_foot { self.y_of_place(0.0) - 8.0 } else { self.y_of_place(1.0) + 14.0 };
            text(svg, (x + 6.0, y), HALO, name);
        }
        if let Some((value, height, name)) = &self.figure.noted
            && let Some((x, y)) = self.x(*value).zip(self.y(*height))
        {
            line(svg, (LEFT, y), (x, y), &stroke("#222222", "3 3", 1.0));
            line(svg, (x, y), (x, self.y_of_place(0.0)), &stroke("#222222", "3 3", 1.0));
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"#0b5394\"/>")
                .expect("a string takes everything");
            // On the right half the note goes to the left of its point, where there is room for it.
            let (shift, anchor) = if x > self.x_of_place(0.5) { (-9.0, "end") } else { (9.0, "start") };
            text(svg, (x + shift, y - 9.0), &format!("text-anchor=\"{anchor}\" {HALO}"), name);
        }
    }

    fn x(&self, value: f64) -> Option<f64> {
        self.figure.across.place(value).map(|place| self.x_of_place(place))
    }

    fn y(&self, value: f64) -> Option<f64> {
        self.figure.up.place(value).map(|place| self.y_of_place(place))
    }

    fn x_of_place(&self, place: f64) -> f64 {
        LEFT + place * (WIDTH - LEFT - RIGHT)
    }

    fn y_of_place(&self, place: f64) -> f64 {
        self.top + TOP + (1.0 - place) * (PANEL_HEIGHT - TOP - BOTTOM)
    }
}

/// A white rim that keeps a note legible on top of lines.
const HALO: &str = "stroke=\"white\" stroke-width=\"4\" paint-order=\"stroke\"";

fn stroke(colour: &str, dashes: &str, width: f64) -> String {
    format!("stroke=\"{colour}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"")
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), style: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>")
        .expect("a string takes everything");
}

fn text(svg: &mut String, at: (f64, f64), style: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" {style}>{content}</text>", at.0, at.1)
        .expect("a string takes everything");
}
