//! The stack of open elements: the place of each piece of text while a page is read.
//!
//! A page is read as tokens, without a tree. This is the "stack of open elements" of the HTML standard with
//! the two of its rules that matter for the place of text: omitted end tags (`p`, `li`, `td`, ...), and end
//! tags that close elements opened inside of theirs.
//!
//! The place of an element is identified by a *path*: a hash of the tags from the body down, each with its id
//! and classes, without digits, so that `post-17` and `post-18` have the same path. Elements within a line
//! count only if they have an id or a class.
//!
//! # Promises
//! - No nesting uses more than [`DEPTH_MAX`] entries, and a tag costs at most one pass over them.

use super::selector::{Attributes, Selector};
use super::zones::Zone;

/// Maximum number of open elements. Deeper ones count as part of the last.
const DEPTH_MAX: usize = 128;

/// Maximum length of a label (the name of an element in reports), in bytes.
const LABEL_BYTES_MAX: usize = 48;

/// The path of text outside of any element.
const ROOT: u32 = 0x811C_9DC5;

/// A start tag.
pub(super) struct Tag<'a> {
    /// Its name, in lower case.
    pub(super) name: &'a [u8],
    /// A unique number of the name.
    pub(super) number: u128,
    /// Whether it is an element within a line.
    pub(super) is_inline: bool,
    pub(super) id: &'a [u8],
    pub(super) class: &'a [u8],
    pub(super) role: &'a [u8],
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Open {
    number: u128,
    path: u32,
    zone: Zone,
    is_inline: bool,
    /// Start of its label, which ends where the next one starts; may be empty.
    label: u32,
}

/// The place of a piece of text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) path: u32,
    pub(super) zone: Zone,
    /// Whether an including selector matches it.
    pub(super) is_included: bool,
    /// Whether an excluding selector matches it.
    pub(super) is_excluded: bool,
}

/// The open elements of a page, the outermost first.
#[derive(Debug)]
pub(super) struct OpenElements<'a> {
    stack: Vec<Open>,
    /// Number of open elements beyond [`DEPTH_MAX`].
    deeper: u32,
    labels: Vec<u8>,
    include: &'a [Selector],
    exclude: &'a [Selector],
    /// For each open element and each selector, the number of selector parts matched there.
    met: Vec<u8>,
}

impl<'a> OpenElements<'a> {
    /// An empty stack. The selectors say which parts of the page are included and excluded.
    pub(super) fn new(include: &'a [Selector], exclude: &'a [Selector]) -> Self {
        Self {
            stack: Vec::with_capacity(32),
            deeper: 0,
            labels: Vec::with_capacity(256),
            include,
            exclude,
            met: Vec::new(),
        }
    }

    /// Whether there are selectors, which may need any attribute.
    pub(super) fn has_selectors(&self) -> bool {
        !self.include.is_empty() || !self.exclude.is_empty()
    }

    /// Opens an element, and closes those whose end tags it implies.
    pub(super) fn open(&mut self, tag: &Tag<'_>, attributes: &dyn Attributes) {
        self.close_implied(tag);
        if self.stack.len() >= DEPTH_MAX {
            self.deeper += 1;
            return;
        }
        let (path, zone) = self.stack.last().map_or((ROOT, Zone::default()), |open| (open.path, open.zone));
        let label = self.labels.len() as u32;
        let is_page = matches!(tag.name, b"html" | b"body");
        let is_named = !tag.id.is_empty() || !tag.class.is_empty();
        let (path, zone) = if is_page || (tag.is_inline && !is_named) {
            (path, zone)
        } else {
            self.put_label(tag);
            (path_of(path, tag), zone.of_child(tag.name, tag.id, tag.class, tag.role))
        };
        if self.has_selectors() {
            self.meet(tag.name, attributes);
        }
        self.stack.push(Open { number: tag.number, path, zone, is_inline: tag.is_inline, label });
    }

    /// Closes an element and all elements opened within it; ignored if none with this name is open.
    pub(super) fn close(&mut self, number: u128) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(at) = self.stack.iter().rposition(|open| open.number == number) {
            self.cut(at);
        }
    }

    /// The place of text at this point.
    pub(super) fn place(&self) -> Place {
        let (path, zone) = self.stack.last().map_or((ROOT, Zone::default()), |open| (open.path, open.zone));
        if !self.has_selectors() {
            return Place { path, zone, is_included: false, is_excluded: false };
        }
        let selectors = self.include.len() + self.exclude.len();
        let met = &self.met[self.met.len().saturating_sub(selectors)..];
        let is_met = |selectors: &[Selector], met: &[u8]| {
            selectors.iter().zip(met).any(|(selector, met)| selector.is_met(*met))
        };
        let (include, exclude) = met.split_at(self.include.len().min(met.len()));
        Place {
            path,
            zone,
            is_included: is_met(self.include, include),
            is_excluded: is_met(self.exclude, exclude),
        }
    }

    /// The label of the innermost element that has one, for reports: `p.meta`.
    pub(super) fn label(&self) -> String {
        let mut end = self.labels.len();
        for open in self.stack.iter().rev() {
            let label = &self.labels[open.label as usize..end];
            if !label.is_empty() {
                return String::from_utf8_lossy(label).into_owned();
            }
            end = open.label as usize;
        }
        String::new()
    }

    fn put_label(&mut self, tag: &Tag<'_>) {
        let start = self.labels.len();
        self.labels.extend_from_slice(tag.name);
        if !tag.id.is_empty() {
            self.labels.push(b'#');
            self.labels.extend_from_slice(tag.id);
        }
        for class in tag.class.split(u8::is_ascii_whitespace).filter(|class| !class.is_empty()) {
            self.labels.push(b'.');
            self.labels.extend_from_slice(class);
        }
        self.labels.truncate(start + LABEL_BYTES_MAX);
    }

    fn meet(&mut self, name: &[u8], attributes: &dyn Attributes) {
        let selectors = self.include.len() + self.exclude.len();
        let outside = self.met.len().checked_sub(selectors);
        for (number, selector) in self.include.iter().chain(self.exclude).enumerate() {
            let before = outside.map_or(0, |outside| self.met[outside + number]);
            self.met.push(selector.step(before, name, attributes));
        }
    }

    /// Closes the elements whose end tags the start tag implies.
    fn close_implied(&mut self, tag: &Tag<'_>) {
        if self.deeper > 0 {
            return;
        }
        let (closes, within): (&[u128], &[u128]) = match tag.name {
            b"li" => (const { &numbers_of([b"li"]) }, const { &numbers_of([b"ul", b"ol", b"menu"]) }),
            b"dt" | b"dd" => (const { &numbers_of([b"dt", b"dd"]) }, const { &numbers_of([b"dl"]) }),
            b"tr" => (const { &numbers_of([b"tr"]) }, const { &numbers_of([b"table"]) }),
            b"td" | b"th" => {
                (const { &numbers_of([b"td", b"th"]) }, const { &numbers_of([b"tr", b"table"]) })
            }
            b"thead" | b"tbody" | b"tfoot" => {
                (const { &numbers_of([b"thead", b"tbody", b"tfoot"]) }, const { &numbers_of([b"table"]) })
            }
            b"option" => (const { &numbers_of([b"option"]) }, const { &numbers_of([b"select"]) }),
            _ => (&[], &[]),
        };
        if !closes.is_empty() {
            let is = |open: &Open, numbers: &[u128]| numbers.contains(&open.number);
            let found =
                self.stack.iter().enumerate().rev().find(|(_, open)| is(open, closes) || is(open, within));
            if let Some((at, open)) = found
                && is(open, closes)
            {
                self.cut(at);
            }
        } else if !tag.is_inline {
            // A paragraph contains no other block.
            let paragraph = const { number_of(b"p") };
            let innermost = self.stack.iter().rposition(|open| !open.is_inline);
            if let Some(at) = innermost.filter(|at| self.stack[*at].number == paragraph) {
                self.cut(at);
            }
        }
    }

    fn cut(&mut self, at: usize) {
        self.labels.truncate(self.stack[at].label as usize);
        self.stack.truncate(at);
        self.met.truncate(at * (self.include.len() + self.exclude.len()));
    }
}

/// A unique number of a name of up to sixteen letters.
pub(super) const fn number_of(name: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let mut at = 0;
    while at < name.len() && at < bytes.len() {
        bytes[at] = name[at];
        at += 1;
    }
    u128::from_le_bytes(bytes)
}

/// The numbers of several names.
const fn numbers_of<const COUNT: usize>(names: [&[u8]; COUNT]) -> [u128; COUNT] {
    let mut numbers = [0; COUNT];
    let mut at = 0;
    while at < COUNT {
        numbers[at] = number_of(names[at]);
        at += 1;
    }
    numbers
}

/// The path of an element within another (FNV-1a).
fn path_of(outside: u32, tag: &Tag<'_>) -> u32 {
    let mut path = (outside ^ 0x2F).wrapping_mul(0x0100_0193);
    let mut add = |bytes: &[u8]| {
        for byte in bytes.iter().filter(|byte| !byte.is_ascii_digit()) {
            path = (path ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    add(tag.name);
    if !tag.id.is_empty() {
        add(b"#");
        add(tag.id);
    }
    if !tag.class.is_empty() {
        add(b".");
        add(tag.class);
    }
    path
}

/// Elements without content and end tag.
pub(super) fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bare;

    impl Attributes for Bare {
        fn value(&self, _: &str) -> Option<&[u8]> {
            None
        }
    }

    /// Opens `tag.class`, closes `/tag`, and returns the path and label at the end.
    fn walk(steps: &str) -> (u32, String) {
        let mut open = OpenElements::new(&[], &[]);
        for step in steps.split_ascii_whitespace() {
            if let Some(name) = step.strip_prefix('/') {
                open.close(number_of(name.as_bytes()));
                continue;
            }
            let (name, class) = step.split_once('.').unwrap_or((step, ""));
            let (name, class) = (name.as_bytes(), class.as_bytes());
            let is_inline = matches!(name, b"b" | b"span");
            open.open(&Tag { name, number: number_of(name), is_inline, id: b"", class, role: b"" }, &Bare);
        }
        (open.place().path, open.label())
    }

    #[track_caller]
    fn check_same(one: &str, other: &str) {
        assert_eq!(walk(one), walk(other));
    }

    #[test]
    fn end_tags_may_be_left_out() {
        check_same("body p p p", "body p");
        check_same("body ul li li", "body ul li");
        check_same("body ul li ul li /ul li", "body ul li");
        check_same("body table tr td tr td", "body table tr td");
        check_same("body p b div", "body div");
    }

    #[test]
    fn end_tags_that_close_nothing_are_ignored() {
        check_same("body div /p /section p", "body div p");
        check_same("body div b /div p", "body p");
    }

    #[test]
    fn digits_in_names_and_bare_inline_elements_do_not_count() {
        assert_eq!(walk("body div.post-17 p").0, walk("body div.post-18 p").0);
        assert_eq!(walk("body p b").0, walk("body p").0);
        assert_ne!(walk("body p span.clock").0, walk("body p").0);
        assert_eq!(walk("body p.meta b").1, "p.meta");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "div ".repeat(5_000) + &"/div ".repeat(5_000) + "p";
        check_same(&deep, "p");
    }
}
