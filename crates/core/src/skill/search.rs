//! What is searched for, and what was found.

use crate::ids::RevisionId;
use crate::time::Timestamp;

use super::Skill;

/// How many words count, and how many characters of each.
const MOST_WORDS: usize = 32;
const LONGEST_WORD: usize = 64;

/// The words of a query: letters and digits, in lower case, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery(Vec<String>);

impl SearchQuery {
    /// The words of a text; `None` when it has none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        for word in text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word: String = word.to_lowercase().chars().take(LONGEST_WORD).collect();
            if !words.contains(&word) {
                words.push(word);
            }
            if words.len() == MOST_WORDS {
                break;
            }
        }
        (!words.is_empty()).then_some(Self(words))
    }

    /// The words. There is at least one.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// How many of the words begin a word of this text.
    #[must_use]
    pub fn matches_in(&self, text: &str) -> usize {
        let text = text.to_lowercase();
        let found: Vec<&str> = text.split(|character: char| !character.is_alphanumeric()).collect();
        self.0.iter().filter(|word| found.iter().any(|found| found.starts_with(word.as_str()))).count()
    }
}

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSkill {
    /// The skill.
    pub skill: Skill,
    /// Its current revision: the published one, else the latest.
    pub revision: RevisionId,
    /// How many of its runs have ended.
    pub runs: u64,
    /// How many of them ended well.
    pub succeeded: u64,
    /// When the latest of them began.
    pub last_run_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_and_digits_only() {
        let words = |text: &str| SearchQuery::parse(text).map(|query| query.0);
        assert_eq!(
            words("Deploy, deploy! to-staging \"2\" NEAR(a)"),
            Some(vec!["deploy".into(), "to".into(), "staging".into(), "2".into(), "near".into(), "a".into(),])
        );
        assert_eq!(words("  *** \"\" "), None);
        assert_eq!(words(&"word ".repeat(50)).unwrap().len(), 1);
        let many: String = (0..100).map(|number| format!("w{number} ")).collect();
        assert_eq!(words(&many).unwrap().len(), MOST_WORDS);
        assert_eq!(words(&"ä".repeat(100)).unwrap()[0].chars().count(), LONGEST_WORD);
    }

    #[test]
    fn a_word_matches_as_a_beginning() {
        let query = SearchQuery::parse("deploy check").unwrap();
        assert_eq!(query.matches_in("Checks a DEPLOYMENT"), 2);
        assert_eq!(query.matches_in("a redeployment"), 0);
    }
}
