//! Component types, and the type a path has unless it is declared.

use std::fmt;

use belljar_executor::{Digest, LogicalPath};
use serde::{Deserialize, Serialize};

use super::language::{language_of, language_of_extension};

/// What a file of a skill is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComponentType {
    /// Can be executed.
    Script,
    /// Read by the model when needed.
    Reference,
    /// Shows how.
    Example,
    /// To be filled in.
    Template,
    /// Other text.
    Document,
    /// Binary.
    Artifact,
}

impl ComponentType {
    /// The word used in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Reference => "reference",
            Self::Example => "example",
            Self::Template => "template",
            Self::Document => "document",
            Self::Artifact => "artifact",
        }
    }

    /// The type of a file by its path and content, independent of any host's configuration.
    #[must_use]
    pub fn of(path: &LogicalPath, bytes: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else { return Self::Artifact };
        match path.as_str().split_once('/').map(|(top, _)| top) {
            Some("scripts") if is_script(path, text) => Self::Script,
            Some("references") => Self::Reference,
            Some("examples") => Self::Example,
            Some("templates") => Self::Template,
            Some("assets") if has_template_suffix(path) => Self::Template,
            _ => Self::Document,
        }
    }
}

fn is_script(path: &LogicalPath, text: &str) -> bool {
    path.extension().is_some_and(|extension| language_of_extension(&extension).is_some())
        || (text.starts_with("#!") && language_of(path, text).is_some())
}

fn has_template_suffix(path: &LogicalPath) -> bool {
    path.extension().is_some_and(|extension| {
        matches!(extension.as_str(), "tmpl" | "tpl" | "template" | "j2" | "jinja" | "hbs" | "mustache")
    })
}

/// The id of a component: the same in every revision that has a file at its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ComponentId(String);

impl ComponentId {
    /// The id of the component at this path.
    #[must_use]
    pub fn of(path: &LogicalPath) -> Self {
        let digest = Digest::of(format!("belljar.component.v1:{path}").as_bytes()).lower_hex();
        Self(format!("c-{}", &digest[..16]))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ComponentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_decides_and_a_shebang_can_make_a_script() {
        let of = |path: &str, bytes: &[u8]| ComponentType::of(&LogicalPath::parse(path).unwrap(), bytes);
        assert_eq!(of("scripts/a.py", b""), ComponentType::Script);
        assert_eq!(of("scripts/deep/a.sh", b""), ComponentType::Script);
        assert_eq!(of("scripts/tool", b"#!/usr/bin/env python3\n"), ComponentType::Script);
        assert_eq!(of("scripts/tool", b"plain"), ComponentType::Document);
        assert_eq!(of("scripts/a.py", b"\xff"), ComponentType::Artifact);
        assert_eq!(of("a.py", b""), ComponentType::Document);
        assert_eq!(of("references/a.md", b""), ComponentType::Reference);
        assert_eq!(of("examples/a.json", b""), ComponentType::Example);
        assert_eq!(of("templates/a.md", b""), ComponentType::Template);
        assert_eq!(of("assets/a.tmpl", b""), ComponentType::Template);
        assert_eq!(of("assets/a.csv", b""), ComponentType::Document);
        assert_eq!(of("assets/a.png", b"\x89PNG\xff"), ComponentType::Artifact);
        assert_eq!(of("SKILL.md", b"x"), ComponentType::Document);
    }
}
