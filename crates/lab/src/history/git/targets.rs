//! Finds link targets in source texts: Markdown, reStructuredText, AsciiDoc and HTML, as far as possible
//! without building the site. Too many targets do no harm: those that are not pages of the site are dropped
//! later.
//!
//! - Markdown: `[text](target)`, `[name]: target` outside of fenced code; and HTML within.
//! - reStructuredText: `` `text <target>`_ ``, `` :doc:`target` ``, `.. _name: target`, the entries of a
//!   `toctree`.
//! - AsciiDoc: `link:target[text]`, `xref:target[text]`.
//! - HTML: `href="target"`.

/// The targets in a source, ordered by kind.
pub(super) fn targets<'a>(file: &str, text: &'a str) -> Vec<&'a str> {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let mut found = Vec::new();
    match extension.as_str() {
        "rst" => restructured_text(text, &mut found),
        "adoc" | "asciidoc" => ascii_doc(text, &mut found),
        "html" | "htm" => html(text, &mut found),
        _ => {
            markdown(text, &mut found);
            html(text, &mut found);
        }
    }
    found
}

fn markdown<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    let mut fenced = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        found.extend(line.split("](").skip(1).map(inline_target));
        if trimmed.starts_with('[')
            && let Some((_, target)) = trimmed.split_once("]:")
        {
            found.extend(target.split_whitespace().next().map(|target| target.trim_matches(['<', '>'])));
        }
    }
}

/// The target at the start of `target "title") and more`.
fn inline_target(rest: &str) -> &str {
    let rest = rest.trim_start();
    if let Some(bracketed) = rest.strip_prefix('<') {
        return bracketed.split('>').next().unwrap_or_default();
    }
    let mut depth = 0;
    let end = rest.find(|character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth < 0 || character.is_whitespace()
    });
    &rest[..end.unwrap_or(rest.len())]
}

fn restructured_text<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    for (end, _) in text.match_indices(">`") {
        found.extend(text[..end].rfind('<').map(|start| &text[start + 1..end]));
    }
    for role in text.split(":doc:`").skip(1) {
        let name = role.split('`').next().unwrap_or_default();
        // The form `text <target>` was found above.
        if !name.contains('<') {
            found.push(name.trim());
        }
    }
    let mut in_toctree = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let indented = line.starts_with([' ', '\t']);
        if let Some((_, target)) = trimmed.strip_prefix(".. _").and_then(|rest| rest.split_once(": ")) {
            found.push(target.trim());
        }
        if trimmed.starts_with(".. toctree::") {
            in_toctree = true;
        } else if !trimmed.is_empty() && !indented {
            in_toctree = false;
        } else if in_toctree && !trimmed.is_empty() && !trimmed.starts_with(':') {
            let entry = trimmed.split_once('<').map_or(trimmed, |(_, target)| target.trim_end_matches('>'));
            found.push(entry);
        }
    }
}

fn ascii_doc<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    for macro_name in ["link:", "xref:"] {
        let rests = text.split(macro_name).skip(1);
        found.extend(rests.filter_map(|rest| rest.split_once('[')).map(|(target, _)| target.trim()));
    }
}

fn html<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    for (at, _) in text.match_indices("href=").chain(text.match_indices("HREF=")) {
        let rest = &text[at + "href=".len()..];
        let target = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next(),
            _ => rest.split(|character: char| character.is_whitespace() || character == '>').next(),
        };
        found.extend(target.map(str::trim));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(file: &str, text: &str, expected: &[&str]) {
        assert_eq!(targets(file, text), expected);
    }

    #[test]
    fn markdown_links_are_found() {
        check("a.md", "see [b](b.md), ![i](i.png) and [c](<c d.md> \"C\")", &["b.md", "i.png", "c d.md"]);
        check("a.md", "[x](a_(b).md 'title') [ref]\n\n  [ref]: ../c.md \"t\"\n", &["a_(b).md", "../c.md"]);
        check("a.md", "```\n[x](in-code.md)\n```\n[y](after.md)", &["after.md"]);
        check("a.md", "<a href=\"/d/\">d</a>", &["/d/"]);
        check("a.md", "[open](no-end", &["no-end"]);
    }

    #[test]
    fn restructured_text_links_are_found() {
        check("a.rst", "see `b <b.html>`_ and :doc:`/c` and :doc:`the d <d>`", &["b.html", "d", "/c"]);
        check("a.rst", ".. _name: ../e.html\n", &["../e.html"]);
        let toctree =
            ".. toctree::\n   :maxdepth: 2\n\n   intro\n   Title <guide/start>\n\nnext\n   indented";
        check("a.rst", toctree, &["intro", "guide/start"]);
    }

    #[test]
    fn ascii_doc_and_html_links_are_found() {
        check("a.adoc", "link:b.html[B] and xref:c.adoc[C]", &["b.html", "c.adoc"]);
        check("a.html", "<a class=x href='b.html'>b</a><A HREF=c.html>c</A>", &["b.html", "c.html"]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[\\[\\]()<>`:._ \"'\n\u{e9}a-c=href]{0,80}") {
            for file in ["a.md", "a.rst", "a.adoc", "a.html"] {
                targets(file, &text);
            }
        }
    }
}
