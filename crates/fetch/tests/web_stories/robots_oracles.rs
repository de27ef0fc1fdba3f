//! Our `robots.txt` matcher compared with two others: a published crate, and a direct implementation of the
//! RFC.

use freshet_fetch::web::Robots;
use proptest::prelude::*;

/// A matcher that follows the words of RFC 9309: groups as lists, patterns by recursion, paths only in
/// lower-case ASCII.
mod plain {
    struct Group {
        agents: Vec<String>,
        rules: Vec<(bool, String)>,
    }

    pub(super) fn allows(file: &str, agent: &str, path: &str) -> bool {
        if path == "/robots.txt" {
            return true;
        }
        let groups = groups(file);
        let named = |name: &str| {
            groups.iter().filter(|group| group.agents.iter().any(|agent| agent == name)).collect::<Vec<_>>()
        };
        let ours = if named(agent).is_empty() { named("*") } else { named(agent) };
        let matching = ours
            .iter()
            .flat_map(|group| &group.rules)
            .filter(|(_, pattern)| !pattern.is_empty() && matches(pattern.as_bytes(), path.as_bytes()));
        // The longest; among equals `true` is greater.
        matching.map(|(allows, pattern)| (pattern.len(), *allows)).max().is_none_or(|(_, allows)| allows)
    }

    fn groups(file: &str) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for line in file.lines() {
            let Some((key, value)) = line.split('#').next().unwrap().split_once(':') else { continue };
            let (key, value) = (key.trim().to_lowercase(), value.trim().to_lowercase());
            match (key.as_str(), groups.last_mut()) {
                ("user-agent", Some(group)) if group.rules.is_empty() => group.agents.push(value),
                ("user-agent", _) => groups.push(Group { agents: vec![value], rules: Vec::new() }),
                ("allow", Some(group)) => group.rules.push((true, value)),
                ("disallow", Some(group)) => group.rules.push((false, value)),
                _ => {}
            }
        }
        groups
    }

    fn matches(pattern: &[u8], path: &[u8]) -> bool {
        match (pattern, path) {
            ([], _) => true,
            ([b'$'], rest) => rest.is_empty(),
            ([b'*', pattern_rest @ ..], _) => {
                matches(pattern_rest, path)
                    || path.split_first().is_some_and(|(_, rest)| matches(pattern, rest))
            }
            ([wanted, pattern_rest @ ..], [found, rest @ ..]) => {
                wanted == found && matches(pattern_rest, rest)
            }
            (_, []) => false,
        }
    }
}

fn pattern() -> impl Strategy<Value = String> {
    "(|/|/[ab/*]{0,5}|/[ab/*]{0,4}\\$|\\*[ab/]{0,3}\\$?)"
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["freshet", "FRESHET", "other", "*"])
            .prop_map(|agent| format!("User-agent: {agent}")),
        6 => pattern().prop_map(|pattern| format!("Disallow: {pattern}")),
        6 => pattern().prop_map(|pattern| format!("allow:{pattern} # x")),
        1 => Just("Sitemap: http://a.test/s.xml".to_owned()),
        1 => Just("Nonsense: /".to_owned()),
        1 => Just("# nothing".to_owned()),
        1 => Just(String::new()),
    ]
}

/// A file whose first line names a robot.
fn file() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..16).prop_map(|lines| format!("User-agent: *\n{}", lines.join("\n")))
}

fn path() -> impl Strategy<Value = String> {
    "/[ab/]{0,8}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_plain_matcher_agrees(file in file(), path in path()) {
        let ours = Robots::parse(file.as_bytes(), "freshet").allows(&path);
        prop_assert_eq!(ours, plain::allows(&file, "freshet", &path));
    }
}

proptest! {
    // It compiles a regular expression per rule: fewer cases in the same time.
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn texting_robots_agrees(file in file(), path in path()) {
        // Percent-encoding is left out: `texting_robots` treats %3c and %3C, and %61 and a, as different
        // paths. So are empty rules: it reads `Disallow:` as `Allow: /`, which then wins over `Disallow: *`.
        let file: Vec<&str> = file.lines().filter(|line| line.trim() != "Disallow:").collect();
        let file = file.join("\n");
        let ours = Robots::parse(file.as_bytes(), "freshet").allows(&path);
        let theirs = texting_robots::Robot::new("freshet", file.as_bytes()).unwrap().allowed(&path);
        prop_assert_eq!(ours, theirs, "{}", file);
    }
}
