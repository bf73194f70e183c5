//! SHA-256 digests and their two spellings.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest. Displayed in upper-case hexadecimal, read in either case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Length in hexadecimal digits.
    pub const HEX_LENGTH: usize = 64;

    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest that was computed elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads exactly 64 hexadecimal digits, in either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != Self::HEX_LENGTH {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (nibble(pair[0])? << 4) | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// Lower-case hexadecimal, as audit hashes and manifests spell it.
    #[must_use]
    pub fn lower_hex(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02X}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected 64 hexadecimal digits"))
    }
}

/// Hashes a domain constant and length-prefixed fields (`<byte count>:<value>`), so that text cannot
/// move from one field to its neighbour without changing the digest.
#[derive(Clone, Debug)]
pub struct FieldHasher(Sha256);

impl FieldHasher {
    /// Starts with the versioned domain constant, which keeps digests of different things apart.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(domain.as_bytes());
        Self(hasher)
    }

    /// Adds one field.
    #[must_use]
    pub fn field(mut self, value: &[u8]) -> Self {
        self.0.update(value.len().to_string().as_bytes());
        self.0.update(b":");
        self.0.update(value);
        self
    }

    /// The digest of all fields.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_digest_is_the_published_one() {
        assert_eq!(
            Digest::of(b"echo hello").to_string(),
            "584A331FD6B02DCB1ECBE2EBA731F609A2E1E3DAC0BB73AE998DFAD14C309A77"
        );
    }

    #[test]
    fn reads_both_cases_and_nothing_else() {
        let digest = Digest::of(b"x");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse(&digest.lower_hex()), Some(digest));
        assert_eq!(Digest::parse(&digest.to_string()[1..]), None);
        assert_eq!(Digest::parse(&"g".repeat(64)), None);
    }

    #[test]
    fn text_cannot_cross_a_field_boundary() {
        let one = FieldHasher::new("d").field(b"ab").field(b"c").finish();
        let other = FieldHasher::new("d").field(b"a").field(b"bc").finish();
        assert_ne!(one, other);
    }
}
