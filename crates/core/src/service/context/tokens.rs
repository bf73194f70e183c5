//! How tokens are counted.
//!
//! No tokenizer of a model is built in; the count is an estimate that is meant to be high. Of ASCII letters and
//! digits that stand together each three begun are one token. A blank between words is free, every further
//! character of white space is one. Any other ASCII character is one. Any other character is one less than it
//! has bytes in UTF-8.

/// The count of a text.
pub(super) fn count(text: &str) -> usize {
    let (mut tokens, mut together, mut blank_before) = (0, 0_usize, false);
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            together += 1;
            blank_before = false;
            continue;
        }
        tokens += together.div_ceil(3);
        together = 0;
        tokens += match character {
            ' ' if !blank_before => 0,
            _ if character.is_ascii() => 1,
            _ => character.len_utf8() - 1,
        };
        blank_before = character == ' ';
    }
    tokens + together.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn texts_and_their_counts() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("abc", 1),
            ("abcd", 2),
            ("abc abc", 2),
            ("abc  abc", 3),
            ("a\nb", 3),
            ("{\"a\":1}", 7),
            ("é", 1),
            ("語", 2),
            ("🫙", 3),
        ] {
            assert_eq!(count(text), tokens, "{text:?}");
        }
    }
}
