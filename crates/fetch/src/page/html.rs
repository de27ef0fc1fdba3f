//! The HTML reader: extracts visible text, title, links and robots rules from a document.
//!
//! One pass of a WHATWG tokenizer, without a tree. The emitter here replaces tree construction where it
//! decides what a token means: it says after which tags text is raw, which rules apply inside `<svg>` and
//! `<math>`, and what a `<template>` hides. Scripts are not run, so the content of `<noscript>` is read.
//!
//! # Promises
//! - Any text is read to its end in time proportional to its length; nesting costs nothing.
//! - No tag allocates: names, attributes and text go to reused buffers.
//! - References are those of a full tree, however broken the document (the tests compare with one).
//!
//! # Departures
//! Without a tree, elements that tree construction would drop (an `<a>` inside a `<select>`) or move are read
//! where they are written.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

use html5gum::{Emitter, Error, State, Tokenizer};

use super::blocks::{Block, Blocks};
use super::canonical::REFERENCE_BYTES_MAX;
use super::document::Document;
use super::open_elements::{OpenElements, Tag, is_void};
use super::robots_meta::RobotsMeta;
use super::selector::{self, Selector};
use super::text::TextBuilder;

/// Maximum length of a title, in bytes.
const TITLE_BYTES_MAX: usize = 500;

/// Initial capacity: number of references, and bytes of each. Enough for most pages, so that few of them
/// reallocate.
const REFERENCES_USUAL: usize = 64;
const REFERENCE_BYTES_USUAL: usize = 48;

/// The contents of a document, with unresolved references.
#[derive(Debug)]
pub(super) struct Markup {
    /// The visible text.
    pub(super) text: String,
    /// Its blocks, and the labels of their elements by path.
    pub(super) blocks: Vec<Block>,
    pub(super) labels: Vec<(u32, String)>,
    /// The title, if it is not empty.
    pub(super) title: Option<String>,
    /// The `href` of the first `<base>` that has one.
    pub(super) base: Option<String>,
    /// All references in document order.
    pub(super) references: Vec<Reference>,
    /// Number of references beyond the limit.
    pub(super) references_left_out: usize,
    /// The robots rules that the document states.
    pub(super) robots: RobotsMeta,
    /// Whether it has a password field.
    pub(super) has_password: bool,
    /// The bytes of the references.
    written: Vec<u8>,
}

/// One reference, unresolved.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// Its purpose.
    pub(super) kind: ReferenceKind,
    /// Whether the reference itself has `nofollow`.
    pub(super) nofollow: bool,
    target: Range<u32>,
    anchor: Range<u32>,
    alternative: Range<u32>,
}

/// The purpose of a reference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ReferenceKind {
    Anchor,
    Area,
    Frame,
    Canonical,
    Alternate,
    Feed,
    Next,
    Previous,
    Refresh,
}

impl ReferenceKind {
    /// The kind of a `<link>` or `Link` header with these relations; none if the crawler does not use it.
    pub(super) fn of_relations(relations: &str, media_type: &str) -> Option<Self> {
        let has =
            |wanted: &str| relations.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted));
        if has("canonical") {
            Some(Self::Canonical)
        } else if has("alternate") && is_feed_type(media_type) {
            Some(Self::Feed)
        } else if has("alternate") && !has("stylesheet") {
            Some(Self::Alternate)
        } else if has("next") {
            Some(Self::Next)
        } else if has("prev") || has("previous") {
            Some(Self::Previous)
        } else {
            None
        }
    }
}

/// Whether a media type is one of a feed.
fn is_feed_type(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("").trim();
    ["application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"]
        .iter()
        .any(|feed| essence.eq_ignore_ascii_case(feed))
}

impl Markup {
    /// Reads a document without selectors.
    #[cfg(test)]
    pub(super) fn read(document: &str, is_xml: bool, text_bytes_max: usize, references_max: usize) -> Self {
        Self::read_selecting(document, is_xml, text_bytes_max, references_max, [&[], &[]])
    }

    /// Reads a document. Text beyond `text_bytes_max` and references beyond `references_max` are left out.
    /// Blocks that the first selectors include and the second exclude are marked.
    pub(super) fn read_selecting(
        document: &str,
        is_xml: bool,
        text_bytes_max: usize,
        references_max: usize,
        [include, exclude]: [&[Selector]; 2],
    ) -> Self {
        let open_elements = OpenElements::new(include, exclude);
        // At most half of most pages is text, and growing the buffer copies it.
        let text = TextBuilder::with_capacity(document.len() / 2, text_bytes_max);
        let mut reader = Reader::new(is_xml, text, references_max, open_elements);
        let Ok(()) = Tokenizer::new_with_emitter(Document::new(document), Borrowed(&mut reader)).finish();
        reader.finish()
    }

    /// The target of a reference, unresolved.
    pub(super) fn target(&self, reference: &Reference) -> Cow<'_, str> {
        as_text(&self.written[indices(&reference.target)])
    }

    /// The position of the anchor of a reference in the text.
    pub(super) fn place(&self, reference: &Reference) -> u32 {
        reference.anchor.start
    }

    /// The text of an anchor; if it has none, the alternative text of an image in it.
    pub(super) fn anchor(&self, reference: &Reference) -> Cow<'_, str> {
        let text = self.text.get(indices(&reference.anchor)).unwrap_or("").trim();
        if text.is_empty() { as_text(&self.written[indices(&reference.alternative)]) } else { text.into() }
    }
}

/// The bytes as text, with U+FFFD for invalid ones. The slow conversion runs only if there are any.
fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn indices(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// The elements that this reader treats specially.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Element {
    Anchor,
    Area,
    Base,
    Frame,
    InlineFrame,
    Image,
    Input,
    Link,
    Meta,
    Script,
    Style,
    Title,
    Template,
    /// `svg` and `math`.
    Foreign,
    TextArea,
    /// Raw text that is hidden.
    RawHidden,
    /// Raw text that is shown.
    RawShown,
    PlainText,
    /// An element within a line.
    Inline,
    /// An element that starts its own line; also every unknown element.
    Block,
}

impl Element {
    fn named(name: &[u8]) -> Self {
        match name {
            b"a" => Self::Anchor,
            b"area" => Self::Area,
            b"base" => Self::Base,
            b"frame" => Self::Frame,
            b"iframe" => Self::InlineFrame,
            b"img" => Self::Image,
            b"input" => Self::Input,
            b"link" => Self::Link,
            b"meta" => Self::Meta,
            b"script" => Self::Script,
            b"style" => Self::Style,
            b"title" => Self::Title,
            b"template" => Self::Template,
            b"svg" | b"math" => Self::Foreign,
            b"textarea" => Self::TextArea,
            b"noembed" | b"noframes" => Self::RawHidden,
            b"xmp" => Self::RawShown,
            b"plaintext" => Self::PlainText,
            b"abbr" | b"acronym" | b"b" | b"bdi" | b"bdo" | b"big" | b"cite" | b"code" | b"data" | b"del"
            | b"dfn" | b"em" | b"font" | b"i" | b"ins" | b"kbd" | b"label" | b"mark" | b"nobr"
            | b"noscript" | b"picture" | b"q" | b"s" | b"samp" | b"small" | b"source" | b"span"
            | b"strike" | b"strong" | b"sub" | b"sup" | b"time" | b"tt" | b"u" | b"var" | b"wbr" => {
                Self::Inline
            }
            _ => Self::Block,
        }
    }

    /// Whether its tags separate the words before and after them.
    fn separates(self) -> bool {
        matches!(
            self,
            Self::Block | Self::Input | Self::TextArea | Self::RawShown | Self::PlainText | Self::InlineFrame
        )
    }

    /// Whether its text is hidden.
    fn hides(self) -> bool {
        matches!(self, Self::Script | Self::Style | Self::Title | Self::InlineFrame | Self::RawHidden)
    }

    /// The tokenizer state for its content, if it is not markup.
    fn content(self) -> Option<State> {
        match self {
            Self::Title | Self::TextArea => Some(State::RcData),
            Self::Script => Some(State::ScriptData),
            Self::Style | Self::InlineFrame | Self::RawHidden | Self::RawShown => Some(State::RawText),
            Self::PlainText => Some(State::PlainText),
            _ => None,
        }
    }
}

/// Whether the start tag ends foreign content (HTML standard, "the rules for parsing tokens in foreign
/// content").
fn ends_foreign_content(name: &[u8]) -> bool {
    matches!(
        name,
        b"b" | b"big"
            | b"blockquote"
            | b"body"
            | b"br"
            | b"center"
            | b"code"
            | b"dd"
            | b"div"
            | b"dl"
            | b"dt"
            | b"em"
            | b"embed"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"head"
            | b"hr"
            | b"i"
            | b"img"
            | b"li"
            | b"listing"
            | b"menu"
            | b"meta"
            | b"nobr"
            | b"ol"
            | b"p"
            | b"pre"
            | b"ruby"
            | b"s"
            | b"small"
            | b"span"
            | b"strong"
            | b"strike"
            | b"sub"
            | b"sup"
            | b"table"
            | b"tt"
            | b"u"
            | b"ul"
            | b"var"
    )
}

/// The attributes that this reader uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Attribute {
    Href,
    Src,
    Rel,
    Type,
    Content,
    Name,
    HttpEquiv,
    Alt,
    ShadowRootMode,
    Class,
    Id,
    Role,
}

const ATTRIBUTES: usize = 12;

impl Attribute {
    fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"href" => Some(Self::Href),
            b"src" => Some(Self::Src),
            b"rel" => Some(Self::Rel),
            b"type" => Some(Self::Type),
            b"content" => Some(Self::Content),
            b"name" => Some(Self::Name),
            b"http-equiv" => Some(Self::HttpEquiv),
            b"alt" => Some(Self::Alt),
            b"shadowrootmode" => Some(Self::ShadowRootMode),
            b"class" => Some(Self::Class),
            b"id" => Some(Self::Id),
            b"role" => Some(Self::Role),
            _ => None,
        }
    }
}

/// A name of up to 16 bytes. Longer ones equal no known name and are treated as empty.
#[derive(Clone, Copy, Debug, Default)]
struct ShortName {
    bytes: [u8; 16],
    length: usize,
}

impl ShortName {
    fn push(&mut self, part: &[u8]) {
        let end = self.length.saturating_add(part.len());
        if let Some(room) = self.bytes.get_mut(self.length..end) {
            room.copy_from_slice(part);
        }
        self.length = end;
    }

    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(b"")
    }

    /// A unique number of the name.
    fn number(&self) -> u128 {
        u128::from_le_bytes(self.bytes)
    }
}

/// The attributes of one start tag.
#[derive(Debug, Default)]
struct Attributes {
    name: ShortName,
    /// The current attribute, once its name is complete and known.
    current: Option<Attribute>,
    /// Whether the current name has been looked up.
    is_named: bool,
    present: [bool; ATTRIBUTES],
    values: [Vec<u8>; ATTRIBUTES],
    /// All attributes with their values, if selectors are set that may ask for any.
    all: Option<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Attributes {
    fn clear(&mut self) {
        self.present = [false; ATTRIBUTES];
        self.current = None;
        self.is_named = true;
        if let Some(all) = &mut self.all {
            all.clear();
        }
    }

    fn begin(&mut self) {
        self.settle();
        if let Some(all) = &mut self.all {
            all.push((Vec::new(), Vec::new()));
        }
        self.name = ShortName::default();
        self.current = None;
        self.is_named = false;
    }

    /// Looks up the current name. Of two attributes with one name the first counts.
    fn settle(&mut self) {
        if self.is_named {
            return;
        }
        self.is_named = true;
        self.current =
            Attribute::named(self.name.get()).filter(|attribute| !self.present[*attribute as usize]);
        if let Some(attribute) = self.current {
            self.present[attribute as usize] = true;
            self.values[attribute as usize].clear();
        }
    }

    fn push_name(&mut self, part: &[u8]) {
        self.name.push(part);
        if let Some((name, _)) = self.all.as_mut().and_then(|all| all.last_mut()) {
            name.extend_from_slice(part);
        }
    }

    fn push_value(&mut self, part: &[u8]) {
        self.settle();
        if let Some((_, value)) = self.all.as_mut().and_then(|all| all.last_mut())
            && value.len() < REFERENCE_BYTES_MAX
        {
            value.extend_from_slice(part);
        }
        if let Some(attribute) = self.current {
            let value = &mut self.values[attribute as usize];
            // One byte over the limit is enough for the reference to be refused.
            let room = (REFERENCE_BYTES_MAX + 1).saturating_sub(value.len());
            value.extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    fn get(&self, attribute: Attribute) -> Option<&[u8]> {
        self.present[attribute as usize].then(|| self.values[attribute as usize].as_slice())
    }

    fn text(&self, attribute: Attribute) -> Cow<'_, str> {
        as_text(self.get(attribute).unwrap_or(b""))
    }
}

impl selector::Attributes for Attributes {
    fn value(&self, name: &str) -> Option<&[u8]> {
        let found = |(known, _): &&(Vec<u8>, Vec<u8>)| known == name.as_bytes();
        self.all.as_ref()?.iter().find(found).map(|(_, value)| value.as_slice())
    }
}

/// The state of the parser and what was found so far.
#[derive(Debug)]
struct Reader<'a> {
    is_xml: bool,
    references_max: usize,
    text: TextBuilder,
    open_elements: OpenElements<'a>,
    blocks: Blocks,
    title: Option<TextBuilder>,
    base: Option<String>,
    references: Vec<Reference>,
    references_left_out: usize,
    robots: RobotsMeta,
    has_password: bool,
    written: Vec<u8>,

    name: ShortName,
    /// The name of the last start tag: only its end tag ends raw text.
    last_start: ShortName,
    element: Option<Element>,
    is_end_tag: bool,
    is_self_closing: bool,
    attributes: Attributes,

    /// The destination of text.
    sink: Sink,
    /// The element that hides the text, until its end tag.
    hidden_by: Option<Element>,
    template_depth: u32,
    foreign_depth: u32,
    /// The reference of the open `<a>`.
    open_anchor: Option<usize>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sink {
    Page,
    Title,
    Nowhere,
}

impl<'a> Reader<'a> {
    fn new(is_xml: bool, text: TextBuilder, references_max: usize, open_elements: OpenElements<'a>) -> Self {
        let all = open_elements.has_selectors().then(Vec::new);
        Self {
            is_xml,
            references_max,
            text,
            open_elements,
            blocks: Blocks::default(),
            title: None,
            base: None,
            references: Vec::with_capacity(REFERENCES_USUAL.min(references_max)),
            references_left_out: 0,
            robots: RobotsMeta::default(),
            has_password: false,
            written: Vec::with_capacity(REFERENCES_USUAL * REFERENCE_BYTES_USUAL),
            name: ShortName::default(),
            last_start: ShortName::default(),
            element: None,
            is_end_tag: false,
            is_self_closing: false,
            attributes: Attributes { all, ..Attributes::default() },
            sink: Sink::Page,
            hidden_by: None,
            template_depth: 0,
            foreign_depth: 0,
            open_anchor: None,
        }
    }

    fn finish(mut self) -> Markup {
        self.close_anchor();
        let text = self.text.finish();
        let (blocks, labels) = self.blocks.finish(&text);
        Markup {
            text,
            blocks,
            labels,
            title: self.title.map(TextBuilder::finish).filter(|title| !title.is_empty()),
            base: self.base,
            references: self.references,
            references_left_out: self.references_left_out,
            robots: self.robots,
            has_password: self.has_password,
            written: self.written,
        }
    }

    /// The element of the current tag, looked up once.
    fn current_element(&mut self) -> Element {
        let name = &self.name;
        *self.element.get_or_insert_with(|| Element::named(name.get()))
    }

    /// Pushes the element of the start tag onto the stack of open elements.
    fn enter(&mut self, element: Element) {
        let name = self.name.get();
        if is_void(name) || self.is_self_closing && (self.is_xml || 0 < self.foreign_depth) {
            return;
        }
        let attribute = |attribute| self.attributes.get(attribute).unwrap_or(b"");
        let (id, class, role) =
            (attribute(Attribute::Id), attribute(Attribute::Class), attribute(Attribute::Role));
        let is_inline = !element.separates();
        let tag = Tag { name, number: self.name.number(), is_inline, id, class, role };
        self.open_elements.open(&tag, &self.attributes);
    }

    /// Adds a piece of visible text, and starts a block for it if needed.
    fn push_text(&mut self, characters: &[u8]) {
        let (start, begins_line) = (self.text.len(), self.text.begins_line());
        self.text.push(characters);
        if start < self.text.len() {
            let open_elements = &self.open_elements;
            self.blocks.push(open_elements.place(), start, begins_line, || open_elements.label());
        }
    }

    fn open(&mut self) -> Option<State> {
        let element = self.current_element();
        self.last_start = self.name;
        if 0 < self.foreign_depth && ends_foreign_content(self.name.get()) {
            self.foreign_depth = 0;
        }
        if element.separates() {
            self.text.end_block();
        }
        self.enter(element);
        if self.template_depth == 0 {
            self.note(element);
        }
        let in_foreign = 0 < self.foreign_depth;
        if self.is_self_closing && (self.is_xml || in_foreign || element == Element::Foreign) {
            return None;
        }
        match element {
            // The content of a declared shadow root is visible.
            Element::Template if self.attributes.get(Attribute::ShadowRootMode).is_none() => {
                self.template_depth += 1;
            }
            Element::Foreign => self.foreign_depth += 1,
            _ if element.hides() && self.hidden_by.is_none() => self.hidden_by = Some(element),
            _ => {}
        }
        if element == Element::Title && self.template_depth == 0 && !in_foreign && self.title.is_none() {
            self.title = Some(TextBuilder::new(TITLE_BYTES_MAX));
            self.sink = Sink::Title;
        } else {
            self.choose_sink();
        }
        if in_foreign { None } else { element.content() }
    }

    fn close(&mut self) {
        let element = self.current_element();
        self.open_elements.close(self.name.number());
        if element.separates() {
            self.text.end_block();
        }
        match element {
            Element::Anchor => self.close_anchor(),
            Element::Template => self.template_depth = self.template_depth.saturating_sub(1),
            Element::Foreign => self.foreign_depth = self.foreign_depth.saturating_sub(1),
            _ => {}
        }
        if self.hidden_by == Some(element) {
            self.hidden_by = None;
        }
        self.choose_sink();
    }

    fn choose_sink(&mut self) {
        let is_shown = self.hidden_by.is_none() && self.template_depth == 0;
        self.sink = if is_shown { Sink::Page } else { Sink::Nowhere };
    }

    /// Records the information of a start tag.
    fn note(&mut self, element: Element) {
        match element {
            Element::Anchor => {
                self.close_anchor();
                self.open_anchor = self.refer(ReferenceKind::Anchor, Attribute::Href);
            }
            Element::Area => _ = self.refer(ReferenceKind::Area, Attribute::Href),
            Element::Frame | Element::InlineFrame => _ = self.refer(ReferenceKind::Frame, Attribute::Src),
            Element::Link => self.note_link(),
            Element::Meta => self.note_meta(),
            Element::Base if self.base.is_none() => {
                self.base = self
                    .attributes
                    .get(Attribute::Href)
                    .map(|href| String::from_utf8_lossy(href).into_owned());
            }
            Element::Image => self.note_picture(),
            Element::Input => {
                let kind = self.attributes.get(Attribute::Type).unwrap_or(b"");
                self.has_password |= kind.eq_ignore_ascii_case(b"password");
            }
            _ => {}
        }
    }

    fn note_link(&mut self) {
        let relations = self.attributes.text(Attribute::Rel);
        let media_type = self.attributes.text(Attribute::Type);
        if let Some(kind) = ReferenceKind::of_relations(&relations, &media_type) {
            self.refer(kind, Attribute::Href);
        }
    }

    fn note_meta(&mut self) {
        let content = self.attributes.text(Attribute::Content);
        if RobotsMeta::is_addressed(&self.attributes.text(Attribute::Name)) {
            self.robots.obey(&content);
        } else if self.attributes.text(Attribute::HttpEquiv).trim().eq_ignore_ascii_case("refresh")
            && let Some(target) = refresh_target(&content)
        {
            let target = target.as_bytes().to_vec();
            self.add(ReferenceKind::Refresh, &target, false);
        }
    }

    /// The alternative text of an image serves as the text of an anchor that has none yet.
    fn note_picture(&mut self) {
        let (Some(open), Some(alternative)) = (self.open_anchor, self.attributes.get(Attribute::Alt)) else {
            return;
        };
        let alternative = alternative.trim_ascii();
        if self.references[open].alternative.is_empty() && !alternative.is_empty() {
            let start = self.written.len() as u32;
            self.written.extend_from_slice(alternative);
            self.references[open].alternative = start..self.written.len() as u32;
        }
    }

    /// Records the reference in an attribute of the current tag, if it has the attribute. Returns its index.
    fn refer(&mut self, kind: ReferenceKind, attribute: Attribute) -> Option<usize> {
        let relations = self.attributes.get(Attribute::Rel).unwrap_or(b"");
        let nofollow =
            relations.split(u8::is_ascii_whitespace).any(|word| word.eq_ignore_ascii_case(b"nofollow"));
        self.attributes.get(attribute)?;
        let target = std::mem::take(&mut self.attributes.values[attribute as usize]);
        let added = self.add(kind, &target, nofollow);
        self.attributes.values[attribute as usize] = target;
        added
    }

    fn add(&mut self, kind: ReferenceKind, target: &[u8], nofollow: bool) -> Option<usize> {
        if self.references_max <= self.references.len() {
            self.references_left_out += 1;
            return None;
        }
        let start = self.written.len() as u32;
        self.written.extend_from_slice(target);
        let end = self.written.len() as u32;
        let place = self.text.len() as u32;
        self.references.push(Reference {
            kind,
            nofollow,
            target: start..end,
            anchor: place..place,
            alternative: end..end,
        });
        Some(self.references.len() - 1)
    }

    fn close_anchor(&mut self) {
        if let Some(open) = self.open_anchor.take() {
            self.references[open].anchor.end = self.text.len() as u32;
        }
    }
}

/// The URL of a refresh (HTML standard, "shared declarative refresh steps"); none if the page only reloads
/// itself.
fn refresh_target(content: &str) -> Option<&str> {
    let after_time = content
        .trim_ascii_start()
        .trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let mut rest = after_time.trim_ascii_start();
    rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    if rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("url"))
        && let Some(value) = rest[3..].trim_ascii_start().strip_prefix('=')
    {
        rest = value.trim_ascii_start();
    }
    let target = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next().unwrap_or(""),
        _ => rest,
    };
    Some(target).filter(|target| !target.is_empty())
}

/// A borrowed emitter, because the tokenizer owns its emitter.
struct Borrowed<'a, 'b>(&'a mut Reader<'b>);

impl Emitter for Borrowed<'_, '_> {
    type Token = Infallible;

    fn set_last_start_tag(&mut self, last_start_tag: Option<&[u8]>) {
        self.0.last_start = ShortName::default();
        self.0.last_start.push(last_start_tag.unwrap_or(b""));
    }

    fn emit_eof(&mut self) {}

    fn emit_error(&mut self, _: Error) {}

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_string(&mut self, characters: &[u8]) {
        let reader = &mut *self.0;
        match (reader.sink, &mut reader.title) {
            (Sink::Page, _) => reader.push_text(characters),
            (Sink::Title, Some(title)) => title.push(characters),
            _ => {}
        }
    }

    fn init_start_tag(&mut self) {
        self.0.name = ShortName::default();
        self.0.element = None;
        self.0.is_end_tag = false;
        self.0.is_self_closing = false;
        self.0.attributes.clear();
    }

    fn init_end_tag(&mut self) {
        self.0.name = ShortName::default();
        self.0.element = None;
        self.0.is_end_tag = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        if self.0.is_end_tag {
            self.0.close();
            return None;
        }
        self.0.attributes.settle();
        self.0.open()
    }

    fn set_self_closing(&mut self) {
        self.0.is_self_closing = true;
    }

    fn push_tag_name(&mut self, part: &[u8]) {
        self.0.name.push(part);
    }

    fn init_attribute(&mut self) {
        if !self.0.is_end_tag {
            self.0.attributes.begin();
        }
    }

    fn push_attribute_name(&mut self, part: &[u8]) {
        if !self.0.is_end_tag {
            self.0.attributes.push_name(part);
        }
    }

    fn push_attribute_value(&mut self, part: &[u8]) {
        if !self.0.is_end_tag {
            self.0.attributes.push_value(part);
        }
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        let name = self.0.name.get();
        self.0.is_end_tag && !name.is_empty() && name == self.0.last_start.get()
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.0.is_xml || 0 < self.0.foreign_depth
    }

    // Comments and document types are ignored.
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use scraper::{Html, Selector};

    use super::*;

    fn read(document: &str) -> Markup {
        Markup::read(document, false, 10_000, 1_000)
    }

    #[track_caller]
    fn check_text(document: &str, expected: &str) {
        assert_eq!(read(document).text, expected, "{document}");
    }

    #[test]
    fn only_what_a_reader_sees_is_text() {
        check_text("<html><head><title>no</title><style>no</style></head><body>yes</body>", "yes");
        check_text("a<script>if (1 < 2) { '</p>' }</script>b", "ab");
        check_text("<script><!-- <script>no</script> --></script>yes", "yes");
        check_text("a<!-- no -->b<![CDATA[no]]>c", "abc");
        check_text("<template>no<template>no</template>no</template>yes", "yes");
        check_text("<template shadowrootmode=open>yes</template>", "yes");
        check_text("<noscript>yes</noscript>", "yes");
        check_text("<iframe><p>no</p></iframe>yes", "yes");
        check_text("<textarea>yes <b>too</b></textarea>", "yes <b>too</b>");
        check_text("<xmp><b>x</b></xmp>", "<b>x</b>");
        check_text("a<plaintext><b>", "a\n<b>");
    }

    #[test]
    fn blocks_separate_words_and_phrases_do_not() {
        check_text("<p>a<b>b</b>c<p>d", "abc\nd");
        check_text("a<br>b<td>c<li>d", "a\nb\nc\nd");
        check_text("<ul><li>a</li> <li>b</li></ul>", "a\nb");
        check_text("  a \n <i> b </i> c", "a b c");
    }

    #[test]
    fn entities_are_decoded() {
        check_text(
            "a&amp;b&lt;&#252;&#xDF;&nbsp;&copy&notit;&unknown;",
            "a&b<\u{fc}\u{df} \u{a9}\u{ac}it;&unknown;",
        );
    }

    #[test]
    fn foreign_content_follows_other_rules() {
        check_text("<svg><title>no</title><text>a</text><style>no</style></svg>b", "a\nb");
        check_text("<svg><![CDATA[a<b]]></svg>", "a<b");
        check_text("<svg><script/>a</svg>", "a");
        check_text("<svg/><title>no</title>b", "b");
        check_text("<svg><p>a<script>no</script>b", "ab");
        assert_eq!(read("<svg><title>x</title></svg><title>y</title>").title.as_deref(), Some("y"));
    }

    #[test]
    fn the_first_title_is_the_title() {
        assert_eq!(read("<title> a &amp;\n b</title><title>c</title>").title.as_deref(), Some("a & b"));
        assert_eq!(read("<title></title>").title, None);
        assert_eq!(read("<TITLE>a<b>c</b></TITLE>").title.as_deref(), Some("a<b>c</b>"));
        assert_eq!(read("<p>none").title, None);
    }

    #[test]
    fn xhtml_ends_what_it_closes() {
        let document = "<?xml version='1.0'?><html><head><script \
            src='x'/><title/></head><body>a<![CDATA[<b>]]></body></html>";
        assert_eq!(Markup::read(document, true, 100, 10).text, "a<b>");
    }

    #[test]
    fn a_refresh_names_a_page_in_many_ways() {
        for (content, expected) in [
            ("5; url=/a", Some("/a")),
            ("0;URL='/a b'x", Some("/a b")),
            (" 1.5 , /a", Some("/a")),
            ("0; url = \"/a", Some("/a")),
            ("0;url", Some("url")),
            ("5", None),
            ("", None),
            ("0; url=''", None),
        ] {
            assert_eq!(refresh_target(content), expected, "{content}");
        }
    }

    #[test]
    fn relations_make_a_link_what_it_is() {
        for (relations, media_type, expected) in [
            ("canonical", "", Some(ReferenceKind::Canonical)),
            ("ALTERNATE", "application/RSS+xml; x", Some(ReferenceKind::Feed)),
            ("alternate", "", Some(ReferenceKind::Alternate)),
            ("alternate stylesheet", "text/css", None),
            ("prev", "", Some(ReferenceKind::Previous)),
            ("start next", "", Some(ReferenceKind::Next)),
            ("icon", "", None),
        ] {
            assert_eq!(ReferenceKind::of_relations(relations, media_type), expected, "{relations}");
        }
    }

    /// The distinct references of a document by a full tree, in document order. Building a tree may double an
    /// open `<a>`.
    fn by_a_tree(document: &str) -> Vec<String> {
        let selector = Selector::parse("a[href], area[href], iframe[src], frame[src]").unwrap();
        let tree = Html::parse_document(document);
        let attribute = |element: scraper::ElementRef<'_>| {
            let name = if element.value().name().contains("frame") { "src" } else { "href" };
            element.attr(name).unwrap_or_default().to_owned()
        };
        distinct(tree.select(&selector).map(attribute))
    }

    fn by_tokens(document: &str) -> Vec<String> {
        let markup = read(document);
        let is_body = |reference: &&Reference| {
            matches!(reference.kind, ReferenceKind::Anchor | ReferenceKind::Area | ReferenceKind::Frame)
        };
        let references = markup.references.iter().filter(is_body);
        distinct(references.map(|reference| markup.target(reference).into_owned()))
    }

    fn distinct(references: impl Iterator<Item = String>) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        references.filter(|reference| seen.insert(reference.clone())).collect()
    }

    #[test]
    fn bad_documents_have_the_references_of_a_full_tree() {
        for document in [
            "<a href=x>",
            "<A HREF=x>y</A><a hReF='z'>",
            "<a href=a href=b>",
            "<a href='a&amp;b&lt;'>&copy;",
            "<a href=\"un closed>text</a><a href=b>",
            "<a href=x<a href=y>",
            "<a/href=x><a\nhref=y>",
            "<a href = x >< a href=y>",
            "<!-- <a href=x> --><a href=y>",
            "<!-- > <a href=x> --!><a href=y>",
            "<!--><a href=y>",
            "<script>'<a href=x>'</script><a href=y>",
            "<script><!--<script></script><a href=x>--></script><a href=y>",
            "<style><a href=x></style><a href=y>",
            "<title><a href=x></title><a href=y>",
            "<textarea><a href=x></textarea><a href=y>",
            "<iframe src=f><a href=x></iframe><a href=y>",
            "<noembed><a href=x></noembed><a href=y>",
            "<noframes><a href=x></noframes><a href=y>",
            "<xmp><a href=x></xmp><a href=y>",
            "<plaintext><a href=x>",
            "<![CDATA[<a href=x>]]><a href=y>",
            "<svg><![CDATA[<a href=x>]]><a href=y></a></svg><a href=z>",
            "<svg><style><a href=x></a></style></svg><a href=y>",
            "<map><area href=x></map><p><a>no</a></p><a href>",
            "<?php <a href=x> ?><a href=y>",
            "</a href=x><a href=y>",
            "<a href='x\ny'><a href=\"\0\">",
            "<b><a href=x><div><a href=y></b></a>",
            "<table><a href=x><tr><td><a href=y>",
        ] {
            assert_eq!(by_tokens(document), by_a_tree(document), "{document}");
        }
    }

    fn tag_soup() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            (0..30u8).prop_map(|page| format!("<a href={page}>")),
            (0..30u8).prop_map(|page| format!("<A class=x HREF='{page}&amp;x'>")),
            (0..30u8).prop_map(|page| format!("<area href=\"{page}\"/>")),
            (0..30u8).prop_map(|page| format!("<iframe src={page}></iframe>")),
            prop_oneof![
                Just("</a>"),
                Just("<p>"),
                Just("</p>"),
                Just("<b>"),
                Just("<div x=\">\">"),
                Just("</div>"),
                Just("<!-- "),
                Just("-->"),
                Just("<script>"),
                Just("</script>"),
                Just("<style>"),
                Just("</style>"),
                Just("<textarea>"),
                Just("</textarea>"),
                Just("text"),
                Just("&lt;"),
                Just("<"),
                Just(">"),
                Just("<br/>"),
                Just("<img alt='<a href=no>'>"),
                Just("<h1>"),
                Just("</"),
                Just("<ul><li>"),
            ]
            .prop_map(str::to_owned),
        ];
        proptest::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn tag_soup_has_the_references_of_a_full_tree(document in tag_soup()) {
            prop_assert_eq!(by_tokens(&document), by_a_tree(&document));
        }

        #[test]
        fn any_text_is_read_within_its_limits(document in any::<String>(), is_xml: bool) {
            let markup = Markup::read(&document, is_xml, 20, 2);
            prop_assert!(markup.text.len() <= 20 && markup.references.len() <= 2);
            for reference in &markup.references {
                markup.target(reference);
                markup.anchor(reference);
            }
        }
    }
}
