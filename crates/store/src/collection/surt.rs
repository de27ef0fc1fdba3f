//! The sort key of a URL (SURT, Sort-friendly URI Reordering Transform): the host is reversed, so that the
//! URLs of a domain are adjacent.
//!
//! The key of web archive indexers, for URLs in canonical form: `https://www.Example.org:8080/A/?b=1&a=2`
//! becomes `org,example:8080)/a?a=2&b=1`. It is in lower case, without scheme, `www.`, default port, final
//! slash of the path and empty query; the parts of the query are sorted.
//!
//! # Departures
//! Session identifiers are not removed: the crawler's own URL rules have removed them where that is wanted.

/// The sort key of a URL.
///
/// # Examples
///
/// ```
/// use freshet_store::collection::surt::surt;
///
/// // Keys of one domain stand together when they are sorted.
/// assert_eq!(surt("https://www.Example.org/News?b=2&a=1"), "org,example)/news?a=1&b=2");
/// ```
pub fn surt(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_lowercase();
    };
    let (scheme, rest) = (scheme.to_lowercase(), rest.to_lowercase());
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = if path.len() > 1 { path.strip_suffix('/').unwrap_or(path) } else { "/" };
    let mut key = host_key(&scheme, authority);
    key.push(')');
    key.push_str(path);
    if !query.is_empty() {
        let mut parts: Vec<&str> = query.split('&').collect();
        parts.sort_unstable();
        key.push('?');
        key.push_str(&parts.join("&"));
    }
    key
}

fn host_key(scheme: &str, authority: &str) -> String {
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (authority, ""),
    };
    let default_port = matches!((scheme, port), ("http", "80") | ("https", "443"));
    let mut key = match host {
        host if host.starts_with('[') => host.trim_matches(['[', ']']).to_owned(),
        host => without_www(host).rsplit('.').collect::<Vec<_>>().join(","),
    };
    if !port.is_empty() && !default_port {
        key.push(':');
        key.push_str(port);
    }
    key
}

/// The host without a first label `www`, `www1`, `www2`, ...
fn without_www(host: &str) -> &str {
    let Some((first, rest)) = host.split_once('.') else {
        return host;
    };
    match first.strip_prefix("www") {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        assert_eq!(surt(url), expected);
    }

    #[test]
    fn a_key_begins_with_the_host_turned_around() {
        check("http://example.org/", "org,example)/");
        check("https://www.Example.org:8080/A/?b=1&a=2", "org,example:8080)/a?a=2&b=1");
        check("https://www2.example.org:443/a/b/", "org,example)/a/b");
        check("http://127.0.0.1:4000/x", "1,0,0,127:4000)/x");
        check("http://[::1]:80/", "::1)/");
        check("http://example.org", "org,example)/");
        check("http://example.org/?", "org,example)/");
        check("http://www.org/", "org)/");
        check("nothing", "nothing");
    }

    proptest! {
        #[test]
        fn any_text_is_no_panic(url in ".{0,60}", rest in ".{0,20}") {
            surt(&url);
            surt(&format!("http://{rest}"));
        }
    }
}
