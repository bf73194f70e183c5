//! Text that somebody else wrote, as it may be shown to a person.

/// The text with everything that a terminal would obey, or that does not show, as an escape.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push_visible(&mut shown, character));
    shown
}

/// Appends one character as it may be shown.
pub(crate) fn push_visible(shown: &mut String, character: char) {
    if character.is_control() || is_hidden(character) {
        shown.extend(character.escape_default());
    } else {
        shown.push(character);
    }
}

/// Characters that turn the direction of writing, break a line, join, or take no place: with them a name
/// can look like another. Unicode's categories Zl, Zp and Cf, and its fillers.
const fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("a\u{1b}[2Jb\u{202e}c\n\u{9b}"), "a\\u{1b}[2Jb\\u{202e}c\\n\\u{9b}");
        assert_eq!(visible("é 中 \\ \" ' 🙂"), "é 中 \\ \" ' 🙂");
    }

    #[test]
    fn what_takes_no_place_is_shown() {
        for hidden in ['\u{61c}', '\u{200b}', '\u{200d}', '\u{2028}', '\u{2029}', '\u{2060}', '\u{feff}', '\u{e0041}'] {
            assert!(visible(&format!("a{hidden}b")).is_ascii(), "{hidden:?}");
        }
    }
}
