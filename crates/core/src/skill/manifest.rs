//! The manifest: every file of a revision and every script's declarations.

use std::collections::BTreeMap;

use belljar_executor::{Digest, LanguageKey, Limits, LogicalPath, SkillName, WorkingDirectory};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ComponentId, ComponentType};

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// The SHA-256 of its bytes.
    pub sha256: Digest,
    /// Its size, bytes.
    pub size: u64,
    /// Its media type.
    pub media_type: String,
    /// What it is for.
    #[serde(rename = "type")]
    pub component_type: ComponentType,
}

/// How a script takes its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputMode {
    /// JSON on standard input when given, command-line arguments when given.
    #[default]
    Both,
    /// JSON on standard input only.
    Stdin,
    /// Command-line arguments only.
    Argv,
}

impl InputMode {
    /// The word used in declarations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Stdin => "stdin",
            Self::Argv => "argv",
        }
    }
}

/// Limits that a script declares for itself; they may only tighten those of its class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsDeclaration {
    /// Memory, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Size of `/workspace`, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_bytes: Option<u64>,
    /// Size of `/tmp`, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp_bytes: Option<u64>,
}

impl LimitsDeclaration {
    /// The class's limits, tightened. A declared value above the class's changes nothing.
    #[must_use]
    pub fn tighten(&self, class: &Limits) -> Limits {
        let mut limits = class.clone();
        limits.memory_bytes = self.memory_bytes.map_or(limits.memory_bytes, |value| value.min(limits.memory_bytes));
        limits.tasks = self.tasks.map_or(limits.tasks, |value| value.min(limits.tasks));
        limits.workspace_bytes =
            self.workspace_bytes.map_or(limits.workspace_bytes, |value| value.min(limits.workspace_bytes));
        limits.temp_bytes = self.temp_bytes.map_or(limits.temp_bytes, |value| value.min(limits.temp_bytes));
        limits
    }
}

/// What is declared about one script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptDeclaration {
    /// The key of its language; `None` when nothing tells.
    pub language: Option<LanguageKey>,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it takes input.
    #[serde(default)]
    pub input: InputMode,
    /// The folder it starts in.
    #[serde(default)]
    pub cwd: WorkingDirectory,
    /// JSON Schema (2020-12) of its input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// JSON Schema (2020-12) of its output; documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Its time-out, when a call names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Limits, only tightening.
    #[serde(default)]
    pub limits: LimitsDeclaration,
    /// Whether it needs no other file of the skill.
    #[serde(default)]
    pub standalone: bool,
}

/// What a revision holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The skill's name.
    pub name: SkillName,
    /// The skill's description.
    pub description: String,
    /// Every file, sorted by path.
    pub files: BTreeMap<LogicalPath, FileEntry>,
    /// Every script's declarations, sorted by path.
    pub scripts: BTreeMap<LogicalPath, ScriptDeclaration>,
}

impl Manifest {
    /// Its canonical JSON: compact, keys in this order, paths sorted.
    ///
    /// # Errors
    /// None in practice: every part has a JSON form.
    pub fn canonical_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The path that a caller names, by the path itself or by component id.
    #[must_use]
    pub fn find(&self, path_or_id: &str) -> Option<(&LogicalPath, &FileEntry)> {
        self.files
            .iter()
            .find(|(path, _)| path.as_str() == path_or_id)
            .or_else(|| self.files.iter().find(|(path, _)| ComponentId::of(path).as_str() == path_or_id))
    }
}
