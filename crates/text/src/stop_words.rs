//! Stop words: words that occur in every text of a language and say nothing about its subject.

use crate::language::Language;

/// Whether a word, in lower case, is a stop word.
pub(crate) fn is_stop_word(language: Language, word: &str) -> bool {
    list(language).binary_search(&word).is_ok()
}

/// The stop words of a language, sorted.
pub(crate) fn list(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
        Language::French => FRENCH,
        Language::Spanish => SPANISH,
    }
}

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from", "had", "has", "have",
    "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "like",
    "may", "me", "more", "most", "my", "no", "not", "of", "on", "only", "or", "other", "our", "out", "over",
    "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "under", "up", "very", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "will", "with", "would", "you", "your",
];

#[rustfmt::skip]
const GERMAN: &[&str] = &[
    "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "bin", "bis", "da", "das", "dass", "dem", "den",
    "der", "des", "die", "doch", "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es",
    "für", "haben", "hat", "ich", "ihr", "im", "in", "ist", "kann", "man", "mit", "nach", "nicht", "noch",
    "nur", "oder", "ohne", "sein", "sich", "sie", "sind", "so", "um", "und", "uns", "unter", "vom", "von",
    "vor", "war", "was", "wenn", "werden", "wie", "wir", "wird", "zu", "zum", "zur", "über",
];

#[rustfmt::skip]
const FRENCH: &[&str] = &[
    "au", "aux", "avec", "c'est", "ce", "ces", "cette", "comme", "d'un", "d'une", "dans", "de", "des", "du",
    "elle", "en", "est", "et", "il", "ils", "je", "la", "le", "les", "leur", "lui", "mais", "ne", "nous",
    "on", "ou", "où", "par", "pas", "plus", "pour", "qu'il", "que", "qui", "sa", "sans", "se", "ses", "son",
    "sont", "sur", "un", "une", "vous", "à", "été", "être",
];

#[rustfmt::skip]
const SPANISH: &[&str] = &[
    "a", "al", "como", "con", "de", "del", "desde", "el", "ella", "ellos", "en", "entre", "es", "esta",
    "este", "esto", "está", "fue", "ha", "han", "hay", "la", "las", "le", "les", "lo", "los", "me", "mi",
    "muy", "más", "no", "nos", "o", "para", "pero", "por", "que", "se", "ser", "si", "sin", "sobre", "son",
    "su", "sus", "también", "un", "una", "y", "ya",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_sorted_and_found() {
        for language in Language::ALL {
            assert!(list(language).is_sorted_by(|a, b| a < b), "{language:?}");
            assert!(list(language).iter().all(|word| is_stop_word(language, word)));
        }
        assert!(!is_stop_word(Language::English, "saturn"));
    }
}
