//! `freshet diff`: shows what differs in the visible text of two versions of a page.
//!
//! # Promises
//! - The visible text is shown block by block: removed lines begin with `-`, added lines with `+`.
//! - Colours are for terminals: files and programs get none, nor does a user who has set `NO_COLOR`.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use freshet_crawl::queries::{Copy, Question};
use similar::{ChangeTag, TextDiff};

use super::ask::{Place, parse_moment, show as ask};
use super::terminal::wants_colour;
use super::words::moment;

/// Number of unchanged lines shown around a difference.
const CONTEXT: usize = 2;

/// Show what differs between two versions of a page
///
/// The visible text of both, line by line; without times, of the newest version and the one before it.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DiffOptions {
    /// The URL
    url: String,

    /// The earlier version: that of this time, such as 2026-11-16 or 2026-11-16T12:00:00Z
    #[arg(long, value_name = "TIME")]
    from: Option<String>,

    /// The later version: that of this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,

    #[command(flatten)]
    place: Place,
}

const AFTER_HELP: &str = "Examples:
  freshet diff https://example.org/terms
  freshet diff https://example.org/terms --from 2026-01-01 --to 2026-06-30
The versions of a page: freshet explain URL. One of them whole: freshet cat URL --at TIME.";

/// `freshet diff`.
pub(crate) fn diff(options: &DiffOptions) -> Result<()> {
    let from_ms = options.from.as_deref().map(parse_moment).transpose()?;
    let to_ms = options.to.as_deref().map(parse_moment).transpose()?;
    ask(&options.place, &Question::Diff { url: options.url.clone(), from_ms, to_ms })
}

/// Prints the differences between two versions, in colour on a terminal.
pub(super) fn show(output: &mut impl Write, earlier: &Copy, later: &Copy) -> Result<()> {
    let style = if wants_colour() { Style::Coloured } else { Style::Plain };
    write(output, style, earlier, later)
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Style {
    Coloured,
    Plain,
}

impl Style {
    /// Colours a text. Emphasis marks what differs within its line.
    fn paint(self, tag: ChangeTag, emphasis: bool, text: &str) -> String {
        let colour = match tag {
            ChangeTag::Delete => "31",
            ChangeTag::Insert => "32",
            ChangeTag::Equal => "",
        };
        if self == Self::Plain || colour.is_empty() {
            return text.to_owned();
        }
        let weight = if emphasis { ";1;4" } else { "" };
        format!("\u{1b}[{colour}{weight}m{text}\u{1b}[0m")
    }
}

fn write(output: &mut impl Write, style: Style, earlier: &Copy, later: &Copy) -> Result<()> {
    writeln!(
        output,
        "{}",
        style.paint(ChangeTag::Delete, false, &format!("--- {}  {}", moment(earlier.time_ms), earlier.url))
    )?;
    writeln!(
        output,
        "{}",
        style.paint(ChangeTag::Insert, false, &format!("+++ {}  {}", moment(later.time_ms), later.url))
    )?;
    let (old, new) = (lines(&earlier.content), lines(&later.content));
    let diff = TextDiff::from_lines(&old, &new);
    let groups = diff.grouped_ops(CONTEXT);
    if groups.is_empty() {
        writeln!(output, "  the visible text is the same")?;
    }
    for (number, group) in groups.iter().enumerate() {
        if number > 0 {
            writeln!(output, "  ...")?;
        }
        for change in group.iter().flat_map(|operation| diff.iter_inline_changes(operation)) {
            let tag = change.tag();
            let mut line = style.paint(tag, false, &format!("{tag} "));
            for (emphasis, text) in change.iter_strings_lossy() {
                line.push_str(&style.paint(tag, emphasis, text.trim_end_matches('\n')));
            }
            writeln!(output, "{line}")?;
        }
    }
    Ok(())
}

/// The text, ending in a line break.
fn lines(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(time_ms: i64, content: &str) -> Copy {
        Copy { url: "http://a.example/".to_owned(), time_ms, content: content.to_owned(), ..Copy::default() }
    }

    fn shown(style: Style, old: &str, new: &str) -> String {
        let mut output = Vec::new();
        write(&mut output, style, &copy(0, old), &copy(1000, new)).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn lines_that_went_and_came_are_marked() {
        let text = shown(Style::Plain, "one\ntwo\nthree", "one\ntwo words\nthree");
        let expected = "--- 1970-01-01 00:00:00  http://a.example/\n\
            +++ 1970-01-01 00:00:01  http://a.example/\n  one\n- two\n+ two words\n  three\n";
        assert_eq!(text, expected);
        assert!(shown(Style::Plain, "a", "a").contains("the same"));
    }

    #[test]
    fn only_a_terminal_gets_colours() {
        assert!(!shown(Style::Plain, "a", "b").contains('\u{1b}'));
        assert!(shown(Style::Coloured, "a", "b").contains("\u{1b}[31m"));
    }
}
