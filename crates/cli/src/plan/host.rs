//! The host of a URL, for host limits when a table has no host column.
//!
//! The host is the text between `scheme://` (which may be missing) and the next `/`, `?` or `#`. It excludes
//! user and password, a final dot, and the default port of the scheme, and is in lower case.

/// The host of this URL; `None` if it has none.
pub(super) fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', '#', '.']) => (scheme, rest),
        _ => ("", url.strip_prefix("//").unwrap_or(url)),
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().to_lowercase();
    let implied_port = match scheme.to_ascii_lowercase().as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let host = host.strip_suffix(implied_port).unwrap_or(&host);
    let host = host.trim_end_matches('.');
    (!host.is_empty() && !host.starts_with(':') && !host.contains(char::is_whitespace))
        .then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, host: Option<&str>) {
        assert_eq!(host_of(url).as_deref(), host, "{url}");
    }

    #[test]
    fn the_host_stands_between_scheme_and_path() {
        check("https://Example.org/a/b?c#d", Some("example.org"));
        check("http://example.org", Some("example.org"));
        check("http://example.org?x=http://other.org/", Some("example.org"));
        check("example.org/a", Some("example.org"));
        check("example.org", Some("example.org"));
        check("//example.org/a", Some("example.org"));
        check("https://user:secret@example.org./a", Some("example.org"));
        check("https://example.org:443/", Some("example.org"));
        check("https://example.org:8443/", Some("example.org:8443"));
        check("http://[2001:db8::1]:80/", Some("[2001:db8::1]"));
        check("example.org/redirect?to=https://other.org", Some("example.org"));
        check("https://bücher.example/", Some("bücher.example"));
    }

    #[test]
    fn some_urls_have_no_host() {
        check("", None);
        check("/a/b", None);
        check("file:///a", None);
        check("https://:443/", None);
        check("two words", None);
    }
}
