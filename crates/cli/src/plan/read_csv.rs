//! Reads a table as CSV, record by record.
//!
//! The first record names the columns. Fields are separated by commas, or by tabs in a file ending in `.tsv`,
//! and may be in double quotes. Lines end in LF or CRLF; blank lines are skipped.
//!
//! # Promises
//! - An error names the line on which its record begins, also after blank lines and quoted line breaks.
//! - A record has a limit of [`RECORD_BYTES_MAX`]: an unclosed quote does not read the whole file
//!   into memory.

use std::io::{self, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use super::columns::{Cell, Fault, Layout, Row};
use super::quantity::plural;

/// Maximum length of a record in bytes; a longer one is an error.
pub(super) const RECORD_BYTES_MAX: usize = 16 << 20;

/// A CSV file whose columns are known.
pub(super) struct CsvTable {
    reader: Reader<Bounded>,
    /// Index of each column.
    pub(super) layout: Layout,
    /// Number of fields that every record must have.
    width: usize,
}

/// Why a CSV file cannot be read, and on which line.
#[derive(Debug)]
pub(super) struct CsvFault {
    /// The line, counted from one.
    pub(super) line: u64,
    /// What is wrong.
    pub(super) message: String,
}

impl CsvTable {
    /// Reads the names of the columns.
    pub(super) fn open(input: impl Read + 'static, delimiter: u8) -> Result<Self, CsvFault> {
        // The line break at the end makes every record end in one, so that lines can be counted.
        let input: Box<dyn Read> = Box::new(input.chain(&b"\n"[..]));
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(Bounded { input, bytes_of_record: 0 });
        let mut names = ByteRecord::new();
        let Some(line) = read_record(&mut reader, &mut names)? else {
            return Err(CsvFault { line: 1, message: "the file is empty".to_owned() });
        };
        let texts: Vec<String> =
            names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let layout = Layout::recognise(texts.iter().map(String::as_str))
            .map_err(|message| CsvFault { line, message })?;
        Ok(Self { reader, layout, width: names.len() })
    }

    /// Passes every row and its line number to `take`.
    pub(super) fn for_each(
        mut self,
        take: &mut dyn FnMut(&Row<'_>, u64) -> Result<(), Fault>,
    ) -> Result<(), CsvFault> {
        let mut record = ByteRecord::new();
        while let Some(line) = read_record(&mut self.reader, &mut record)? {
            if record.len() != self.width {
                let fields = plural(record.len(), "field", "fields");
                let message = format!("{} {fields}, but the first line names {}", record.len(), self.width);
                return Err(CsvFault { line, message });
            }
            let mut row = Row::default();
            for (place, column) in &self.layout.places {
                row.set(*column, Cell::Text(&record[*place]));
            }
            take(&row, line).map_err(|fault| CsvFault { line, message: fault.to_string() })?;
        }
        Ok(())
    }
}

/// Reads the next record that is not blank and returns the line on which it begins.
fn read_record(reader: &mut Reader<Bounded>, record: &mut ByteRecord) -> Result<Option<u64>, CsvFault> {
    loop {
        reader.get_mut().bytes_of_record = 0;
        let line_before = reader.position().line();
        let found = reader.read_byte_record(record).map_err(|error| CsvFault {
            line: line_before,
            message: match error.into_kind() {
                csv::ErrorKind::Io(error) => error.to_string(),
                kind => format!("not CSV: {kind:?}"),
            },
        })?;
        if !found {
            return Ok(None);
        }
        // With CRLF, a blank line is a record of one carriage return.
        if record.len() == 1 && record[0].trim_ascii().is_empty() {
            continue;
        }
        let inner_breaks = record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        // The position is behind the line break that ends the record. If a quote is still open at the end of
        // the file, that break belongs to the record, which then begins where reading began.
        return Ok(Some((reader.position().line() - 1).saturating_sub(inner_breaks).max(line_before)));
    }
}

/// A reader that fails when a record exceeds its limit.
struct Bounded {
    input: Box<dyn Read>,
    /// Bytes read since the record began, not counting what was buffered before.
    bytes_of_record: usize,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes_of_record > RECORD_BYTES_MAX {
            return Err(io::Error::other(format!(
                "a record is longer than {RECORD_BYTES_MAX} bytes; is a quote left open?"
            )));
        }
        let count = self.input.read(buffer)?;
        self.bytes_of_record += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::columns::Column;
    use super::*;

    /// The lines and URLs of a table, or the line and message of its fault.
    fn read(text: &[u8]) -> Result<Vec<(u64, String)>, (u64, String)> {
        let table = CsvTable::open(io::Cursor::new(text.to_vec()), b',')
            .map_err(|fault| (fault.line, fault.message))?;
        let mut rows = Vec::new();
        table
            .for_each(&mut |row, line| {
                row.number(Column::ChangesPerDay)?;
                rows.push((line, row.text(Column::Url)?.to_owned()));
                Ok(())
            })
            .map_err(|fault| (fault.line, fault.message))?;
        Ok(rows)
    }

    #[track_caller]
    fn check_lines(text: &str, lines: &[u64]) {
        let rows = read(text.as_bytes()).expect("a table");
        assert_eq!(rows.iter().map(|(line, _)| *line).collect::<Vec<_>>(), lines, "{text:?}");
    }

    #[test]
    fn a_row_knows_its_line() {
        check_lines("url,changes_per_day\na,1\nb,2\n", &[2, 3]);
        check_lines("url,changes_per_day\r\na,1\r\nb,2", &[2, 3]);
        check_lines("\n\nurl,changes_per_day\n\na,1\n\n\nb,2\n\n", &[5, 8]);
        check_lines("\r\nurl,changes_per_day\r\n\r\na,1\r\n \r\nb,2\r\n", &[4, 6]);
        check_lines("url,changes_per_day,note\na,1,\"x\ny\nz\"\nb,2,\n", &[2, 5]);
        check_lines("\u{feff}url,changes_per_day\na,1", &[2]);
    }

    #[track_caller]
    fn check_fault(text: &[u8], line: u64, word: &str) {
        let (at, message) = read(text).expect_err("a fault");
        assert_eq!(at, line, "{message}");
        assert!(message.contains(word), "{message}");
    }

    #[test]
    fn a_fault_names_line_and_column() {
        check_fault(b"", 1, "empty");
        check_fault(b"\n\r\n", 1, "empty");
        check_fault(b"url,rate\na,1\n", 1, "found \"url\", \"rate\"");
        check_fault(b"url;changes_per_day\na;1\n", 1, "separated by semicolons; write commas");
        check_fault(b"url,url,changes_per_day\n", 1, "two columns url");
        check_fault(
            b"url,changes_per_day\na,1\nb,abc\n",
            3,
            "column changes_per_day: \"abc\" is not a number",
        );
        check_fault(b"url,changes_per_day\na,-1\n", 2, "negative");
        check_fault(b"url,changes_per_day\na,inf\n", 2, "not finite");
        check_fault(b"url,changes_per_day\na,NaN\n", 2, "not finite");
        check_fault(b"url,changes_per_day\na,\n", 2, "column changes_per_day: it is empty");
        check_fault(b"url,changes_per_day\n,1\n", 2, "column url: it is empty");
        check_fault(b"url,changes_per_day\n\xff,1\n", 2, "column url: \"\u{fffd}\" is not valid UTF-8");
        check_fault(b"url,changes_per_day\na,1,2\n", 2, "3 fields");
        check_fault(b"url,changes_per_day\na\n", 2, "1 field, but");
    }

    #[test]
    fn a_quote_left_open_is_not_read_for_ever() {
        let mut text = b"url,changes_per_day\na,1\n\"b,".to_vec();
        text.resize(RECORD_BYTES_MAX + (1 << 20), b'x');
        check_fault(&text, 3, "quote");
    }

    proptest! {
        #[test]
        fn no_input_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&text);
            let _ = read(&[b"url,changes_per_day\n".as_slice(), &text].concat());
        }

        #[test]
        fn no_text_of_csv_panics(text in "(url|changes_per_day|[0-9e.,\"\r\n -]|é){0,60}") {
            let _ = read(text.as_bytes());
            let _ = read(format!("url,changes_per_day\n{text}").as_bytes());
        }
    }
}
