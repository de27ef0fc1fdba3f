//! Tracking parameters and session ids in URLs: parts that do not identify a page.
//!
//! # Promises
//! - Names are compared ignoring case, and without allocating.
//! - An ambiguous name is a session id only if its value looks random.

/// Whether a parameter is for tracking: it names a campaign, a click or a mailing, never a page.
pub fn is_tracking(name: &str) -> bool {
    TRACKING_PREFIXES.iter().any(|prefix| begins(name, prefix)) || is_among(name, &TRACKING_NAMES)
}

/// Prefixes of parameters of link taggers: Google Analytics, Matomo, Piwik, HubSpot, Adobe, Oracle.
const TRACKING_PREFIXES: [&str; 7] = ["utm_", "mtm_", "pk_", "piwik_", "_hs", "hsa_", "oly_"];

/// Parameters that advertisers, social networks and mailers add to every link.
const TRACKING_NAMES: [&str; 30] = [
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "gad_source",
    "gad_campaignid",
    "srsltid",
    "_ga",
    "_gl",
    "fbclid",
    "igshid",
    "igsh",
    "msclkid",
    "yclid",
    "ysclid",
    "twclid",
    "ttclid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "vero_id",
    "s_cid",
    "wickedid",
    "epik",
    "rb_clickid",
    "ml_subscriber",
    "__hstc",
    "__hssc",
];

/// Whether a parameter is a session id: by its name, or by an ambiguous name with a value like a token.
pub fn is_session_id(name: &str, value: &str) -> bool {
    is_among(name, &SESSION_NAMES)
        || begins(name, "aspsessionid")
        || (is_among(name, &SESSION_NAMES_WITH_TOKENS) && is_token(value))
}

/// Names that always mean a session: Java, PHP, ColdFusion, osCommerce, Zen Cart, phpBB's long form.
const SESSION_NAMES: [&str; 9] = [
    "jsessionid",
    "phpsessid",
    "cfid",
    "cftoken",
    "oscsid",
    "zenid",
    "sessionid",
    "session_id",
    "phpsession",
];

/// Names that mean a session if the value is a token, and a story, a seller or a section otherwise.
const SESSION_NAMES_WITH_TOKENS: [&str; 5] = ["sid", "s", "sess", "session", "sessid"];

/// Minimum length of a token, in characters: 64 bits in hexadecimal digits.
const TOKEN_CHARS_MIN: usize = 16;

/// Whether a text looks random: long, of letters and digits, with both.
pub(super) fn is_token(text: &str) -> bool {
    TOKEN_CHARS_MIN <= text.len()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Removes a session id in a path parameter from a segment. Unchanged if a dot segment would be left.
pub(super) fn without_session_id(segment: &str) -> &str {
    let mut rest = segment;
    while let Some((before, parameter)) = rest.rsplit_once(';') {
        let name = parameter.split('=').next().unwrap_or("");
        if !is_among(name, &SESSION_NAMES) {
            break;
        }
        rest = before;
    }
    if matches!(rest, "." | "..") { segment } else { rest }
}

/// Whether the segment is a session id of ASP.NET: `(S(`, 24 letters and digits, `))`, possibly with other
/// marks before the `S`.
pub(super) fn is_session_segment(segment: &str) -> bool {
    let inner = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix("))"));
    let token = inner.and_then(|inner| inner.rsplit_once("S(")).map_or("", |(_, token)| token);
    token.len() == 24 && token.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether the list contains the name, ignoring case.
fn is_among(name: &str, list: &[&str]) -> bool {
    list.iter().any(|listed| name.eq_ignore_ascii_case(listed))
}

/// Whether the name begins with this prefix, ignoring case.
fn begins(name: &str, beginning: &str) -> bool {
    name.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_case() {
        assert!(is_tracking("utm_source") && is_tracking("UTM_x") && is_tracking("GClid"));
        assert!(
            !is_tracking("utm") && !is_tracking("gclids") && !is_tracking("") && !is_tracking("\u{fc}tm_")
        );
        assert!(is_session_id("JSessionID", "") && is_session_id("ASPSESSIONIDABCD", "x"));
    }

    #[test]
    fn an_ambiguous_name_needs_a_token() {
        assert!(is_session_id("sid", "0123456789abcdef"));
        assert!(
            !is_session_id("sid", "4711")
                && !is_session_id("s", "a-long-phrase-to-search")
                && !is_session_id("q", "0123456789abcdef")
        );
    }

    #[test]
    fn a_session_in_the_path_is_known_by_its_form() {
        assert_eq!(without_session_id("a;x=1;jsessionid=2;PHPSESSID=3"), "a;x=1");
        assert_eq!(without_session_id("..;jsessionid=2"), "..;jsessionid=2");
        assert!(is_session_segment("(S(lit3py55t21z5v55vlm25s55))"));
        assert!(!is_session_segment("(S(short))") && !is_session_segment("S(lit3py55t21z5v55vlm25s55)"));
    }
}
