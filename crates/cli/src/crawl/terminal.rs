//! Redraws a text in place in a terminal, fitted to the terminal's width and height.
//!
//! Only plain sequences of ECMA-48 are used, such as cursor up, erase to the end of the line and erase to the
//! end of the screen. The cursor is never hidden and no mode of the terminal is changed, so there is nothing
//! to restore, however the program ends.
//!
//! # Promises
//! - No line is longer than the terminal is wide. What does not fit is continued below the line's text, and a
//!   word that is too long loses its middle.
//! - No more lines are drawn than the terminal has; those at the end are left out.
//! - Nothing that a server sent moves the cursor: control characters are shown as `�`.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use console::Term;

/// Column where the text of a line begins, after its label.
const INDENT: usize = 10;
/// Minimum width assumed for a terminal, in columns.
const COLUMNS_MIN: usize = 20;
/// Minimum height assumed for a terminal, in rows.
const ROWS_MIN: usize = 4;

/// Whether the output is a terminal that can be redrawn.
pub(super) fn can_draw() -> bool {
    io::stdout().is_terminal() && env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Whether the output is a terminal whose user wants colours (`no-color.org`).
pub(super) fn wants_colour() -> bool {
    can_draw() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// What is drawn now, so that the next text can replace it.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    lines: usize,
    size: (usize, usize),
}

impl Drawing {
    /// Draws a text in place of the last one.
    pub(super) fn draw(&mut self, text: &str) -> io::Result<()> {
        let (rows, columns) = Term::stdout().size();
        let drawn = self.redraw(text, (usize::from(rows), usize::from(columns)));
        let mut output = io::stdout().lock();
        output.write_all(drawn.as_bytes())?;
        output.flush()
    }

    /// The output that replaces the last text, for a terminal of `size` (rows, columns).
    fn redraw(&mut self, text: &str, size: (usize, usize)) -> String {
        let (rows, columns) = (size.0.max(ROWS_MIN), size.1.max(COLUMNS_MIN));
        let mut output = String::new();
        if self.lines > 0 && self.size != size {
            // A resized terminal may have wrapped the last text in an unknown way: clear the screen.
            output.push_str("\x1b[H\x1b[2J");
        } else if self.lines > 0 {
            write!(output, "\x1b[{}A\r", self.lines).expect("a string takes everything");
        }
        // The last row stays free for the cursor, and the last column so that no line wraps by itself.
        let lines: Vec<String> =
            text.lines().flat_map(|line| fitted(line, columns - 1)).take(rows - 1).collect();
        for line in &lines {
            writeln!(output, "{line}\x1b[K").expect("a string takes everything");
        }
        output.push_str("\x1b[J");
        (self.lines, self.size) = (lines.len(), size);
        output
    }
}

/// Breaks a line to a maximum width: its label, then its words beside and below.
fn fitted(line: &str, columns: usize) -> Vec<String> {
    let line = line.replace(char::is_control, "\u{fffd}");
    if width(&line) <= columns {
        return vec![line];
    }
    let start = line.char_indices().nth(INDENT).map_or(line.len(), |(at, _)| at);
    let (label, text) = line.split_at(start);
    let room = columns.saturating_sub(INDENT);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().map(|word| shortened(word, room)) {
        match lines.last_mut() {
            Some(last) if width(last) + 1 + width(&word) <= room => {
                last.push(' ');
                last.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    let labels = std::iter::once(label.to_owned()).chain(std::iter::repeat(" ".repeat(INDENT)));
    lines.iter().zip(labels).map(|(text, label)| label + text).collect()
}

/// Removes the middle of a word that is too long.
fn shortened(word: &str, columns: usize) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= columns {
        return word.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let (before, after) = (kept.div_ceil(2), kept / 2);
    letters[..before].iter().chain(['…'].iter()).chain(&letters[letters.len() - after..]).collect()
}

/// Width of a text in columns. All letters that we draw take one column.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(line: &str, columns: usize, expected: &[&str]) {
        assert_eq!(fitted(line, columns), expected);
    }

    #[test]
    fn what_does_not_fit_is_continued_below_its_text() {
        check("pages     3 kept, 2 copied", 40, &["pages     3 kept, 2 copied"]);
        check(
            "pages     3 kept, 2 copied, 1 waiting; 5 URLs known",
            30,
            &["pages     3 kept, 2 copied, 1", "          waiting; 5 URLs", "          known"],
        );
    }

    #[test]
    fn a_long_address_loses_its_middle() {
        check(
            "changed   http://a.example/a/very/long/path/to/a/page.html 40%",
            30,
            &["changed   http://a.e…page.html", "          40%"],
        );
    }

    #[test]
    fn control_characters_are_shown() {
        check("trouble   \u{1b}[2J\r", 40, &["trouble   \u{fffd}[2J\u{fffd}"]);
    }

    #[test]
    fn a_drawing_goes_over_the_last_one_unless_the_terminal_has_another_size() {
        let mut drawing = Drawing::default();
        assert_eq!(drawing.redraw("a\nb", (24, 80)), "a\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(drawing.redraw("c", (24, 80)), "\x1b[2A\rc\x1b[K\n\x1b[J");
        assert_eq!(drawing.redraw("d", (24, 40)), "\x1b[H\x1b[2Jd\x1b[K\n\x1b[J");
    }

    proptest! {
        #[test]
        fn a_drawing_fits(text in "(\\PC|\n| ){0,300}", rows in 0..30_usize, columns in 0..100_usize) {
            let mut drawing = Drawing::default();
            let drawn = drawing.redraw(&text, (rows, columns));
            prop_assert!(drawing.lines < rows.max(ROWS_MIN));
            for line in drawn.lines().map(|line| line.replace("\x1b[K", "").replace("\x1b[J", "")) {
                prop_assert!(width(&line) < columns.max(COLUMNS_MIN), "{line:?}");
            }
        }
    }
}
