//! Every dependency has a licence and a source that `deny.toml` allows.
//!
//! `cargo deny check` applies the same file, and knows advisories besides; this test needs nothing but cargo.
//! It looks at the packages of this machine's platform, because those of other platforms need not be on the
//! disk.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The part of `deny.toml` that this test applies. A rule that it does not know is an error, because it would
/// not be applied.
#[derive(Deserialize)]
struct Rules {
    licenses: LicenceRules,
    sources: SourceRules,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LicenceRules {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SourceRules {
    unknown_registry: String,
    unknown_git: String,
    allow_registry: BTreeSet<String>,
}

/// What `cargo metadata` says.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for a package on this machine.
    source: Option<String>,
    manifest_path: PathBuf,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rules() -> Rules {
    let text = fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    let rules: Rules = toml::from_str(&text).unwrap_or_else(|error| panic!("in deny.toml: {error}"));
    assert_eq!(rules.sources.unknown_registry, "deny");
    assert_eq!(rules.sources.unknown_git, "deny");
    rules
}

fn metadata() -> Metadata {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--offline", "--format-version", "1"]);
    cargo.args(["--filter-platform", "host-tuple"]);
    let output = cargo.current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints its metadata as JSON")
}

/// What is wrong with the licence of a package, if anything is.
fn licence_fault(rules: &LicenceRules, package: &Package) -> Option<String> {
    let Some(licence) = &package.license else { return Some("it names no licence".to_owned()) };
    match is_allowed(licence, &rules.allow) {
        Ok(true) => None,
        Ok(false) => Some(format!("deny.toml does not allow its licence, {licence}")),
        Err(fault) => Some(format!("its licence, {licence}, cannot be read: {fault}")),
    }
}

/// What is wrong with the source of a package, if anything is.
fn source_fault(rules: &SourceRules, package: &Package, workspace: &Path) -> Option<String> {
    let Some(source) = &package.source else {
        let is_ours = package.manifest_path.starts_with(workspace);
        return (!is_ours)
            .then(|| format!("it is outside of the workspace: {}", package.manifest_path.display()));
    };
    let registry = source.strip_prefix("registry+");
    let is_allowed = registry.is_some_and(|registry| rules.allow_registry.contains(registry));
    (!is_allowed).then(|| format!("deny.toml does not allow its source, {source}"))
}

/// Whether an SPDX expression holds if the allowed licences are true and all others false.
///
/// A slash is an `OR`, and operators may be in lower case, as in older packages. A licence `WITH` an
/// exception is a licence of its own, which must be allowed with the exception.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { left: spaced.split_whitespace().collect(), allowed };
    let holds = words.any()?;
    words.left.front().map_or(Ok(holds), |word| Err(format!("{word} is unexpected")))
}

/// The words of an expression that are not read yet.
struct Words<'a> {
    left: VecDeque<&'a str>,
    allowed: &'a BTreeSet<String>,
}

impl<'a> Words<'a> {
    const OPERATORS: [&'static str; 5] = ["OR", "AND", "WITH", "(", ")"];

    /// Expressions with `OR` between them, which binds least.
    fn any(&mut self) -> Result<bool, String> {
        let mut holds = self.all()?;
        while self.take("OR") {
            holds |= self.all()?;
        }
        Ok(holds)
    }

    /// Expressions with `AND` between them.
    fn all(&mut self) -> Result<bool, String> {
        let mut holds = self.one()?;
        while self.take("AND") {
            holds &= self.one()?;
        }
        Ok(holds)
    }

    /// A licence, or an expression in parentheses.
    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let holds = self.any()?;
            return if self.take(")") { Ok(holds) } else { Err("a parenthesis is not closed".to_owned()) };
        }
        let licence = self.name()?;
        if self.take("WITH") {
            let exception = self.name()?;
            return Ok(self.allowed.contains(&format!("{licence} WITH {exception}")));
        }
        Ok(self.allowed.contains(licence))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        let is_name =
            |word: &&str| !Self::OPERATORS.iter().any(|operator| word.eq_ignore_ascii_case(operator));
        self.left.pop_front().filter(is_name).ok_or_else(|| "a licence is missing".to_owned())
    }

    fn take(&mut self, operator: &str) -> bool {
        let is_next = self.left.front().is_some_and(|word| word.eq_ignore_ascii_case(operator));
        if is_next {
            self.left.pop_front();
        }
        is_next
    }
}

#[test]
fn every_dependency_has_an_allowed_licence_and_source() {
    let (rules, metadata) = (rules(), metadata());
    assert!(metadata.packages.len() > 100, "cargo names only {} packages", metadata.packages.len());
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let licence = licence_fault(&rules.licenses, package);
        let source = source_fault(&rules.sources, package, &metadata.workspace_root);
        let found = licence.into_iter().chain(source);
        faults.extend(found.map(|fault| format!("{} {}: {fault}", package.name, package.version)));
    }
    assert!(faults.is_empty(), "dependencies that must not be used:\n{}", faults.join("\n"));
}

#[test]
fn an_expression_holds_if_its_allowed_licences_suffice() {
    let allowed = ["MIT", "Apache-2.0", "Unicode-3.0", "GPL-3.0 WITH Classpath-exception-2.0"];
    let allowed = allowed.map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0 OR MIT", true),
        ("MIT AND GPL-3.0", false),
        ("MIT/GPL-3.0", true),
        ("GPL-3.0 / MIT", true),
        ("GPL-3.0 or MIT", true),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("(MIT OR GPL-3.0) AND OpenSSL", false),
        ("MIT AND GPL-3.0 OR Apache-2.0", true),
        ("Apache-2.0 OR MIT AND GPL-3.0", true),
        ("(Apache-2.0 OR MIT) AND GPL-3.0", false),
        ("((MIT) AND (Apache-2.0 OR GPL-3.0))", true),
        ("Apache-2.0 WITH LLVM-exception", false),
        ("GPL-3.0 WITH Classpath-exception-2.0", true),
        ("Apache-2.0 WITH LLVM-exception OR MIT", true),
        ("mit", false),
        ("MIT+", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), Ok(expected), "{expression}");
    }
}

#[test]
fn an_expression_that_cannot_be_read_is_an_error() {
    let allowed = ["MIT".to_owned(), "Apache-2.0".to_owned()].into();
    for expression in
        ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "()", "MIT AND OR MIT"]
    {
        assert!(is_allowed(expression, &allowed).is_err(), "{expression}");
    }
}

fn package(license: Option<&str>, source: Option<&str>) -> Package {
    Package {
        name: "stranger".to_owned(),
        version: "1.0.0".to_owned(),
        license: license.map(str::to_owned),
        source: source.map(str::to_owned),
        manifest_path: PathBuf::from("/elsewhere/stranger/Cargo.toml"),
    }
}

#[test]
fn a_package_with_another_licence_is_refused() {
    let rules = rules().licenses;
    for licence in [None, Some("AGPL-3.0"), Some("MIT AND AGPL-3.0"), Some("MIT OR")] {
        assert!(licence_fault(&rules, &package(licence, None)).is_some(), "{licence:?}");
    }
    assert_eq!(licence_fault(&rules, &package(Some("MIT OR AGPL-3.0"), None)), None);
}

#[test]
fn a_package_from_another_source_is_refused() {
    let rules = rules().sources;
    let check = |source: Option<&str>, workspace: &str| {
        source_fault(&rules, &package(Some("MIT"), source), Path::new(workspace))
    };
    assert_eq!(check(Some("registry+https://github.com/rust-lang/crates.io-index"), "/here"), None);
    assert_eq!(check(None, "/elsewhere"), None);
    assert!(check(None, "/here").is_some());
    for source in
        ["git+https://github.com/a/b#c", "registry+https://example.org/index", "sparse+https://example.org/"]
    {
        assert!(check(Some(source), "/here").is_some(), "{source}");
    }
}
