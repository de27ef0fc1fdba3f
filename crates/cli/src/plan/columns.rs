//! Table columns, found by name, and one row of values, for CSV and Parquet alike.
//!
//! A table with `url` and `changes_per_day` gives rates. One with `url`, `time` and `changed` is a history of
//! visits, from which rates are estimated. `weight`, `host` and `cost` are optional in both. Other columns
//! are ignored.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A column that `freshet plan` understands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    Url,
    ChangesPerDay,
    Time,
    Changed,
    Weight,
    Host,
    Cost,
}

impl Column {
    /// Number of columns that are understood.
    pub(super) const COUNT: usize = Self::ALL.len();

    const ALL: [Self; 7] =
        [Self::Url, Self::ChangesPerDay, Self::Time, Self::Changed, Self::Weight, Self::Host, Self::Cost];

    /// Name of the column in a file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::ChangesPerDay => "changes_per_day",
            Self::Time => "time",
            Self::Changed => "changed",
            Self::Weight => "weight",
            Self::Host => "host",
            Self::Cost => "cost",
        }
    }
}

/// What a row of a table describes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// One page and its rate of change.
    Rates,
    /// One visit to a page.
    Visits,
}

/// Which columns a file has, and at which index.
#[derive(Debug)]
pub(super) struct Layout {
    /// What a row describes.
    pub(super) kind: Kind,
    /// The columns in use, each with its index in the file, in file order.
    pub(super) places: Vec<(usize, Column)>,
}

impl Layout {
    /// Recognises a table by the names of its columns, or says what is missing. Ignores case and
    /// surrounding whitespace.
    pub(super) fn recognise<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Result<Self, String> {
        let mut places = Vec::new();
        for (place, name) in names.clone().enumerate() {
            let name = name.trim().to_lowercase();
            let Some(column) = Column::ALL.into_iter().find(|column| column.name() == name) else { continue };
            if places.iter().any(|(_, known)| *known == column) {
                return Err(format!("there are two columns {name}"));
            }
            places.push((place, column));
        }
        let has = |column| places.iter().any(|(_, known)| *known == column);
        let kind = match (has(Column::ChangesPerDay), has(Column::Time) && has(Column::Changed)) {
            (true, true) => {
                return Err("it has both changes_per_day and time, changed: give rates or visits, not both"
                    .to_owned());
            }
            (true, false) if has(Column::Url) => Kind::Rates,
            (false, true) if has(Column::Url) => Kind::Visits,
            _ => return Err(missing_columns(names)),
        };
        Ok(Self { kind, places })
    }

    /// Whether the file has this column.
    pub(super) fn has(&self, column: Column) -> bool {
        self.places.iter().any(|(_, known)| *known == column)
    }
}

/// Maximum number of columns named in a message.
const NAMED_COLUMNS_MAX: usize = 20;

fn missing_columns<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let count = names.len();
    let mut found: Vec<String> =
        names.iter().take(NAMED_COLUMNS_MAX).map(|name| quoted(name.as_bytes())).collect();
    if count > NAMED_COLUMNS_MAX {
        found.push(format!("and {} more", count - NAMED_COLUMNS_MAX));
    }
    format!(
        "expected the columns url, changes_per_day (rates) or url, time, changed (visits), \
         and optionally weight, host, cost; found {}{}",
        found.join(", "),
        names.first().filter(|_| count == 1).and_then(|name| other_separator(name)).unwrap_or_default()
    )
}

/// A hint when the header has one column where several are needed: the file may use another separator.
fn other_separator(name: &str) -> Option<&'static str> {
    const SEPARATORS: [(char, &str); 3] = [
        (';', "; they seem to be separated by semicolons; write commas"),
        ('\t', "; they seem to be separated by tabs; write commas, or let the name of the file end in .tsv"),
        ('|', "; they seem to be separated by bars; write commas"),
    ];
    SEPARATORS.into_iter().find(|(separator, _)| name.contains(*separator)).map(|(_, advice)| advice)
}

/// One value of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Cell<'a> {
    /// No such column, or an empty field.
    #[default]
    Empty,
    /// Text, not necessarily UTF-8.
    Text(&'a [u8]),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A time, in seconds since 1970.
    Seconds(f64),
}

/// Maximum rate (per day), weight or cost. Keeps sums over billions of pages finite.
const NUMBER_MAX: f64 = 1e15;

/// Minimum rate, weight or cost that is not zero. Keeps quotients finite.
const NUMBER_MIN: f64 = 1e-15;

/// Latest time, in seconds since 1970: the year 5138. A larger number is in milliseconds.
const SECONDS_MAX: f64 = 1e11;

/// One row of a table.
#[derive(Debug, Default)]
pub(super) struct Row<'a> {
    cells: [Cell<'a>; Column::COUNT],
}

/// An error in a row.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    /// The column of the error.
    pub(super) column: Column,
    /// What is wrong.
    pub(super) message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "column {}: {}", self.column.name(), self.message)
    }
}

impl<'a> Row<'a> {
    /// Sets the value of a column.
    pub(super) fn set(&mut self, column: Column, cell: Cell<'a>) {
        self.cells[column as usize] = match cell {
            Cell::Text(text) if text.trim_ascii().is_empty() => Cell::Empty,
            Cell::Text(text) => Cell::Text(text.trim_ascii()),
            cell => cell,
        };
    }

    /// A required text.
    pub(super) fn text(&self, column: Column) -> Result<&'a str, Fault> {
        self.optional_text(column)?.ok_or_else(|| empty(column))
    }

    /// An optional text.
    pub(super) fn optional_text(&self, column: Column) -> Result<Option<&'a str>, Fault> {
        match self.cell(column) {
            Cell::Empty => Ok(None),
            Cell::Text(text) => std::str::from_utf8(text)
                .map(Some)
                .map_err(|_| fault(column, format!("{} is not valid UTF-8", quoted(text)))),
            other => Err(wrong(column, other, "text")),
        }
    }

    /// A required number, zero or more.
    pub(super) fn number(&self, column: Column) -> Result<f64, Fault> {
        self.optional_number(column)?.ok_or_else(|| empty(column))
    }

    /// An optional number, zero or more.
    pub(super) fn optional_number(&self, column: Column) -> Result<Option<f64>, Fault> {
        let cell = self.cell(column);
        let number = match cell {
            Cell::Empty => return Ok(None),
            Cell::Number(number) => Some(number),
            Cell::Text(text) => parse_number(text),
            _ => None,
        };
        let number = number.ok_or_else(|| wrong(column, cell, "a number"))?;
        let problem = match number {
            _ if !number.is_finite() => "is not finite".to_owned(),
            _ if number < 0.0 => "is negative".to_owned(),
            _ if number > NUMBER_MAX => format!("is more than {NUMBER_MAX:e}"),
            _ if number > 0.0 && number < NUMBER_MIN => {
                format!("is less than {NUMBER_MIN:e} and not 0")
            }
            // Adding zero turns -0.0 into 0.0.
            _ => return Ok(Some(number + 0.0)),
        };
        Err(fault(column, format!("{} {problem}", shown(cell))))
    }

    /// A required time, in seconds since 1970.
    pub(super) fn seconds(&self, column: Column) -> Result<f64, Fault> {
        let cell = self.cell(column);
        let seconds = match cell {
            Cell::Empty => return Err(empty(column)),
            Cell::Number(seconds) | Cell::Seconds(seconds) => Some(seconds),
            Cell::Text(text) => parse_number(text).or_else(|| parse_time(text)),
            Cell::Flag(_) => None,
        };
        let expected = "a time: write unix seconds or RFC 3339, such as 2024-05-01T12:00:00Z";
        let seconds =
            seconds.filter(|seconds| seconds.is_finite()).ok_or_else(|| wrong(column, cell, expected))?;
        if seconds.abs() > SECONDS_MAX {
            let message =
                format!("{} lies beyond the year 5000; give seconds, not milliseconds", shown(cell));
            return Err(fault(column, message));
        }
        Ok(seconds)
    }

    /// A required yes or no.
    pub(super) fn flag(&self, column: Column) -> Result<bool, Fault> {
        let cell = self.cell(column);
        let flag = match cell {
            Cell::Empty => return Err(empty(column)),
            Cell::Flag(flag) => Some(flag),
            Cell::Number(number) => (number == 0.0 || number == 1.0).then_some(number == 1.0),
            Cell::Text(text) => match text.to_ascii_lowercase().as_slice() {
                b"true" | b"t" | b"yes" | b"y" | b"1" | b"1.0" => Some(true),
                b"false" | b"f" | b"no" | b"n" | b"0" | b"0.0" => Some(false),
                _ => None,
            },
            Cell::Seconds(_) => None,
        };
        flag.ok_or_else(|| wrong(column, cell, "yes or no: write true or false, 1 or 0"))
    }

    fn cell(&self, column: Column) -> Cell<'a> {
        self.cells[column as usize]
    }
}

fn parse_number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Parses an RFC 3339 time to seconds since 1970. A time without an offset is in UTC; a date alone means
/// its midnight.
fn parse_time(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let time = text.parse::<Timestamp>().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })?;
    time.duration_since(Timestamp::UNIX_EPOCH).as_secs_f64().into()
}

fn fault(column: Column, message: String) -> Fault {
    Fault { column, message }
}

fn empty(column: Column) -> Fault {
    fault(column, "it is empty".to_owned())
}

fn wrong(column: Column, cell: Cell<'_>, expected: &str) -> Fault {
    fault(column, format!("{} is not {expected}", shown(cell)))
}

fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Empty => "nothing".to_owned(),
        Cell::Text(text) => quoted(text),
        Cell::Number(number) => number.to_string(),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Seconds(seconds) => format!("the time {seconds} s"),
    }
}

/// Maximum length of a value quoted in a message, in characters.
const QUOTED_LENGTH_MAX: usize = 60;

/// A value in quotes, without control characters, shortened if it is long.
pub(super) fn quoted(text: &[u8]) -> String {
    // A character takes at most four bytes: a huge value is not decoded whole for its first few characters.
    let start = &text[..text.len().min(4 * QUOTED_LENGTH_MAX)];
    let decoded = String::from_utf8_lossy(start);
    let shown: String = decoded.chars().take(QUOTED_LENGTH_MAX).collect();
    let more = if shown.len() < decoded.len() || start.len() < text.len() { "…" } else { "" };
    format!("{:?}", shown + more)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_layout(names: &[&str], kind: Kind, places: &[usize]) {
        let layout = Layout::recognise(names.iter().copied()).expect("a layout");
        assert_eq!(layout.kind, kind);
        assert_eq!(layout.places.iter().map(|(place, _)| *place).collect::<Vec<_>>(), places);
    }

    #[test]
    fn a_table_is_recognised_by_its_columns() {
        check_layout(&["url", "changes_per_day"], Kind::Rates, &[0, 1]);
        check_layout(&["note", " Changes_Per_Day ", "URL", "cost"], Kind::Rates, &[1, 2, 3]);
        check_layout(&["changed", "time", "url", "host"], Kind::Visits, &[0, 1, 2, 3]);
        check_layout(&["url", "changes_per_day", "time"], Kind::Rates, &[0, 1, 2]);
    }

    #[track_caller]
    fn check_unknown(names: &[&str], word: &str) {
        let message = Layout::recognise(names.iter().copied()).expect_err("no layout");
        assert!(message.contains(word), "{message}");
    }

    #[test]
    fn a_table_that_is_not_recognised_says_what_it_has() {
        check_unknown(&[], "expected the columns url, changes_per_day");
        check_unknown(&["url", "rate"], "found \"url\", \"rate\"");
        check_unknown(&["changes_per_day"], "found \"changes_per_day\"");
        check_unknown(&["url", "time"], "time, changed (visits)");
        check_unknown(&["url", "time", "changed", "changes_per_day"], "not both");
        check_unknown(&["url", "host", "Host"], "two columns host");
        check_unknown(&["x"; 30], "and 10 more");
    }

    fn row(column: Column, text: &str) -> Row<'_> {
        let mut row = Row::default();
        row.set(column, Cell::Text(text.as_bytes()));
        row
    }

    #[track_caller]
    fn check_seconds(text: &str, seconds: f64) {
        assert_eq!(row(Column::Time, text).seconds(Column::Time).expect("a time"), seconds);
    }

    #[test]
    fn a_time_is_a_number_or_a_date() {
        check_seconds("86400", 86_400.0);
        check_seconds("86400.25", 86_400.25);
        check_seconds("1970-01-02T00:00:00Z", 86_400.0);
        check_seconds("1970-01-02T01:30:00.5+01:30", 86_400.5);
        check_seconds("1970-01-02 00:00:00", 86_400.0);
        check_seconds("1970-01-02", 86_400.0);
    }

    #[track_caller]
    fn check_fault<T: fmt::Debug>(result: Result<T, Fault>, word: &str) {
        let fault = result.expect_err("a fault").to_string();
        assert!(fault.contains(word), "{fault}");
    }

    #[test]
    fn a_wrong_value_is_named() {
        check_fault(row(Column::Time, "soon").seconds(Column::Time), "column time: \"soon\" is not a time");
        check_fault(row(Column::Time, "1700000000000").seconds(Column::Time), "milliseconds");
        check_fault(row(Column::Time, "inf").seconds(Column::Time), "not a time");
        check_fault(row(Column::Changed, "maybe").flag(Column::Changed), "\"maybe\" is not yes or no");
        check_fault(row(Column::Weight, "1e16").number(Column::Weight), "more than 1e15");
        check_fault(row(Column::Weight, "1e-16").number(Column::Weight), "less than 1e-15");
        check_fault(row(Column::Weight, "1,5").number(Column::Weight), "\"1,5\" is not a number");
        check_fault(Row::default().number(Column::Weight), "column weight: it is empty");
    }

    #[test]
    fn zero_has_no_sign() {
        let zero = row(Column::Weight, "-0").number(Column::Weight).expect("a number");
        assert!(zero.is_sign_positive());
    }

    #[test]
    fn a_long_value_is_shown_in_part() {
        assert_eq!(quoted(b"a\"\n\xff"), "\"a\\\"\\n\u{fffd}\"");
        assert_eq!(quoted("é".repeat(1_000).as_bytes()), format!("\"{}…\"", "é".repeat(60)));
    }

    proptest! {
        #[test]
        fn no_value_panics(text in "\\PC{0,20}|[0-9eE+.:TZ -]{0,24}", number in any::<f64>()) {
            for cell in [Cell::Text(text.as_bytes()), Cell::Number(number), Cell::Seconds(number)] {
                for column in Column::ALL {
                    let mut row = Row::default();
                    row.set(column, cell);
                    let _ = (row.text(column), row.flag(column));
                    prop_assert!(
                        row.number(column).is_ok_and(|number| number >= 0.0) || row.number(column).is_err()
                    );
                    prop_assert!(
                        row.seconds(column).is_ok_and(f64::is_finite) || row.seconds(column).is_err()
                    );
                }
            }
        }
    }
}
