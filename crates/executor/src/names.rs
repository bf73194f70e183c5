//! Names as types: made by parsing, so that a checked name needs no second check.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_normalization::is_nfc;

/// A text that is not a name of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {rule}")]
pub struct InvalidName {
    what: &'static str,
    rule: &'static str,
}

impl InvalidName {
    /// The rule that was broken, in words.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        self.rule
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            #[doc = concat!("Reads ", $what, ".")]
            ///
            /// # Errors
            /// [`InvalidName`] with the rule that is broken.
            pub fn parse(text: &str) -> Result<Self, InvalidName> {
                let check: fn(&str) -> Result<(), &'static str> = $check;
                check(text).map_err(|rule| InvalidName { what: $what, rule })?;
                Ok(Self(text.into()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, formatter)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

name!(
    /// The isolation boundary; every row belongs to one tenant.
    TenantId, "a tenant id", |text| bounded_identifier(text, 64)
);
name!(
    /// A skill's name in the Agent Skills format: 1–64 characters of `a-z0-9-`, no leading, trailing or
    /// double hyphen.
    SkillName, "a skill name", skill_name
);
name!(
    /// A path inside a skill, with `/` between its parts: relative, no `.` or `..`, no backslash, no
    /// control character, in Unicode form C, at most 16 parts deep and 1,024 bytes long.
    LogicalPath, "a path", logical_path
);
name!(
    /// What a script is called: a plain file name for a stored script, its path inside the skill folder
    /// for a file script. A file script's name must be checked before it is used as a file name; this
    /// type is that check.
    ScriptName, "a script name", logical_path
);
name!(
    /// The run that called the script, as the caller names it: opaque, 1–128 characters.
    RunId, "a run id", |text| {
        let length = text.chars().count();
        if length == 0 || length > 128 {
            Err("has 1 to 128 characters")
        } else if text.chars().any(char::is_control) {
            Err("has no control character")
        } else {
            Ok(())
        }
    }
);
name!(
    /// The id of one execution.
    ExecutionId, "an execution id", |text| bounded_identifier(text, 64)
);
name!(
    /// The key of a script's language: lower case, no dot, such as `py` or `sh`.
    LanguageKey, "a language key", |text| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if text.is_empty() || text.len() > 16 || !text.chars().all(plain) {
            Err("has 1 to 16 characters of a-z and 0-9, without the dot")
        } else {
            Ok(())
        }
    }
);
name!(
    /// The name of a runtime that an executor knows, such as `python` or `python-3.12`.
    RuntimeName, "a runtime name", |text| bounded_identifier(text, 64)
);
name!(
    /// The name of a set of resource limits.
    LimitsClass, "a limits class", |text| bounded_identifier(text, 64)
);

impl ScriptName {
    /// Whether it is a plain file name, as a stored script's must be.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.0.contains(['/', ':'])
    }
}

impl LogicalPath {
    /// The last part.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Everything before the last part; empty at the top.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The part after the last dot of the file name, lower case; `None` without one.
    #[must_use]
    pub fn extension(&self) -> Option<String> {
        let (stem, extension) = self.file_name().rsplit_once('.')?;
        (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_lowercase())
    }
}

/// The value of the interpreter allow-list for a language.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interpreter {
    /// A runtime name that the executor must know.
    Runtime(RuntimeName),
    /// An absolute interpreter path where the script runs.
    Path(Box<str>),
}

impl Interpreter {
    /// Reads an allow-list value: one with a `/` is a path, any other a runtime name.
    ///
    /// # Errors
    /// [`InvalidName`] when it is neither.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        if !text.contains('/') {
            return RuntimeName::parse(text).map(Self::Runtime);
        }
        let relative = text.strip_prefix('/').and_then(|rest| logical_path(rest).ok());
        relative
            .map(|()| Self::Path(text.into()))
            .ok_or(InvalidName { what: "an interpreter path", rule: "is absolute, without `.` or `..`" })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Runtime(name) => name.as_str(),
            Self::Path(path) => path,
        }
    }
}

impl fmt::Display for Interpreter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Interpreter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

fn bounded_identifier(text: &str, longest: usize) -> Result<(), &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.len() > longest || !text.chars().all(plain) {
        Err("has 1 to 64 characters of a-z, A-Z, 0-9, `-`, `_` and `.`")
    } else {
        Ok(())
    }
}

fn skill_name(text: &str) -> Result<(), &'static str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > 64 || !text.chars().all(plain) {
        return Err("has 1 to 64 characters of a-z, 0-9 and `-`");
    }
    if text.starts_with('-') || text.ends_with('-') || text.contains("--") {
        return Err("has no leading, trailing or double hyphen");
    }
    Ok(())
}

fn logical_path(text: &str) -> Result<(), &'static str> {
    if text.is_empty() || text.len() > 1024 {
        return Err("has 1 to 1,024 bytes");
    }
    if text.starts_with('/') {
        return Err("is relative");
    }
    if text.contains('\\') {
        return Err("has no backslash");
    }
    if text.chars().any(char::is_control) {
        return Err("has no control character");
    }
    if !is_nfc(text) {
        return Err("is in Unicode normal form C");
    }
    let parts = text.split('/');
    if parts.clone().count() > 16 {
        return Err("is at most 16 folders deep");
    }
    for part in parts {
        match part {
            "" => return Err("has no empty part"),
            "." | ".." => return Err("has no `.` or `..` part"),
            _ if part.len() > 255 => return Err("has parts of at most 255 bytes"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_skill_are_refused() {
        for text in ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a\\b", "a\0b", "a\nb", "e\u{301}.py"] {
            assert!(LogicalPath::parse(text).is_err(), "{text:?}");
        }
        for text in ["SKILL.md", "scripts/check.py", "assets/é.txt", "a b/c"] {
            assert!(LogicalPath::parse(text).is_ok(), "{text:?}");
        }
        assert!(LogicalPath::parse(&["d"; 16].join("/")).is_ok());
        assert!(LogicalPath::parse(&["d"; 17].join("/")).is_err());
    }

    #[test]
    fn skill_names_follow_the_format() {
        for text in ["a", "csv-profile", "x2"] {
            assert!(SkillName::parse(text).is_ok(), "{text}");
        }
        for text in ["", "A", "-a", "a-", "a--b", "a_b", "ä"] {
            assert!(SkillName::parse(text).is_err(), "{text}");
        }
        assert!(SkillName::parse(&"a".repeat(65)).is_err());
    }

    #[test]
    fn an_interpreter_is_a_runtime_or_an_absolute_path() {
        assert!(matches!(Interpreter::parse("python-3.12"), Ok(Interpreter::Runtime(_))));
        assert!(matches!(Interpreter::parse("/usr/bin/python3"), Ok(Interpreter::Path(_))));
        for text in ["", "bin/python3", "/usr/../x", "python 3"] {
            assert!(Interpreter::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn extensions_are_lower_case_and_need_a_stem() {
        let extension = |text| LogicalPath::parse(text).unwrap().extension();
        assert_eq!(extension("scripts/Check.PY").as_deref(), Some("py"));
        assert_eq!(extension("a.b/Makefile"), None);
        assert_eq!(extension(".env"), None);
    }
}
