//! Renders the report as one self-contained HTML page: no script, no other file.
//!
//! # Promises
//! - The same exhibits give the same page, byte by byte.
//! - Texts may contain any character.

use std::fmt::Write as _;

use super::chapter::Maker;
use super::exhibit::{Block, Comparison, Exhibit, Table, Verdict};
use super::making::{Made, MadeChapter};
use crate::figure::svg::escaped;

/// How the report was made, for its head and for the command of each exhibit.
#[derive(Clone, Debug)]
pub struct Imprint {
    /// Version of the program.
    pub version: String,
    /// Arguments that every command needs to reproduce the same result, for example `--data DIR --seed 7`.
    /// May be empty.
    pub arguments: String,
}

/// Renders the page.
pub fn page(chapters: &[MadeChapter], imprint: &Imprint) -> String {
    let mut html = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    put(
        &mut html,
        format_args!(
            "<title>Freshet: the texts, reproduced</title>\n<style>{STYLE}</style>\n</head>\n<body>"
        ),
    );
    put(&mut html, format_args!("<h1>The texts, reproduced</h1>\n<p>{}</p>", escaped(ABOUT)));
    put(
        &mut html,
        format_args!(
            "<p class=\"imprint\">Freshet {}; made by <code>{}</code></p>",
            escaped(&imprint.version),
            escaped(&command(imprint, None))
        ),
    );
    summary(&mut html, chapters);
    contents(&mut html, chapters);
    for made in chapters {
        let chapter = made.chapter;
        put(&mut html, format_args!("<h2 id=\"{}\">{}</h2>", chapter.name, escaped(chapter.title)));
        put(&mut html, format_args!("<p>{}</p>", escaped(chapter.about)));
        for (maker, made) in &made.exhibits {
            exhibit(&mut html, maker, made, imprint);
        }
    }
    html.push_str("</body>\n</html>\n");
    html
}

const ABOUT: &str = "Every figure and table below is made again from what the texts say: by their formulas, \
                     by simulation from a seed, and, where the texts measured the Web, on recorded histories \
                     of other pages. Beside each stand the printed values, ours, and a verdict.";

/// Legible on screen and paper, without colour and in narrow windows.
const STYLE: &str = "
body { font: 15px/1.5 Georgia, 'DejaVu Serif', serif; color: #222; background: #fff; max-width: 64rem; \
    margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3, th, nav, .verdict, .imprint { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; }
h2 { margin-top: 3rem; border-bottom: 2px solid #0b5394; padding-bottom: .2rem; }
h3 { margin-top: 2.2rem; margin-bottom: .3rem; }
.name { color: #777; font-weight: normal; font-size: 85%; white-space: nowrap; }
a { color: #0b5394; }
code { font: 13px/1.4 'DejaVu Sans Mono', Menlo, Consolas, monospace; background: #f3f3f0; padding: .1em \
    .35em; }
pre { margin: .4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
pre code { display: block; padding: .4em .7em; }
.imprint, caption { color: #555; font-size: 14px; }
.scroll { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: 14px; }
caption { text-align: left; padding-bottom: .3rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
th { border-bottom: 2px solid #999; background: #f8f8f6; }
th:first-child, td:first-child, th.text, td.text { text-align: left; }
td.note { text-align: left; max-width: 26rem; }
.verdict { white-space: nowrap; text-align: left; }
.agrees { color: #1b6e3f; } .rounding { color: #6d5a00; } .wrong { color: #a02060; } .data { color: #555; } \
    .differs { color: #b00000; font-weight: bold; }
.absent { border-left: 4px solid #d9730d; padding: .3rem .8rem; background: #fdf6ee; }
figure { margin: .8rem 0; } figure svg { max-width: 100%; height: auto; border: 1px solid #eee; }
@media print { body { max-width: none; margin: 0; font-size: 11px; } figure, tr, .absent { break-inside: \
    avoid; } h2, h3 { break-after: avoid; } nav a { color: inherit; } }
";

/// The command that makes the report, or one exhibit of it.
fn command(imprint: &Imprint, only: Option<&str>) -> String {
    let mut command = String::from("freshet lab report --out DIR");
    if let Some(name) = only {
        command.push_str(" --only ");
        command.push_str(name);
    }
    if !imprint.arguments.is_empty() {
        command.push(' ');
        command.push_str(&imprint.arguments);
    }
    command
}

/// Table of the number of verdicts of each kind, by chapter.
fn summary(html: &mut String, chapters: &[MadeChapter]) {
    let mut table = Table {
        caption: "Verdicts by chapter: the printed values that were compared".to_owned(),
        head: vec!["chapter".to_owned(), "exhibits".to_owned()],
        rows: Vec::new(),
    };
    table.head.extend(Verdict::ALL.map(|verdict| verdict.name().to_owned()));
    table.head.push("not made".to_owned());
    let mut total = vec![0; table.head.len() - 1];
    for made in chapters {
        let counts = counts(made);
        total.iter_mut().zip(&counts).for_each(|(total, count)| *total += count);
        let cells = counts.iter().map(usize::to_string);
        table.rows.push([made.chapter.title.to_owned()].into_iter().chain(cells).collect());
    }
    let cells = total.iter().map(usize::to_string);
    table.rows.push(["all".to_owned()].into_iter().chain(cells).collect());
    html.push_str("<h2 id=\"summary\">Summary</h2>\n");
    write_table(html, &table);
    exceptions(html, chapters);
}

/// Numbers of exhibits, of verdicts of each kind, and of exhibits that were not made.
fn counts(made: &MadeChapter) -> Vec<usize> {
    let comparisons: Vec<&Comparison> = comparisons(made).map(|(_, comparison)| comparison).collect();
    let of = |verdict| comparisons.iter().filter(|comparison| comparison.verdict == verdict).count();
    let not_made = made.exhibits.iter().filter(|(_, made)| !matches!(made, Made::Exhibit(_))).count();
    [made.exhibits.len()].into_iter().chain(Verdict::ALL.map(of)).chain([not_made]).collect()
}

fn comparisons(made: &MadeChapter) -> impl Iterator<Item = (&'static Maker, &Comparison)> {
    made.exhibits.iter().flat_map(|(maker, made)| match made {
        Made::Exhibit(exhibit) => exhibit.comparisons.iter().map(|comparison| (*maker, comparison)).collect(),
        Made::Absent | Made::Failed(_) => Vec::new(),
    })
}

/// Lists all printed values that differ from ours.
fn exceptions(html: &mut String, chapters: &[MadeChapter]) {
    let is_exception =
        |comparison: &Comparison| matches!(comparison.verdict, Verdict::TextIsWrong | Verdict::Differs);
    let found: Vec<_> =
        chapters.iter().flat_map(comparisons).filter(|(_, comparison)| is_exception(comparison)).collect();
    if found.is_empty() {
        return;
    }
    html.push_str(
        "<div class=\"scroll\"><table><caption>Where the text is wrong, or we \
         differ</caption><tr><th>exhibit</th><th \
         class=\"text\">quantity</th><th>printed</th><th>ours</th><th class=\"verdict\">verdict</th></tr>\n",
    );
    for (maker, comparison) in found {
        put(
            html,
            format_args!(
                "<tr><td class=\"verdict\"><a href=\"#{0}\">{0}</a></td>{1}</tr>",
                maker.name,
                cells(comparison)
            ),
        );
    }
    html.push_str("</table></div>\n");
}

fn contents(html: &mut String, chapters: &[MadeChapter]) {
    html.push_str("<h2 id=\"contents\">Contents</h2>\n<nav><ul>\n");
    for made in chapters {
        put(
            html,
            format_args!("<li><a href=\"#{}\">{}</a><ul>", made.chapter.name, escaped(made.chapter.title)),
        );
        for (maker, made) in &made.exhibits {
            let missing = if matches!(made, Made::Exhibit(_)) { "" } else { ", not made" };
            put(
                html,
                format_args!(
                    "<li><a href=\"#{0}\">{1}</a> <span class=\"name\">{0}{missing}</span></li>",
                    maker.name,
                    escaped(maker.title)
                ),
            );
        }
        html.push_str("</ul></li>\n");
    }
    html.push_str("</ul></nav>\n");
}

fn exhibit(html: &mut String, maker: &Maker, made: &Made, imprint: &Imprint) {
    put(
        html,
        format_args!(
            "<section>\n<h3 id=\"{0}\">{1} <span class=\"name\">{0}</span></h3>",
            maker.name,
            escaped(maker.title)
        ),
    );
    match made {
        Made::Exhibit(exhibit) => write_exhibit(html, exhibit),
        Made::Absent => {
            put(html, format_args!("<p class=\"absent\">Not made. {}</p>", escaped(maker.needs.remedy())));
        }
        Made::Failed(why) => {
            put(html, format_args!("<p class=\"absent\">It could not be made: {}.</p>", escaped(why)));
        }
    }
    put(
        html,
        format_args!("<pre><code>{}</code></pre>\n</section>", escaped(&command(imprint, Some(maker.name)))),
    );
}

fn write_exhibit(html: &mut String, exhibit: &Exhibit) {
    put(html, format_args!("<p>{}</p>", escaped(&exhibit.shows)));
    for block in &exhibit.blocks {
        match block {
            Block::Text(text) => put(html, format_args!("<p>{}</p>", escaped(text))),
            Block::Picture(svg) => put(html, format_args!("<figure>{svg}</figure>")),
            Block::Table(table) => write_table(html, table),
            Block::Command(command) => {
                put(html, format_args!("<pre><code>{}</code></pre>", escaped(command)));
            }
        }
    }
    if exhibit.comparisons.is_empty() {
        return;
    }
    let with_notes = exhibit.comparisons.iter().any(|comparison| !comparison.note.is_empty());
    let note_head = if with_notes { "<th class=\"text\">note</th>" } else { "" };
    put(
        html,
        format_args!(
            "<div class=\"scroll\"><table><tr><th>quantity</th><th>printed</th><th>ours</th>\
             <th class=\"verdict\">verdict</th>{note_head}</tr>"
        ),
    );
    for comparison in &exhibit.comparisons {
        let note = if with_notes {
            format!("<td class=\"note\">{}</td>", escaped(&comparison.note))
        } else {
            String::new()
        };
        put(html, format_args!("<tr>{}{note}</tr>", cells(comparison)));
    }
    html.push_str("</table></div>\n");
}

/// Quantity, printed value, our value and verdict as cells.
fn cells(comparison: &Comparison) -> String {
    let class = match comparison.verdict {
        Verdict::Agrees => "agrees",
        Verdict::Rounding => "rounding",
        Verdict::TextIsWrong => "wrong",
        Verdict::NotReproducible => "data",
        Verdict::Differs => "differs",
    };
    format!(
        "<td class=\"text\">{}</td><td>{}</td><td>{}</td><td class=\"verdict {class}\">{}</td>",
        escaped(&comparison.quantity),
        escaped(&comparison.printed),
        escaped(&comparison.ours),
        comparison.verdict.name()
    )
}

fn write_table(html: &mut String, table: &Table) {
    put(html, format_args!("<div class=\"scroll\"><table><caption>{}</caption>", escaped(&table.caption)));
    let row = |html: &mut String, cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        put(html, format_args!("<tr>{cells}</tr>"));
    };
    row(html, &table.head, "th");
    table.rows.iter().for_each(|cells| row(html, cells, "td"));
    html.push_str("</table></div>\n");
}

fn put(html: &mut String, piece: std::fmt::Arguments<'_>) {
    writeln!(html, "{piece}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::super::chapter::Chapter;
    use super::super::sources::{Need, Sources};
    use super::*;

    const MADE: Maker = Maker {
        name: "table-1",
        title: "a < b & c",
        needs: Need::Nothing,
        make: |_: &Sources, _| Ok(Exhibit::new("unused")),
    };
    const CHAPTER: Chapter =
        Chapter { name: "one", title: "Chapter <one>", about: "about", exhibits: &[MADE] };

    fn html() -> String {
        let mut table = Table::new("a table", ["row", "value"]);
        table.row(["<first>", "1"]);
        let exhibit = Exhibit::new("shows & tells")
            .table(table)
            .picture("<svg></svg>".to_owned())
            .compare(Comparison::number("freshness", "0.63", 0.632))
            .compare(Comparison::number("age", "5", 7.0).because(Verdict::TextIsWrong, "a <slip>"));
        let exhibits =
            vec![(&CHAPTER.exhibits[0], Made::Exhibit(exhibit)), (&CHAPTER.exhibits[0], Made::Absent)];
        let imprint = Imprint { version: "1".to_owned(), arguments: "--seed 7".to_owned() };
        page(&[MadeChapter { chapter: &CHAPTER, exhibits }], &imprint)
    }

    #[test]
    fn a_page_has_contents_exhibits_commands_and_verdicts() {
        let html = html();
        for piece in [
            "<a href=\"#table-1\">",
            "<h3 id=\"table-1\">",
            "freshet lab report --out DIR --only table-1 --seed 7",
            "<svg></svg>",
            ">agrees<",
            ">the text is wrong<",
            "Not made.",
            "a &lt;slip&gt;",
            "&lt;first&gt;",
        ] {
            assert!(html.contains(piece), "{piece} is not in {html}");
        }
        assert!(!html.contains("<script") && !html.contains("<one>"));
    }

    #[test]
    fn the_same_exhibits_give_the_same_page() {
        assert_eq!(html(), html());
    }
}
