//! The output cap: how many UTF-8 bytes of a stream are kept, and where it is cut.

use serde::Serialize;

/// One captured stream: valid UTF-8 of at most the cap, and whether anything was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    /// The text kept.
    pub text: String,
    /// Whether something was cut. Exactly the cap is not truncation.
    pub truncated: bool,
}

impl Captured {
    /// Cuts again at `cap`, never adding anything.
    #[must_use]
    pub fn capped(self, cap: usize) -> Self {
        let again = cap_text(self.text, cap);
        Self { truncated: self.truncated || again.truncated, text: again.text }
    }
}

/// Cuts text at `cap` bytes, back to a character boundary.
#[must_use]
pub fn cap_text(mut text: String, cap: usize) -> Captured {
    if text.len() <= cap {
        return Captured { text, truncated: false };
    }
    text.truncate(text.floor_char_boundary(cap));
    Captured { text, truncated: true }
}

/// Turns the first bytes of a stream into text of at most `cap` bytes.
///
/// `head` is what was kept, `total` how many bytes the stream had in all. A character cut by the cap is
/// dropped; other invalid bytes become U+FFFD, counted after the conversion.
#[must_use]
pub fn cap_bytes(head: &[u8], total: u64, cap: usize) -> Captured {
    let kept = &head[..head.len().min(cap)];
    let cut = total > kept.len() as u64;
    let whole = if cut { &kept[..kept.len() - incomplete_tail(kept)] } else { kept };
    let capped = cap_text(String::from_utf8_lossy(whole).into_owned(), cap);
    Captured { truncated: cut || capped.truncated, text: capped.text }
}

/// Bytes at the end that begin a character and do not finish it.
fn incomplete_tail(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(chunk) if !chunk.invalid().is_empty() => {
            let tail = chunk.invalid();
            let needed = match tail[0] {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => return 0,
            };
            if tail.len() < needed { tail.len() } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exactly_the_cap_is_not_truncation() {
        assert_eq!(cap_bytes(b"abc", 3, 3), Captured { text: "abc".into(), truncated: false });
        assert_eq!(cap_bytes(b"abc", 4, 3), Captured { text: "abc".into(), truncated: true });
        assert_eq!(cap_bytes(b"ab", 2, 3), Captured { text: "ab".into(), truncated: false });
    }

    #[test]
    fn a_cut_character_is_dropped_not_replaced() {
        let text = "aa\u{1F600}".as_bytes();
        for cap in 3..6 {
            let captured = cap_bytes(&text[..cap], text.len() as u64, cap);
            assert_eq!(captured, Captured { text: "aa".into(), truncated: true });
        }
    }

    #[test]
    fn a_character_the_script_left_unfinished_is_replaced() {
        assert_eq!(cap_bytes(b"tail\xE2\x82", 6, 100).text, "tail\u{FFFD}");
    }

    #[test]
    fn replacement_is_measured_after_conversion() {
        let captured = cap_bytes(&[0xFF; 10], 10, 10);
        assert_eq!(captured, Captured { text: "\u{FFFD}".repeat(3), truncated: true });
    }

    proptest! {
        #[test]
        fn never_over_the_cap_and_never_longer_than_the_input(bytes: Vec<u8>, extra in 0_u64..3, cap in 0_usize..64) {
            let captured = cap_bytes(&bytes, bytes.len() as u64 + extra, cap);
            prop_assert!(captured.text.len() <= cap);
            prop_assert_eq!(captured.truncated, bytes.len() as u64 + extra > cap as u64
                || String::from_utf8_lossy(&bytes).len() > cap || extra > 0);
        }

        #[test]
        fn text_is_a_prefix(text: String, cap in 0_usize..64) {
            let captured = cap_text(text.clone(), cap);
            prop_assert!(text.starts_with(&captured.text));
            prop_assert_eq!(captured.truncated, text.len() > cap);
        }
    }
}
