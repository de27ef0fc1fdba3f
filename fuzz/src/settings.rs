//! What a user writes into a configuration: each text is something or is refused with a reason.

use freshet_crawl::hours::Hours;
use freshet_fetch::page::scope::{Pattern as UrlPattern, names_site};
use freshet_fetch::page::selector::Selector;
use freshet_partition::policy::PolicyName;
use freshet_protocol::time::Timestamp;
use freshet_text::database::Database;
use freshet_text::interface::json_path::JsonPath;
use freshet_text::interface::pattern::Pattern;
use freshet_text::interface::template::Template;

use crate::{Parser, base, fingerprint, lossy, seeds};

/// A text as everything that a setting can be.
pub fn settings(bytes: &[u8]) -> u64 {
    let text = lossy(bytes);
    let policy = text.parse::<PolicyName>().ok().inspect(|name| {
        assert_eq!(name.to_string().parse().as_ref(), Ok(name), "a name is read as it is printed");
    });
    let database = Database::from_toml(&text).ok().inspect(|database| {
        assert_eq!(Database::from_toml(&database.to_toml()).as_ref(), Ok(database));
    });
    let hours =
        text.parse::<Hours>().ok().map(|hours| hours.open_from(Timestamp::from_millis(0)).millis() > 0);
    let pattern = UrlPattern::new(&text).ok().map(|pattern| pattern.matches(&base()));
    let template = Template::parse(&text).ok().map(|template| template.url("a b&", 2, 10).is_empty());
    fingerprint((
        [policy.is_some(), database.is_some(), names_site(&text, &base())],
        [hours, pattern, template],
        [Selector::list(&text).is_ok(), Pattern::parse(&text).is_ok(), JsonPath::parse(&text).is_ok()],
        Timestamp::from_iso(&text).map(|time| time.iso() == text),
    ))
}

pub(crate) fn parsers() -> Vec<Parser> {
    vec![Parser {
        name: "settings",
        seeds: seeds(&[
            "mixture:greedy:round-robin:0.3",
            "freshet:mix:steady",
            "22:00-06:00, 12:00-13:00",
            "/news/**/2026-*?page=1",
            "main .entry[lang=en], #top p",
            "$.response.docs[*]['title']",
            "/of ([0-9,]+) results/",
            "https://a.example/search?q={query}&page={n}",
            "2026-11-16T01:30:18.123Z",
            "[place]\nkind = \"search\"\nsearch = \"https://e.org/?q={query}\"\nresults = \"li\"\n",
            "[place]\nkind = \"dir\"\npath = \"/\"\n[wording]\nstemming = \"english\"\n",
        ]),
        words: &[
            ":",
            "-",
            "{query}",
            "{n}",
            "**",
            "$..",
            "[*]",
            "directory:1:pra",
            "subset:",
            "mixture:",
            "24:00",
            "9223372036854775807",
            "kind = \"",
            "\n",
        ],
        read: settings,
    }]
}
