//! Chapters of exhibits, and the selection of exhibits by name.
//!
//! # Promises
//! - An unknown name is an error that lists the known ones.

use anyhow::{Result, bail};

use super::exhibit::Exhibit;
use super::sources::{Need, Sources};

/// A chapter of a text.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    /// Its short name, for example `thesis-5`.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its subject and source, in a sentence or two.
    pub about: &'static str,
    /// Its exhibits in reading order.
    pub exhibits: &'static [Maker],
}

/// How to make one exhibit.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// Its short name, for example `table-5.5`.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The data that it needs.
    pub needs: Need,
    /// Makes it.
    pub make: fn(&Sources, &Progress<'_>) -> Result<Exhibit>,
}

/// Callback for the fraction of an exhibit that is done, from 0 to 1.
pub type Progress<'a> = dyn Fn(f64) + Sync + 'a;

/// A chapter with its selected exhibits.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The chapter.
    pub chapter: &'static Chapter,
    /// The exhibits.
    pub exhibits: Vec<&'static Maker>,
}

/// Selects exhibits by their names or the names of their chapters. Selects all if there are no names.
pub fn select(chapters: &[&'static Chapter], names: &[String]) -> Result<Vec<Selected>> {
    let is_wanted = |chapter: &Chapter, maker: &Maker| {
        names.is_empty() || names.iter().any(|name| name == chapter.name || name == maker.name)
    };
    for name in names {
        let is_known = |chapter: &&&Chapter| {
            chapter.name == name || chapter.exhibits.iter().any(|maker| maker.name == name)
        };
        if !chapters.iter().any(|chapter| is_known(&chapter)) {
            bail!("there is no chapter or exhibit {name}; there are\n{}", list(chapters));
        }
    }
    let selected = chapters.iter().map(|chapter| Selected {
        chapter,
        exhibits: chapter.exhibits.iter().filter(|maker| is_wanted(chapter, maker)).collect(),
    });
    Ok(selected.filter(|selected| !selected.exhibits.is_empty()).collect())
}

/// Lists the names of chapters and exhibits, one line per chapter.
pub fn list(chapters: &[&Chapter]) -> String {
    let line = |chapter: &&Chapter| {
        let names: Vec<&str> = chapter.exhibits.iter().map(|maker| maker.name).collect();
        format!("  {}: {}", chapter.name, names.join(", "))
    };
    chapters.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::contents::CHAPTERS;
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = CHAPTERS
            .iter()
            .flat_map(|chapter| chapter.exhibits.iter().map(|maker| maker.name).chain([chapter.name]))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_chapter_or_an_exhibit_is_selected_by_name_and_nothing_else() {
        let all = select(CHAPTERS, &[]).expect("everything");
        assert_eq!(all.len(), CHAPTERS.len());
        for chapter in CHAPTERS {
            let one = select(CHAPTERS, &[chapter.name.to_owned()]).expect("a chapter");
            assert_eq!((one.len(), one[0].exhibits.len()), (1, chapter.exhibits.len()));
            let first = chapter.exhibits[0].name;
            let one = select(CHAPTERS, &[first.to_owned()]).expect("an exhibit");
            assert_eq!((one[0].chapter.name, one[0].exhibits.len()), (chapter.name, 1));
        }
        let error = select(CHAPTERS, &["table-0".to_owned()]).expect_err("no such exhibit").to_string();
        assert!(CHAPTERS.iter().all(|chapter| error.contains(chapter.name)), "{error}");
    }
}
