//! Generates random text: words, sentences, names.
//!
//! # Promises
//! - The text is a function of its random stream only.

use std::sync::LazyLock;

use super::chance::Chance;

/// The vocabulary. Earlier words are more frequent, so that texts differ in their rare words.
const VOCABULARY: &str = "the of a and to in is for with on by from that at as when this are each one water \
                          river page day time field light stone house road north valley harbour market \
                          winter summer bridge garden forest island mountain village station morning evening \
                          season weather measure record number letter paper reader writer journey machine \
                          engine signal current channel surface layer border corner circle square pattern \
                          colour shadow window table kitchen bread butter salt honey orchard apple cherry \
                          willow maple cedar heron falcon sparrow salmon otter badger copper silver iron \
                          timber cotton linen leather basket barrel ladder hammer anchor compass lantern \
                          mirror marble granite gravel meadow pasture harvest granary mill canal lock weir \
                          spring stream delta lagoon estuary glacier ridge summit plateau canyon prairie \
                          tundra desert oasis caravan convoy vessel ferry schooner rudder beacon lighthouse \
                          pier quay dock crane cargo ledger archive library museum gallery theatre concert \
                          choir organ violin trumpet drum rhythm melody verse ballad chronicle almanac atlas \
                          globe telescope prism lens orbit comet meteor eclipse equinox solstice calendar \
                          hour minute second moment interval century decade epoch origin source method \
                          theory proof theorem lemma axiom formula figure diagram column margin index volume \
                          chapter section passage sentence grammar dialect accent rumour report bulletin \
                          notice decree treaty charter council parliament minister mayor clerk judge witness \
                          verdict tariff budget harvester tractor plough furrow seedling fertile barren \
                          ancient modern gentle rapid silent distant narrow broad hollow steady brittle \
                          supple radiant sombre frozen molten vivid faint curious patient careful restless \
                          familiar foreign common scarce ample modest grand humble proud quiet loud early \
                          late often seldom always never above below beyond between against toward without \
                          within carries holds turns rises falls gathers divides returns follows crosses \
                          measures";

/// The words of the vocabulary.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| VOCABULARY.split(' ').collect());

/// Index of the first noun of the vocabulary. The words before it are function words.
const FIRST_THING: u32 = 20;

/// A random word, with frequent ones more likely.
fn word(chance: &mut Chance) -> &'static str {
    let unit = chance.unit();
    WORDS[(unit * unit * WORDS.len() as f64) as usize]
}

/// A random word that can name something.
pub(super) fn thing(chance: &mut Chance) -> &'static str {
    WORDS[(FIRST_THING + chance.below(WORDS.len() as u32 - FIRST_THING)) as usize]
}

/// Appends sentences of this many words.
pub(super) fn push_prose(text: &mut String, words: u32, chance: &mut Chance) {
    let mut left = words;
    while left > 0 {
        let length = (6 + chance.below(12)).min(left);
        push_capitalised(text, word(chance));
        for _ in 1..length {
            text.push(' ');
            text.push_str(word(chance));
        }
        left -= length;
        text.push_str(if left > 0 { ". " } else { "." });
    }
}

/// Appends a title of this many words: `Copper Lantern Delta`.
pub(super) fn push_title(text: &mut String, things: u32, chance: &mut Chance) {
    for number in 0..things {
        if number > 0 {
            text.push(' ');
        }
        push_capitalised(text, thing(chance));
    }
}

/// Appends a word with its first letter in upper case.
pub(super) fn push_capitalised(text: &mut String, word: &str) {
    let mut letters = word.chars();
    if let Some(first) = letters.next() {
        text.push(first.to_ascii_uppercase());
        text.push_str(letters.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::super::chance::Subject;
    use super::*;

    #[test]
    fn prose_has_its_words_and_is_that_of_its_stream() {
        let prose = |which| {
            let mut text = String::new();
            push_prose(&mut text, 50, &mut Chance::of(1, Subject::Paragraph, which, 0));
            text
        };
        assert_eq!(prose(1).split_whitespace().count(), 50);
        assert!(prose(1).ends_with('.'));
        assert_eq!(prose(1), prose(1));
        assert_ne!(prose(1), prose(2));
    }
}
