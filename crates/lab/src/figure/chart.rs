//! Curves and points over labelled axes, one chart or several side by side under one legend.
//!
//! A series is identified by its name and looks the same in all charts of a plate. The first eight series
//! differ in colour, dashes and the shape of their points, so that they can be distinguished without colour.
//!
//! # Promises
//! - Every axis has a title and round labels. Every series is in the legend, once.
//! - A curve is broken where it has no value, and clipped at the axes.

use super::number::readable;
use super::scale::Scale;
use super::svg::{HALO, Place, Sheet, stroke, text_width};

/// Charts side by side under one heading and one legend.
#[derive(Clone, Debug)]
pub struct Plate {
    /// Their common heading.
    pub heading: String,
    /// Charts per row.
    pub columns: usize,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// Series over two axes.
///
/// # Examples
///
/// ```
/// use freshet_lab::figure::chart::{Axis, Chart, Series};
/// use freshet_lab::figure::scale::Scale;
///
/// let chart = Chart {
///     title: String::new(),
///     across: Axis::new("visits a day", Scale::linear(0.0, 4.0)),
///     up: Axis::new("freshness", Scale::linear(0.0, 1.0)),
///     series: vec![Series::line("copy", (1..=4).map(|visits| {
///         let visits = f64::from(visits);
///         (visits, visits * (1.0 - (-1.0 / visits).exp()))
///     }))],
///     notes: Vec::new(),
/// };
/// assert!(chart.draw().starts_with("<svg"));
/// ```
#[derive(Clone, Debug)]
pub struct Chart {
    /// Distinguishes it from its neighbours. May be empty for a single chart.
    pub title: String,
    /// Horizontal axis.
    pub across: Axis,
    /// Vertical axis.
    pub up: Axis,
    /// The series, most important first: it is drawn on top.
    pub series: Vec<Series>,
    /// Annotations.
    pub notes: Vec<Note>,
}

/// An axis and its title.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Title, with the unit.
    pub title: String,
    /// Range of the axis.
    pub scale: Scale,
}

impl Axis {
    /// Creates an axis.
    pub fn new(title: impl Into<String>, scale: Scale) -> Self {
        Self { title: title.into(), scale }
    }
}

/// Points by rising abscissa, and how they are drawn. A value that is not finite leaves a gap.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// How it is drawn.
    pub look: Look,
    /// Name of the series whose colour it shares, if any: the other side of a comparison.
    pub like: Option<String>,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Look {
    /// A line from point to point.
    Line,
    /// A mark at each point.
    Points,
    /// A mark at each point and a line between them.
    LineAndPoints,
    /// A vertical bar at each point.
    Bars,
}

/// An annotation.
#[derive(Clone, Debug)]
pub enum Note {
    /// A value of the horizontal axis.
    At(f64, String),
    /// A value of the vertical axis.
    Level(f64, String),
    /// A point, with lines to both axes.
    Point(f64, f64, String),
}

impl Series {
    /// A series of lines.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::with_look(name, Look::Line, points)
    }

    /// A series of marks.
    pub fn points(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::with_look(name, Look::Points, points)
    }

    /// A series with this look.
    pub fn with_look(
        name: impl Into<String>,
        look: Look,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self { name: name.into(), look, like: None, points: points.into_iter().collect() }
    }
}

impl Series {
    /// Gives the series the colour of another one, with hollow marks.
    pub fn like(self, name: impl Into<String>) -> Self {
        Self { like: Some(name.into()), ..self }
    }
}

impl Chart {
    /// The value of a series at `at`, interpolated as drawn. `None` outside of its points or next to a gap.
    pub fn value_at(&self, series: &Series, at: f64) -> Option<f64> {
        // Tolerance for the rounding of the ends themselves.
        let hair = 1e-9 * at.abs();
        let holds = |pair: &&[(f64, f64)]| pair[0].0 <= at + hair && at <= pair[1].0 + hair;
        let pair = series.points.windows(2).find(holds)?;
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let share = self.across.scale.share(at, x0, x1).clamp(0.0, 1.0);
        let value = y0 + share * (y1 - y0);
        value.is_finite().then_some(value)
    }

    /// Draws the chart alone on a plate.
    pub fn draw(self) -> String {
        Plate { heading: String::new(), columns: 1, charts: vec![self] }.draw()
    }
}

// Sizes in pixels at the figure's natural size.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 52.0;
const HEADING_HEIGHT: f64 = 34.0;
const LEGEND_ROW: f64 = 20.0;
const LEGEND_SAMPLE: f64 = 34.0;
const CURVE_WIDTH: f64 = 2.2;

/// Colour and dashes of each series, in order. The colours also differ in lightness, for readers and printers
/// without colour.
const STYLES: [(&str, &str); 8] = [
    ("#0b5394", "none"),
    ("#d9730d", "7 4"),
    ("#6b6b6b", "2 3"),
    ("#1b7f4b", "11 4 2 4"),
    ("#a02060", "5 2"),
    ("#3aa6c4", "none"),
    ("#8a6d00", "9 3 2 3 2 3"),
    ("#111111", "1 3"),
];

impl Plate {
    /// Draws the plate as SVG.
    pub fn draw(&self) -> String {
        let names = self.names();
        let heading_height = if self.heading.is_empty() { 6.0 } else { HEADING_HEIGHT };
        let legend = legend_places(&names);
        let legend_height = legend.last().map_or(0.0, |(_, y)| y + LEGEND_ROW);
        let above = heading_height + legend_height;
        let columns = self.columns.max(1);
        let (width, height) = (WIDTH / columns as f64, panel_height(columns));
        let rows = self.charts.len().div_ceil(columns);
        let mut sheet = Sheet::new(WIDTH, above + height * rows as f64);
        sheet.text((16.0, 22.0), "font-size=\"15\" font-weight=\"bold\"", &self.heading);
        for (number, (name, (x, y))) in names.iter().zip(&legend).enumerate() {
            let (look, style) = (self.look_of(name), Style::of(&names, number, self.like_of(name)));
            draw_sample(&mut sheet, style, look, (*x, heading_height + y + 8.0));
            sheet.text((x + LEGEND_SAMPLE + 6.0, heading_height + y + 12.0), "", name);
        }
        for (number, chart) in self.charts.iter().enumerate() {
            let (left, top) = ((number % columns) as f64 * width, above + (number / columns) as f64 * height);
            Panel { chart, names: &names, left, top, width, height }.draw(&mut sheet);
        }
        sheet.finish()
    }

    /// The names of all series, in the order of their first appearance.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for series in self.charts.iter().flat_map(|chart| &chart.series) {
            if !names.contains(&series.name) {
                names.push(series.name.clone());
            }
        }
        names
    }

    fn look_of(&self, name: &str) -> Look {
        self.first(name).map_or(Look::Line, |series| series.look)
    }

    fn like_of(&self, name: &str) -> Option<&str> {
        self.first(name).and_then(|series| series.like.as_deref())
    }

    fn first(&self, name: &str) -> Option<&Series> {
        self.charts.iter().flat_map(|chart| &chart.series).find(|series| series.name == name)
    }
}

fn panel_height(columns: usize) -> f64 {
    match columns {
        1 => 340.0,
        2 => 290.0,
        _ => 240.0,
    }
}

/// Positions of the names in the legend, below the heading.
fn legend_places(names: &[String]) -> Vec<Place> {
    let (mut x, mut y) = (LEFT, 0.0);
    let place = |name: &String| {
        let width = LEGEND_SAMPLE + 6.0 + text_width(name) + 18.0;
        if x > LEFT && x + width > WIDTH {
            (x, y) = (LEFT, y + LEGEND_ROW);
        }
        let place = (x, y);
        x += width;
        place
    };
    names.iter().map(place).collect()
}

/// Index of a style, and whether marks are hollow.
#[derive(Clone, Copy)]
struct Style {
    number: usize,
    hollow: bool,
}

impl Style {
    /// The style of the series with this number among all names, or of the series it is like.
    fn of(names: &[String], number: usize, like: Option<&str>) -> Self {
        match like.and_then(|like| names.iter().position(|name| name == like)) {
            Some(number) => Self { number, hollow: true },
            None => Self { number, hollow: number % 8 >= 4 },
        }
    }

    fn colour(self) -> &'static str {
        STYLES[self.number % STYLES.len()].0
    }

    fn dashes(self) -> &'static str {
        STYLES[self.number % STYLES.len()].1
    }
}

fn draw_sample(sheet: &mut Sheet, style: Style, look: Look, (x, y): Place) {
    let (colour, dashes) = (style.colour(), style.dashes());
    match look {
        Look::Points => {}
        Look::Bars => sheet.rectangle((x + 12.0, y - 7.0), 10.0, 12.0, &format!("fill=\"{colour}\"")),
        Look::Line | Look::LineAndPoints => {
            sheet.line((x, y), (x + LEGEND_SAMPLE, y), &stroke(colour, dashes, CURVE_WIDTH));
        }
    }
    if matches!(look, Look::Points | Look::LineAndPoints) {
        draw_mark(sheet, style, (x + 0.5 * LEGEND_SAMPLE, y));
    }
}

/// The mark of a series: circle, diamond, square, triangle, each filled or hollow.
fn draw_mark(sheet: &mut Sheet, style: Style, (x, y): Place) {
    let colour = style.colour();
    let path = match style.number % 4 {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0),
        1 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
        2 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        _ => format!("M{x:.1} {:.1}l5 8.5h-10z", y - 5.5),
    };
    let fill = if style.hollow { "white" } else { colour };
    sheet.shape(&path, &format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.3\""));
}

/// One chart at its position in the figure.
struct Panel<'a> {
    chart: &'a Chart,
    names: &'a [String],
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Panel<'_> {
    fn draw(&self, sheet: &mut Sheet) {
        sheet.text((self.x_of_place(0.0), self.top + 18.0), "font-weight=\"bold\"", &self.chart.title);
        self.grid(sheet);
        for series in self.chart.series.iter().rev() {
            self.series(sheet, series);
        }
        for note in &self.chart.notes {
            self.note(sheet, note);
        }
    }

    /// Grid lines with their labels, the frame, and the titles of the axes.
    fn grid(&self, sheet: &mut Sheet) {
        let (left, right) = (self.x_of_place(0.0), self.x_of_place(1.0));
        let (bottom, top) = (self.y_of_place(0.0), self.y_of_place(1.0));
        let grid = stroke("#dddddd", "none", 1.0);
        for tick in self.chart.up.scale.ticks() {
            let Some(y) = self.y(tick) else { continue };
            sheet.line((left, y), (right, y), &grid);
            sheet.text((left - 6.0, y + 4.0), "text-anchor=\"end\" font-size=\"11\"", &readable(tick));
        }
        let mut free_from = f64::NEG_INFINITY;
        for tick in self.chart.across.scale.ticks() {
            let Some(x) = self.x(tick) else { continue };
            sheet.line((x, top), (x, bottom), &grid);
            let label = readable(tick);
            let half = 0.5 * text_width(&label);
            // A label that would overlap the previous one is left out. Its grid line remains.
            if x - half >= free_from {
                sheet.text((x, bottom + 16.0), "text-anchor=\"middle\" font-size=\"11\"", &label);
                free_from = x + half + 4.0;
            }
        }
        let frame = stroke("#555555", "none", 1.0);
        sheet.line((left, bottom), (right, bottom), &frame);
        sheet.line((left, top), (left, bottom), &frame);
        sheet.text((self.x_of_place(0.5), bottom + 36.0), "text-anchor=\"middle\"", &self.chart.across.title);
        sheet.upward_text((self.left + 16.0, self.y_of_place(0.5)), "", &self.chart.up.title);
    }

    fn series(&self, sheet: &mut Sheet, series: &Series) {
        let number = self.names.iter().position(|name| *name == series.name).unwrap_or(0);
        let style = Style::of(self.names, number, series.like.as_deref());
        let line = stroke(style.colour(), style.dashes(), CURVE_WIDTH);
        let places: Vec<_> = series.points.iter().map(|(x, y)| self.x(*x).zip(self.y(*y))).collect();
        for piece in places.split(Option::is_none) {
            let piece: Vec<Place> = piece.iter().flatten().copied().collect();
            match series.look {
                _ if piece.is_empty() => {}
                Look::Line | Look::LineAndPoints => sheet.line_through(&piece, &line),
                Look::Points | Look::Bars => {}
            }
        }
        for place in places.iter().flatten() {
            match series.look {
                Look::Points | Look::LineAndPoints => draw_mark(sheet, style, *place),
                Look::Bars => self.bar(sheet, series, style.colour(), *place),
                Look::Line => {}
            }
        }
    }

    /// A bar from the bottom of the chart. Bars of several series are side by side.
    fn bar(&self, sheet: &mut Sheet, series: &Series, colour: &str, (x, y): Place) {
        let barred: Vec<&Series> =
            self.chart.series.iter().filter(|series| series.look == Look::Bars).collect();
        let index = barred.iter().position(|other| other.name == series.name).unwrap_or(0);
        let room = (self.x_of_place(1.0) - self.x_of_place(0.0)) / series.points.len().max(1) as f64;
        let width = (0.7 * room / barred.len().max(1) as f64).min(26.0);
        let left = x - 0.5 * width * barred.len() as f64 + width * index as f64;
        let height = self.y_of_place(0.0) - y;
        sheet.rectangle((left, y), width - 1.0, height, &format!("fill=\"{colour}\""));
    }

    fn note(&self, sheet: &mut Sheet, note: &Note) {
        let thin = stroke("#222222", "3 3", 1.0);
        match note {
            Note::At(value, name) => {
                let Some(x) = self.x(*value) else { return };
                sheet.line((x, self.y_of_place(1.0)), (x, self.y_of_place(0.0)), &thin);
                // Put the note at the end of the panel that the curves leave free.
                let height = self
                    .chart
                    .series
                    .iter()
                    .find_map(|series| self.chart.up.scale.place(self.chart.value_at(series, *value)?));
                let at_foot = height.is_none_or(|height| height > 0.5);
                let y = if at_foot { self.y_of_place(0.0) - 8.0 } else { self.y_of_place(1.0) + 14.0 };
                self.beside(sheet, (x, y), name);
            }
            Note::Level(value, name) => {
                let Some(y) = self.y(*value) else { return };
                sheet.line((self.x_of_place(0.0), y), (self.x_of_place(1.0), y), &thin);
                let style = format!("text-anchor=\"end\" {HALO}");
                sheet.text((self.x_of_place(1.0) - 4.0, y - 5.0), &style, name);
            }
            Note::Point(value, height, name) => {
                let Some((x, y)) = self.x(*value).zip(self.y(*height)) else { return };
                sheet.line((self.x_of_place(0.0), y), (x, y), &thin);
                sheet.line((x, y), (x, self.y_of_place(0.0)), &thin);
                sheet.shape(
                    &format!("M{:.1} {y:.1}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", x - 4.5),
                    "fill=\"#222222\"",
                );
                self.beside(sheet, (x, y - 9.0), name);
            }
        }
    }

    /// A text next to a place: to the left of it on the right half of the chart, where there is room.
    fn beside(&self, sheet: &mut Sheet, (x, y): Place, text: &str) {
        let (shift, anchor) = if x > self.x_of_place(0.5) { (-7.0, "end") } else { (7.0, "start") };
        sheet.text((x + shift, y), &format!("text-anchor=\"{anchor}\" {HALO}"), text);
    }

    fn x(&self, value: f64) -> Option<f64> {
        self.chart.across.scale.place(value).map(|place| self.x_of_place(place))
    }

    fn y(&self, value: f64) -> Option<f64> {
        self.chart.up.scale.place(value).map(|place| self.y_of_place(place))
    }

    fn x_of_place(&self, place: f64) -> f64 {
        self.left + LEFT + place * (self.width - LEFT - RIGHT)
    }

    fn y_of_place(&self, place: f64) -> f64 {
        self.top + TOP + (1.0 - place) * (self.height - TOP - BOTTOM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>, across: Scale) -> Chart {
        Chart {
            title: "a chart".to_owned(),
            across: Axis::new("visits a day", across),
            up: Axis::new("freshness", Scale::linear(0.0, 1.0)),
            series: vec![Series::line("by formula", points.clone()), Series::points("by simulation", points)],
            notes: Vec::new(),
        }
    }

    #[test]
    fn axes_have_titles_and_every_series_is_in_the_legend_once() {
        let one = chart(vec![(1.0, 0.0), (2.0, 1.0)], Scale::linear(0.0, 2.0));
        let svg = Plate { heading: "heading".to_owned(), columns: 2, charts: vec![one.clone(), one] }.draw();
        for (text, times) in [("visits a day", 2), ("freshness", 2), ("by formula", 1), ("by simulation", 1)]
        {
            assert_eq!(svg.matches(&format!(">{text}<")).count(), times, "{text}");
        }
    }

    #[test]
    fn a_curve_is_broken_where_it_has_no_value_or_leaves_the_axes() {
        let points =
            vec![(0.0, 0.1), (1.0, 0.2), (2.0, f64::NAN), (3.0, 0.3), (4.0, 7.0), (5.0, 0.4), (6.0, 0.5)];
        let svg = chart(points, Scale::linear(0.0, 6.0)).draw();
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert!(!svg.contains("NaN"));
    }

    #[track_caller]
    fn check_value(at: f64, value: Option<f64>) {
        let points = vec![(1.0, 0.0), (100.0, 1.0), (1000.0, f64::INFINITY)];
        let chart = chart(points, Scale::logarithmic([1.0, 1000.0]));
        assert_eq!(chart.value_at(&chart.series[0], at), value);
    }

    #[test]
    fn a_curve_has_values_between_its_points_and_gaps_beside_infinity() {
        check_value(0.5, None);
        check_value(1.0, Some(0.0));
        check_value(10.0, Some(0.5));
        check_value(500.0, None);
    }
}
