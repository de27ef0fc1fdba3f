//! A git clone, read through the `git` program.
//!
//! # Promises
//! - The program is started without a shell, and nothing of the clone's content becomes an argument.
//! - Settings of the user or of the clone do not change what is read. The clone is not altered.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use super::log::{self, Commit};

/// Sources larger than this are measured but not searched for links.
const LINK_SOURCE_BYTES_MAX: u64 = 8 << 20;

/// A local clone.
pub(super) struct Repository {
    path: PathBuf,
}

impl Repository {
    /// Opens a clone, or reports what is missing.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let name = path.display();
        ensure!(path.exists(), "the clone {name} does not exist");
        ensure!(path.is_dir(), "{name} is not a directory: give the directory of a clone");
        let repository = Self { path: path.to_owned() };
        repository.ask(&["--version"])?;
        repository.ask(&["rev-parse", "--git-dir"]).with_context(|| {
            format!("{name} is not the clone of a repository: make one with `git clone URL {name}`")
        })?;
        let shallow = repository.ask(&["rev-parse", "--is-shallow-repository"])?;
        ensure!(
            shallow != "true",
            "the clone {name} is shallow, its history is cut off: complete it with `git fetch --unshallow`"
        );
        repository
            .ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .with_context(|| format!("the clone {name} has no commit yet"))?;
        Ok(repository)
    }

    /// Name of the site: owner and name from the URL it was cloned from, else the name of the directory.
    pub(super) fn name(&self) -> String {
        let origin = self.ask(&["config", "--get", "remote.origin.url"]).unwrap_or_default();
        name_of_origin(&origin).unwrap_or_else(|| {
            let full = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
            full.file_name().map_or_else(|| "site".to_owned(), |name| name.to_string_lossy().into_owned())
        })
    }

    /// Calls `take` for each commit of the first-parent line, oldest first.
    pub(super) fn first_parent_log(&self, take: impl FnMut(Commit)) -> Result<()> {
        let mut child = self.start(
            &[
                "-c",
                "log.showSignature=false",
                "-c",
                "diff.orderFile=/dev/null",
                "log",
                "--first-parent",
                "-m",
                "--reverse",
                "--raw",
                "-z",
                "--no-abbrev",
                "--no-renames",
                "--no-ext-diff",
                "--no-color",
                "--no-notes",
                "--ignore-submodules=all",
                log::FORMAT,
                "HEAD",
                "--",
            ],
            Stdio::null(),
        )?;
        let output = child.stdout.take().expect("the output is piped");
        let parsed = log::parse(BufReader::with_capacity(1 << 16, output), take);
        finish(child, parsed)
    }

    /// Calls `take` with number, size and text of each of these blobs. The text of a very large one is empty.
    pub(super) fn blobs(&self, blobs: &[&str], take: impl FnMut(usize, u64, &str)) -> Result<()> {
        let mut child = self.start(&["cat-file", "--batch"], Stdio::piped())?;
        let mut input = child.stdin.take().expect("the input is piped");
        let output = child.stdout.take().expect("the output is piped");
        let wanted: String = blobs.iter().flat_map(|blob| [*blob, "\n"]).collect();
        let parsed = std::thread::scope(|scope| {
            // Write in a thread of its own: otherwise both sides would wait for each other. If the program
            // ends early, the pipe breaks, and the missing answers are reported.
            scope.spawn(move || drop(input.write_all(wanted.as_bytes())));
            read_blobs(BufReader::with_capacity(1 << 16, output), blobs, take)
        });
        finish(child, parsed)
    }

    /// Returns the first line of the output of `git`.
    fn ask(&self, arguments: &[&str]) -> Result<String> {
        let child = self.start(arguments, Stdio::null())?;
        let output = child.wait_with_output().context("cannot wait for `git`")?;
        if !output.status.success() {
            bail!("`git {}` says: {}", arguments.join(" "), first_line(&output.stderr));
        }
        Ok(first_line(&output.stdout))
    }

    fn start(&self, arguments: &[&str], input: Stdio) -> Result<Child> {
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("-C").arg(&self.path).args(arguments);
        // Inside a git hook these variables would point to another repository.
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE"] {
            command.env_remove(variable);
        }
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().context("cannot start the program `git`: install it, or put it on the PATH")
    }
}

/// Waits for the program. If its output ended early, its error output explains why.
fn finish(child: Child, parsed: Result<()>) -> Result<()> {
    let output = child.wait_with_output().context("cannot wait for `git`")?;
    if !output.status.success() {
        bail!("`git` says: {}", first_line(&output.stderr));
    }
    parsed
}

fn first_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().next().unwrap_or_default().trim().to_owned()
}

/// `owner/name` of `https://host/owner/name.git` or `git@host:owner/name`.
fn name_of_origin(origin: &str) -> Option<String> {
    let origin = origin.trim_end_matches('/').trim_end_matches(".git");
    // A path on this machine says nothing about the site.
    let (_, path) = origin.split_once("://").or_else(|| origin.split_once(':'))?;
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    let (name, owner) = (parts.next()?, parts.next()?);
    Some(format!("{owner}/{name}"))
}

/// Reads the answers of `cat-file --batch`: a line `<id> <type> <size>`, the bytes, and a line end.
fn read_blobs(
    mut answers: impl BufRead,
    blobs: &[&str],
    mut take: impl FnMut(usize, u64, &str),
) -> Result<()> {
    let mut head = String::new();
    let mut bytes = Vec::new();
    for (number, blob) in blobs.iter().enumerate() {
        head.clear();
        answers.read_line(&mut head)?;
        let size = head.split_ascii_whitespace().nth(2).and_then(|size| size.parse::<u64>().ok());
        let Some(size) = size else {
            bail!("the clone lacks the content {blob}: {:?}", head.trim_end());
        };
        bytes.clear();
        if size <= LINK_SOURCE_BYTES_MAX {
            answers.by_ref().take(size).read_to_end(&mut bytes)?;
        } else {
            std::io::copy(&mut answers.by_ref().take(size), &mut std::io::sink())?;
        }
        answers.read_exact(&mut [0])?;
        take(number, size, &String::from_utf8_lossy(&bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origin: &str, name: Option<&str>) {
        assert_eq!(name_of_origin(origin).as_deref(), name);
    }

    #[test]
    fn a_site_is_called_after_where_it_was_cloned_from() {
        check("https://example.org/mdn/content.git", Some("mdn/content"));
        check("git@example.org:kubernetes/website", Some("kubernetes/website"));
        check("https://example.org/a/b/c/", Some("b/c"));
        check("/srv/clones/content", None);
        check("", None);
    }

    #[test]
    fn blobs_are_read_one_after_another() {
        let answers = b"aa blob 3\nx\ny\nbb blob 0\n\ncc missing\n";
        let mut taken = Vec::new();
        let result = read_blobs(answers.as_slice(), &["aa", "bb", "cc"], |number, size, text| {
            taken.push((number, size, text.to_owned()));
        });
        assert_eq!(taken, [(0, 3, "x\ny".to_owned()), (1, 0, String::new())]);
        let error = result.expect_err("the third is missing").to_string();
        assert!(error.contains("lacks the content cc"), "{error}");
    }

    #[test]
    fn a_clone_that_is_not_there_is_named() {
        let place = tempfile::tempdir().expect("a directory");
        let error = |path: &Path| format!("{:#}", Repository::open(path).err().expect("there is no clone"));
        assert!(error(&place.path().join("nowhere")).contains("nowhere does not exist"));
        assert!(error(place.path()).contains("is not the clone of a repository"));
    }
}
