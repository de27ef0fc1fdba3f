//! Parses the output of `git log --raw -z` as a stream: what each commit did to files.
//!
//! Every piece ends in a zero byte. A commit begins with a piece `␂<hash> <time>`. Each file that it altered
//! follows as a piece `:<old mode> <new mode> <old blob> <new blob> <status>` and a piece with the path,
//! which may contain any characters.
//!
//! # Promises
//! - A path is only ever read as a path, so a file name cannot pass for something else.
//! - Symbolic links, submodules and other entries that are not regular files are left out.

use std::io::BufRead;

use anyhow::{Context as _, Result, bail};

/// Format of a commit in the output of `git log`.
pub(super) const FORMAT: &str = "--format=%x02%H%x20%ct";

/// What a commit did to one file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileChange {
    /// Its path within the repository.
    pub(super) file: String,
    /// Its content before, if it was a regular file.
    pub(super) before: Option<String>,
    /// Its content after, if it is a regular file.
    pub(super) after: Option<String>,
}

/// A commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Commit {
    /// Its hash.
    pub(super) hash: String,
    /// When it was committed, in seconds since 1970.
    pub(super) time: i64,
    /// The files that it altered.
    pub(super) files: Vec<FileChange>,
}

/// Calls `take` for each commit of a log, in order.
pub(super) fn parse(mut log: impl BufRead, mut take: impl FnMut(Commit)) -> Result<()> {
    let mut commit: Option<Commit> = None;
    let mut piece = Vec::new();
    while next_piece(&mut log, &mut piece)? {
        let text = String::from_utf8_lossy(&piece);
        let text = text.trim_start_matches('\n');
        if let Some(head) = text.strip_prefix('\u{2}') {
            commit.replace(parse_head(head)?).into_iter().for_each(&mut take);
        } else if let Some(entry) = text.strip_prefix(':') {
            let Some(commit) = &mut commit else { bail!("a file comes before the first commit: {text:?}") };
            let (before, after) = parse_entry(entry)?;
            if !next_piece(&mut log, &mut piece)? {
                bail!("the log of `git` ends before the path of a file");
            }
            let file = String::from_utf8_lossy(&piece).into_owned();
            commit.files.push(FileChange { file, before, after });
        } else if !text.is_empty() {
            bail!("the log of `git` holds something unexpected: {text:?}");
        }
    }
    commit.into_iter().for_each(take);
    Ok(())
}

fn next_piece(log: &mut impl BufRead, piece: &mut Vec<u8>) -> Result<bool> {
    piece.clear();
    log.read_until(0, piece).context("cannot read the log of `git`")?;
    let more = !piece.is_empty();
    if piece.last() == Some(&0) {
        piece.pop();
    }
    Ok(more)
}

fn parse_head(head: &str) -> Result<Commit> {
    let parsed = head.split_once(' ').and_then(|(hash, time)| Some((hash, time.trim().parse().ok()?)));
    let Some((hash, time)) = parsed else { bail!("the log of `git` has a commit without a time: {head:?}") };
    Ok(Commit { hash: hash.to_owned(), time, files: Vec::new() })
}

/// Contents before and after, where the file is a regular one.
fn parse_entry(entry: &str) -> Result<(Option<String>, Option<String>)> {
    let mut words = entry.split(' ');
    let (Some(old_mode), Some(new_mode), Some(old), Some(new)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        bail!("the log of `git` describes a file in an unknown way: {entry:?}");
    };
    let content = |mode: &str, blob: &str| mode.starts_with("100").then(|| blob.to_owned());
    Ok((content(old_mode, old), content(new_mode, new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits(log: &str) -> Result<Vec<Commit>> {
        let mut commits = Vec::new();
        parse(log.as_bytes(), |commit| commits.push(commit))?;
        Ok(commits)
    }

    fn file(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
        FileChange {
            file: path.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    #[test]
    fn a_log_becomes_commits() {
        let log = "\u{2}c1 100\0\n:000000 100644 0 aa A\0a b.md\0:000000 120000 0 bb A\0link\0\
                   \u{2}c2 90\0\u{2}c3 110\0\n:100644 000000 aa 0 D\0a b.md\0";
        let commits = commits(log).expect("a log");
        assert_eq!(commits.iter().map(|commit| commit.time).collect::<Vec<_>>(), [100, 90, 110]);
        assert_eq!(commits[0].files, [file("a b.md", None, Some("aa")), file("link", None, None)]);
        assert!(commits[1].files.is_empty());
        assert_eq!(commits[2].files, [file("a b.md", Some("aa"), None)]);
    }

    #[test]
    fn a_path_is_only_ever_a_path() {
        let commits =
            commits("\u{2}c 1\0:0 100644 0 aa A\0\u{2}x 5\0:0 100644 0 bb A\0:1 2 3 4 M\0").expect("a log");
        assert_eq!(commits.len(), 1);
        assert_eq!(commits[0].files[0].file, "\u{2}x 5");
        assert_eq!(commits[0].files[1].file, ":1 2 3 4 M");
    }

    #[test]
    fn a_log_of_another_kind_is_an_error() {
        for log in ["hello\0", ":0 0 a b M\0a\0", "\u{2}c\0", "\u{2}c 1\0:0 0\0a\0", "\u{2}c 1\0:0 0 a b M\0"]
        {
            assert!(commits(log).is_err(), "{log:?}");
        }
        assert!(commits("").expect("nothing").is_empty());
    }
}
