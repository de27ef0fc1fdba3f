//! An exhibit: one reproduced figure or table of a text, compared with the printed one.
//!
//! # Promises
//! - A printed number and ours agree if ours, rounded to the printed digits, equals the printed one. A
//!   difference of one unit of the last printed digit is rounding. Anything more differs, unless a verdict
//!   explains why.

use crate::figure::number::readable;

/// A reproduced figure or table.
#[derive(Clone, Debug, Default)]
pub struct Exhibit {
    /// What it shows and what to look at, in a few sentences.
    pub shows: String,
    /// Figures, tables and texts in reading order.
    pub blocks: Vec<Block>,
    /// Comparisons of printed with reproduced values.
    pub comparisons: Vec<Comparison>,
}

/// A piece of an exhibit.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// An SVG picture.
    Picture(String),
    /// A table.
    Table(Table),
    /// A command that reproduces it in another way.
    Command(String),
}

/// A table with a head. Every row is as long as the head.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its caption.
    pub caption: String,
    /// Names of the columns, with their units.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<const COLUMNS: usize>(caption: impl Into<String>, head: [&str; COLUMNS]) -> Self {
        Self { caption: caption.into(), head: head.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Adds a row. Panics unless it is as long as the head.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.head.len());
        self.rows.push(cells);
    }
}

/// Comparison of a printed quantity with ours.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The compared quantity.
    pub quantity: String,
    /// The printed value.
    pub printed: String,
    /// Our value.
    pub ours: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for the verdict, if needed.
    pub note: String,
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Our value equals it.
    Agrees,
    /// Our value equals it, except for rounding of the last digit.
    Rounding,
    /// The printed value cannot follow from what the text says. The note says why.
    TextIsWrong,
    /// It depends on unpublished data of the authors. Our value is from other data.
    NotReproducible,
    /// Our value differs for an unknown reason.
    Differs,
}

impl Verdict {
    /// All verdicts, in the order of the summary table.
    pub const ALL: [Self; 5] =
        [Self::Agrees, Self::Rounding, Self::TextIsWrong, Self::NotReproducible, Self::Differs];

    /// Its name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Rounding => "rounding",
            Self::TextIsWrong => "the text is wrong",
            Self::NotReproducible => "not reproducible without the authors' data",
            Self::Differs => "differs",
        }
    }
}

impl Comparison {
    /// Compares a printed number, which may end in a unit or `%`, with ours. The verdict follows from the
    /// digits. Panics unless `printed` begins with a number.
    ///
    /// # Examples
    ///
    /// ```
    /// use freshet_lab::report::exhibit::{Comparison, Verdict};
    ///
    /// assert_eq!(Comparison::number("freshness", "0.63", 0.6321).verdict, Verdict::Agrees);
    /// assert_eq!(Comparison::number("freshness", "0.77", 0.7829).verdict, Verdict::Differs);
    /// ```
    pub fn number(quantity: impl Into<String>, printed: &str, ours: f64) -> Self {
        let (value, decimals, unit) = split(printed);
        let place = 0.1_f64.powi(decimals as i32);
        // Tolerance for halves, which may round either way.
        let verdict = match (ours - value).abs() / place {
            off if off <= 0.5 + 1e-6 => Verdict::Agrees,
            off if off <= 1.0 + 1e-6 => Verdict::Rounding,
            _ => Verdict::Differs,
        };
        let written = match ours {
            _ if ours.is_infinite() => "∞".to_owned(),
            // Counts have no decimals.
            _ if decimals == 0 && ours.abs() >= 1_000.0 => readable(ours.round()),
            _ => format!("{ours:.0$}", decimals + 2),
        };
        let ours = format!("{written}{unit}");
        Self { quantity: quantity.into(), printed: printed.to_owned(), ours, verdict, note: String::new() }
    }

    /// A printed statement and our result, with a given verdict.
    pub fn statement(
        quantity: impl Into<String>,
        printed: impl Into<String>,
        ours: impl Into<String>,
        verdict: Verdict,
    ) -> Self {
        Self {
            quantity: quantity.into(),
            printed: printed.into(),
            ours: ours.into(),
            verdict,
            note: String::new(),
        }
    }

    /// A printed statement that either holds here or differs.
    pub fn claim(
        quantity: impl Into<String>,
        printed: impl Into<String>,
        ours: impl Into<String>,
        holds: bool,
    ) -> Self {
        let verdict = if holds { Verdict::Agrees } else { Verdict::Differs };
        Self::statement(quantity, printed, ours, verdict)
    }

    /// Replaces the verdict and states its reason.
    pub fn because(self, verdict: Verdict, note: impl Into<String>) -> Self {
        Self { verdict, note: note.into(), ..self }
    }

    /// Adds a note.
    pub fn noting(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// Splits a text into the number at its start, the number of its decimals, and the rest.
fn split(printed: &str) -> (f64, usize, &str) {
    let end = printed.find(|c: char| !c.is_ascii_digit() && !".,-".contains(c)).unwrap_or(printed.len());
    let (digits, unit) = printed.split_at(end);
    let digits = digits.replace(',', "");
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let value = digits.parse().unwrap_or_else(|_| panic!("{printed} begins with a number"));
    (value, decimals, unit)
}

impl Exhibit {
    /// Creates an exhibit with this description.
    pub fn new(shows: impl Into<String>) -> Self {
        Self { shows: shows.into(), ..Self::default() }
    }

    /// Adds a paragraph.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// Adds an SVG figure.
    pub fn picture(mut self, svg: String) -> Self {
        self.blocks.push(Block::Picture(svg));
        self
    }

    /// Adds a table.
    pub fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }

    /// Adds a command that shows it in another way.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.blocks.push(Block::Command(command.into()));
        self
    }

    /// Adds a comparison.
    pub fn compare(mut self, comparison: Comparison) -> Self {
        self.comparisons.push(comparison);
        self
    }

    /// Adds several comparisons.
    pub fn compare_all(mut self, comparisons: impl IntoIterator<Item = Comparison>) -> Self {
        self.comparisons.extend(comparisons);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, ours: f64, verdict: Verdict, written: &str) {
        let comparison = Comparison::number("a quantity", printed, ours);
        assert_eq!((comparison.verdict, comparison.ours.as_str()), (verdict, written));
    }

    #[test]
    fn digits_decide_the_verdict() {
        check("0.63", 0.6321, Verdict::Agrees, "0.6321");
        check("0.84", 0.8349, Verdict::Rounding, "0.8349");
        check("0.77", 0.7829, Verdict::Differs, "0.7829");
        check("9,260,000", 9_360_000.0, Verdict::Differs, "9,360,000");
        check("23%", 23.4, Verdict::Agrees, "23.40%");
        check("0.5", f64::INFINITY, Verdict::Differs, "∞");
        check("-0.5 days", -0.52, Verdict::Agrees, "-0.520 days");
    }
}
