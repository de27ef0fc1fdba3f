//! Stand-ins: responses with status 200 that are not the page, such as soft 404s, error messages, login
//! walls, captchas, rate limits.
//!
//! Such a response is neither a page nor a change of one. It is recognised by what its title or its first
//! words say, and only if it says little else: an article about the error 404 is an article.
//!
//! # Promises
//! - A page with more than [`WORDS_MAX`] bytes of main text is a page.

use crate::page::Reading;

/// Maximum length of the main text of a stand-in, in bytes.
pub const WORDS_MAX: usize = 1_200;
/// How much of the start of the main text is searched, in bytes.
const START: usize = 240;
/// Maximum length of a title or block that counts as a statement, in bytes.
const STATEMENT: usize = 90;

/// A response sent in place of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StandIn {
    /// A message that there is no such page, with status 200.
    NotFound,
    /// A message about a server error, with status 200.
    Error,
    /// A login wall.
    Login,
    /// A captcha.
    Captcha,
    /// A request to send fewer requests.
    RateLimit,
}

impl std::fmt::Display for StandIn {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::NotFound => "in place of the page a message that there is none, with status 200",
            Self::Error => "in place of the page a message of an error, with status 200",
            Self::Login => "in place of the page a wall that asks for a login",
            Self::Captcha => "in place of the page a test that tells people from programs",
            Self::RateLimit => "in place of the page a request to come less often, with status 200",
        })
    }
}

const CAPTCHA: [&str; 9] = [
    "verify you are human",
    "verify that you are human",
    "are you a robot",
    "you are not a robot",
    "unusual traffic",
    "complete the captcha",
    "checking your browser",
    "enable javascript and cookies to continue",
    "attention required! | cloudflare",
];
const RATE_LIMIT: [&str; 5] = [
    "too many requests",
    "rate limit exceeded",
    "rate limited",
    "slow down, you are",
    "request limit reached",
];
const NOT_FOUND: [&str; 14] = [
    "404 not found",
    "error 404",
    "404 error",
    "page not found",
    "page can't be found",
    "page cannot be found",
    "page could not be found",
    "page does not exist",
    "page doesn't exist",
    "page no longer exists",
    "file not found",
    "seite nicht gefunden",
    "page introuvable",
    "página no encontrada",
];
const ERROR: [&str; 9] = [
    "internal server error",
    "service unavailable",
    "bad gateway",
    "gateway timeout",
    "error establishing a database connection",
    "database error",
    "an unexpected error occurred",
    "down for maintenance",
    "temporarily unavailable",
];
const LOGIN: [&str; 7] =
    ["log in", "login", "sign in", "please authenticate", "anmelden", "se connecter", "iniciar sesión"];

impl StandIn {
    /// The kind of stand-in that a response is; none if it is a page.
    pub fn of(reading: &Reading) -> Option<Self> {
        if !reading.kind.is_html() || reading.text.len() > 4 * WORDS_MAX {
            return None;
        }
        let main = reading.main_text();
        if main.len() > WORDS_MAX {
            return None;
        }
        let statements = statements(reading, &main);
        let start = main[..main.floor_char_boundary(START)].to_lowercase();
        let says = |phrases: &[&str]| {
            phrases.iter().any(|phrase| statements.iter().any(|statement| statement.contains(phrase)))
        };
        let begins = |phrases: &[&str]| phrases.iter().any(|phrase| start.contains(phrase));
        if says(&CAPTCHA) || begins(&CAPTCHA) {
            Some(Self::Captcha)
        } else if says(&RATE_LIMIT) {
            Some(Self::RateLimit)
        } else if says(&NOT_FOUND) || statements.iter().any(|statement| statement == "404") {
            Some(Self::NotFound)
        } else if says(&ERROR) {
            Some(Self::Error)
        } else if reading.has_password && says(&LOGIN) {
            Some(Self::Login)
        } else {
            None
        }
    }
}

/// The statements of a response: its title and the first blocks of its main text, if they are short.
fn statements(reading: &Reading, main: &str) -> Vec<String> {
    let first = main.lines().take(3);
    let all = reading.title.as_deref().into_iter().chain(first);
    all.filter(|statement| statement.len() <= STATEMENT).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::reading::Limits;
    use crate::page::{Canonical, PageUrl, read};

    #[track_caller]
    fn check(html: &str, expected: Option<StandIn>) {
        let url = PageUrl::stored("http://a.example/x").unwrap();
        let reading = read(
            &url,
            Some("text/html"),
            &[],
            &[],
            html.as_bytes(),
            &Canonical::default(),
            &Limits::default(),
        );
        assert_eq!(StandIn::of(&reading), expected, "{html}");
    }

    #[test]
    fn what_is_no_page_is_told_by_what_it_says() {
        check("<title>404 Not Found</title><h1>Oops", Some(StandIn::NotFound));
        check("<title>Shop</title><h1>Page not found</h1><p>Try the search.", Some(StandIn::NotFound));
        check("<h1>404</h1>", Some(StandIn::NotFound));
        check(
            "<title>Just a moment...</title><p>Checking your browser before you continue",
            Some(StandIn::Captcha),
        );
        check("<h1>Too Many Requests", Some(StandIn::RateLimit));
        check("<title>Error</title><h1>Internal Server Error", Some(StandIn::Error));
        check("<title>Sign in</title><form><input type=password></form>", Some(StandIn::Login));
    }

    #[test]
    fn a_page_about_it_is_a_page() {
        let text = "It means that a server has no such page. ".repeat(40);
        check(&format!("<title>404 Not Found</title><h1>404 Not Found</h1><p>{text}"), None);
        check("<title>Sign in to the guest book</title><p>Sign your name.", None);
        check("<title>Home</title><p>Welcome<form><input type=password></form>", None);
        check("", None);
    }
}
