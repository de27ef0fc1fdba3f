//! Parser for `Link` headers (RFC 8288): links in the header of a response.
//!
//! # Promises
//! - Commas and semicolons inside `<..>` and quotes do not separate.
//! - Any text is read to its end; parts that are no link are skipped. At most [`LINKS_MAX`] links are read
//!   from one header.

/// Maximum number of links read from one header. A page with more of them here is not serious.
const LINKS_MAX: usize = 1_000;

/// One link of a header.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct HeaderLink<'a> {
    /// The target, unresolved.
    pub(super) target: &'a str,
    /// The relations, separated by spaces.
    pub(super) relations: &'a str,
    /// The media type; empty if none is given.
    pub(super) media_type: &'a str,
}

/// The links of one `Link` header.
pub(super) fn links(header: &str) -> Vec<HeaderLink<'_>> {
    let mut links = Vec::new();
    let mut rest = header;
    while links.len() < LINKS_MAX {
        let Some(open) = rest.find('<') else { break };
        let Some(close) = rest[open..].find('>') else { break };
        let mut link = HeaderLink { target: rest[open + 1..open + close].trim(), ..HeaderLink::default() };
        let parameters = &rest[open + close + 1..];
        let (parameters, after) = parameters.split_at(unquoted(parameters, ','));
        read_parameters(parameters, &mut link);
        links.push(link);
        rest = after;
    }
    links
}

fn read_parameters<'a>(parameters: &'a str, link: &mut HeaderLink<'a>) {
    let mut rest = parameters;
    while !rest.is_empty() {
        let (parameter, after) = rest.split_at(unquoted(rest, ';'));
        rest = after.strip_prefix(';').unwrap_or(after);
        let Some((name, value)) = parameter.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        // The first of several relations counts (section 3.3).
        if name.trim().eq_ignore_ascii_case("rel") && link.relations.is_empty() {
            link.relations = value;
        } else if name.trim().eq_ignore_ascii_case("type") && link.media_type.is_empty() {
            link.media_type = value;
        }
    }
}

/// The position of the first separator outside of quotes, or the length of the text.
fn unquoted(text: &str, separator: char) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    for (place, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => return place,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(header: &str, expected: &[(&str, &str, &str)]) {
        let found: Vec<_> =
            links(header).into_iter().map(|link| (link.target, link.relations, link.media_type)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn links_are_read_with_relation_and_type() {
        check("</a>; rel=canonical", &[("/a", "canonical", "")]);
        check("< /a >;REL=\"next prev\" , </b>", &[("/a", "next prev", ""), ("/b", "", "")]);
        check(
            "</f>; type=\"application/rss+xml\"; title=\"a, b; c\"; rel=alternate, </a,b;c>; rel=next",
            &[("/f", "alternate", "application/rss+xml"), ("/a,b;c", "next", "")],
        );
        check("</a>; rel=next; rel=prev", &[("/a", "next", "")]);
    }

    #[test]
    fn what_is_no_link_is_passed_over() {
        check("", &[]);
        check("no link, ><", &[]);
        check("</a", &[]);
        check("; rel=x, </a>;;=;rel", &[("/a", "", "")]);
        check("</a>; title=\"open, </b>; rel=next", &[("/a", "", "")]);
    }

    proptest! {
        #[test]
        fn any_header_is_read(header in "(<|>|;|,|=|\"|\\\\|rel|ü| |a){0,30}") {
            prop_assert!(links(&header).len() <= LINKS_MAX);
        }
    }
}
