//! The examples and rules of RFC 9309, one by one.

use freshet_fetch::web::Robots;

#[track_caller]
fn check(file: &str, robot: &str, path: &str, allowed: bool) {
    assert_eq!(Robots::parse(file.as_bytes(), robot).allows(path), allowed, "{robot} {path}");
}

/// Section 5.1.
const SIMPLE: &str = "User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
";

#[test]
fn the_simple_example_holds_for_every_robot_in_it() {
    for (path, allowed) in [
        ("/a.gif", false),
        ("/a.gif?x", true),
        ("/example/page.html", false),
        ("/publications/x", true),
        ("/", true),
    ] {
        check(SIMPLE, "unnamed", path, allowed);
    }
    for (path, allowed) in [
        ("/", false),
        ("/example/page.html", true),
        ("/example/allowed.gif", true),
        ("/example/other.gif", false),
    ] {
        check(SIMPLE, "foobot", path, allowed);
    }
    for robot in ["barbot", "bazbot"] {
        check(SIMPLE, robot, "/example/page.html", false);
        check(SIMPLE, robot, "/example/other.html", true);
        check(SIMPLE, robot, "/a.gif", true);
    }
    check(SIMPLE, "quxbot", "/example/page.html", true);
    check(SIMPLE, "quxbot", "/a.gif", true);
}

#[test]
fn the_longest_match_decides_section_5_2() {
    let file = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    check(file, "foobot", "/example/page/", true);
    check(file, "foobot", "/example/page/disallowed.gif", false);
    check(file, "foobot", "/example/page/allowed.gif", true);
}

#[test]
fn groups_of_one_robot_are_combined_section_2_2_1() {
    let file = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: other\ndisallow: \
                /other\n\nuser-agent: ExampleBot\ndisallow: /baz\n";
    for path in ["/foo", "/bar", "/baz"] {
        check(file, "ExampleBot", path, false);
        // Names are compared ignoring case.
        check(file, "EXAMPLEBOT", path, false);
        check(file, "other", path, true);
    }
    check(file, "ExampleBot", "/other", true);
    check(file, "third", "/foo", true);
}

#[test]
fn a_robot_that_is_named_leaves_the_group_for_all_section_2_2_1() {
    let file = "user-agent: *\ndisallow: /\nuser-agent: examplebot\ndisallow: /foo\n";
    check(file, "examplebot", "/bar", true);
    check(file, "examplebot", "/foo", false);
    check(file, "third", "/bar", false);
}

#[test]
fn equal_rules_allow_and_no_rule_allows_section_2_2_2() {
    check("user-agent: *\nallow: /page\ndisallow: /page\n", "x", "/page", true);
    check("user-agent: *\ndisallow: /page\nallow: /page\n", "x", "/page", true);
    check("user-agent: *\ndisallow: /page\n", "x", "/other", true);
    check("user-agent: *\ndisallow: /\n", "x", "/robots.txt", true);
    check("", "x", "/", true);
    // Paths are case-sensitive.
    check("user-agent: *\ndisallow: /Page\n", "x", "/page", true);
}

#[test]
fn paths_are_compared_as_they_are_encoded_section_2_2_2() {
    for (rule, path) in [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A"),
    ] {
        check(&format!("user-agent: *\ndisallow: {rule}\n"), "x", path, false);
    }
}

#[test]
fn special_characters_mean_what_section_2_2_3_says() {
    let rule = |rule: &str| format!("user-agent: *\ndisallow: {rule} # this is a comment\n");
    check(&rule("/this/path/exactly$"), "x", "/this/path/exactly", false);
    check(&rule("/this/path/exactly$"), "x", "/this/path/exactly/not", true);
    check(&rule("/this/*/exactly"), "x", "/this/path/exactly", false);
    check(&rule("/this/*/exactly"), "x", "/this/long/path/exactly/and/more", false);
    check(&rule("/path/file-with-a-%2A.html"), "x", "/path/file-with-a-*.html", false);
    check(&rule("/path/file-with-a-%2A.html"), "x", "/path/file-with-a-b.html", true);
    check(&rule("/path/foo-%24"), "x", "/path/foo-$", false);
    check(&rule("/path/foo-%24"), "x", "/path/foo-", true);
}

#[test]
fn other_records_do_not_interfere_with_groups_section_2_2_4() {
    let file = "User-Agent: *\nDisallow: /a\nSitemap: https://example.org/sitemap.xml\nDisallow: /b\nWhat: \
                ever\nDisallow: /c\n";
    for path in ["/a", "/b", "/c"] {
        check(file, "x", path, false);
    }
    let file = "User-Agent: a\nSitemap: https://example.org/sitemap.xml\nUser-Agent: b\nDisallow: /\n";
    check(file, "a", "/", false);
    check(file, "b", "/", false);
}

#[test]
fn lines_end_as_they_like_section_2_2() {
    for end in ["\n", "\r", "\r\n"] {
        let file = ["\u{feff}User-agent : *", "  Disallow  :  /a  ", "", "Disallow: /b"].join(end);
        check(&file, "x", "/a", false);
        check(&file, "x", "/b", false);
        check(&file, "x", "/c", true);
    }
}
