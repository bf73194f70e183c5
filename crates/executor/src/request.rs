//! What an executor gets: everything a remote runner needs, and nothing of the host.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Digest, ExecutionId, FileTree, Interpreter, LanguageKey, Limits, LimitsClass, LogicalPath, RunId, ScriptName,
    SkillName, TenantId,
};

/// Where the script comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A store or code; pinned to its content.
    #[default]
    Stored,
    /// A file under a skill root.
    File,
}

/// The folder a script starts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkingDirectory {
    /// The run's own writable folder.
    #[default]
    Workspace,
    /// The skill's folder, read-only.
    Skill,
    /// The script's own folder, read-only.
    Script,
}

impl WorkingDirectory {
    /// The word used in declarations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Skill => "skill",
            Self::Script => "script",
        }
    }
}

/// The parts of a request, to be made into one with [`ExecutionRequest::new`].
#[derive(Clone)]
pub struct RequestParts {
    /// The tenant whose grant opened the gates: the only tenant an executor may use.
    pub tenant_id: TenantId,
    /// The run that called the script.
    pub run_id: Option<RunId>,
    /// The id of this execution.
    pub execution_id: ExecutionId,
    /// The skill's name.
    pub skill_name: SkillName,
    /// The script's name.
    pub script_name: ScriptName,
    /// The script's path inside the skill.
    pub script_path: LogicalPath,
    /// Where it comes from.
    pub origin: Origin,
    /// The allow-list value for its language.
    pub interpreter: Interpreter,
    /// The key of its language.
    pub language: LanguageKey,
    /// The file name's extension, lower case, without the dot; empty when it has none.
    pub extension: String,
    /// The script's text.
    pub content: Arc<str>,
    /// A file script's path on the host. A stored request has none.
    pub source_path: Option<PathBuf>,
    /// JSON for standard input; `None` closes it empty.
    pub arguments_json: Option<Arc<str>>,
    /// Command-line arguments after the script.
    pub argv: Vec<String>,
    /// The folder to start in.
    pub cwd: WorkingDirectory,
    /// Whether the script says that it needs no other file of the skill.
    pub standalone: bool,
    /// Every file of the revision.
    pub files: FileTree,
    /// The limits class.
    pub limits_class: LimitsClass,
    /// The class's values, tightened by the script.
    pub limits: Limits,
    /// Stop the script after this time.
    pub timeout: Duration,
    /// Keep at most this many UTF-8 bytes of each stream.
    pub max_output_bytes: usize,
}

/// An approved run.
#[derive(Clone)]
pub struct ExecutionRequest {
    parts: RequestParts,
    content_sha256: Digest,
}

impl ExecutionRequest {
    /// A request with these parts.
    #[must_use]
    pub fn new(parts: RequestParts) -> Self {
        let content_sha256 = Digest::of(parts.content.as_bytes());
        Self { parts, content_sha256 }
    }

    /// Its parts.
    #[must_use]
    pub const fn parts(&self) -> &RequestParts {
        &self.parts
    }

    /// The SHA-256 of the content's UTF-8 bytes.
    #[must_use]
    pub const fn content_sha256(&self) -> Digest {
        self.content_sha256
    }

    /// The two variables that every executor gives the script; `temp` is the run's own writable folder.
    #[must_use]
    pub fn contract_environment(&self, temp: &str) -> BTreeMap<&'static str, String> {
        BTreeMap::from([
            ("TRACON_SKILL_NAME", self.parts.skill_name.to_string()),
            ("TRACON_SKILL_TEMP", temp.to_owned()),
        ])
    }
}

impl fmt::Debug for RequestParts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Content, arguments, argv and file contents stay out, so that logging a request is safe.
        formatter
            .debug_struct("RequestParts")
            .field("tenant_id", &self.tenant_id)
            .field("run_id", &self.run_id)
            .field("execution_id", &self.execution_id)
            .field("skill_name", &self.skill_name)
            .field("script_path", &self.script_path)
            .field("origin", &self.origin)
            .field("interpreter", &self.interpreter)
            .field("language", &self.language)
            .field("limits_class", &self.limits_class)
            .field("timeout", &self.timeout)
            .field("max_output_bytes", &self.max_output_bytes)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ExecutionRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecutionRequest")
            .field("content_sha256", &self.content_sha256)
            .field("parts", &self.parts)
            .finish()
    }
}

impl fmt::Display for ExecutionRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RequestParts { execution_id, skill_name, script_path, tenant_id, .. } = &self.parts;
        write!(formatter, "execution {execution_id} of {skill_name} {script_path} for {tenant_id}")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const SECRET: &str = "hunter2";

    /// A request whose content, arguments and files are a secret.
    pub(crate) fn request() -> ExecutionRequest {
        let path = LogicalPath::parse("scripts/a.sh").unwrap();
        ExecutionRequest::new(RequestParts {
            tenant_id: TenantId::parse("local").unwrap(),
            run_id: None,
            execution_id: ExecutionId::parse("e1").unwrap(),
            skill_name: SkillName::parse("demo").unwrap(),
            script_name: ScriptName::parse("a.sh").unwrap(),
            script_path: path.clone(),
            origin: Origin::Stored,
            interpreter: Interpreter::parse("sh").unwrap(),
            language: LanguageKey::parse("sh").unwrap(),
            extension: "sh".into(),
            content: SECRET.into(),
            source_path: None,
            arguments_json: Some(SECRET.into()),
            argv: vec![SECRET.into()],
            cwd: WorkingDirectory::Workspace,
            standalone: false,
            files: FileTree::new(BTreeMap::from([(path, Arc::from(SECRET.as_bytes()))])),
            limits_class: LimitsClass::parse("standard").unwrap(),
            limits: Limits::default(),
            timeout: Duration::from_secs(1),
            max_output_bytes: 1,
        })
    }

    #[test]
    fn a_logged_request_holds_no_content_argument_or_file() {
        let request = request();
        for text in [format!("{request:?}"), format!("{request:#?}"), format!("{request}")] {
            assert!(!text.contains(SECRET), "{text}");
            assert!(text.contains("e1"), "{text}");
        }
    }
}
