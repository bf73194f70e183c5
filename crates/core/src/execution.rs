//! The record of one execution.

use belljar_executor::{Digest, ExecutionId, LimitHit, LogicalPath, Origin, RunId, SkillName, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audit::Receipt;
use crate::ids::{GrantId, OwnerId, RevisionId, SkillId};
use crate::once::Once;
use crate::time::Timestamp;

/// How an execution stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Recorded, waiting for a slot or running.
    Running,
    /// Exit code 0.
    Success,
    /// Another exit code, or a signal of its own.
    Failed,
    /// The deadline.
    Timeout,
    /// A resource limit.
    ResourceExhausted,
    /// The caller.
    Cancelled,
    /// The executor failed or answered nonsense.
    Fault,
    /// The isolation was lost between check and start.
    Unavailable,
    /// It never got to the executor.
    NotStarted,
    /// The service died.
    Lost,
}

impl Status {
    /// The word used in results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::ResourceExhausted => "resource_exhausted",
            Self::Cancelled => "cancelled",
            Self::Fault => "fault",
            Self::Unavailable => "unavailable",
            Self::NotStarted => "not_started",
            Self::Lost => "lost",
        }
    }
}

/// One execution, from its `script.run` entry to its `script.outcome` entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRecord {
    /// Its id.
    pub execution_id: ExecutionId,
    /// The tenant.
    pub tenant: TenantId,
    /// The caller's subject.
    pub caller: String,
    /// The process that runs it.
    pub owner: OwnerId,
    /// The skill; a registered or file skill has no id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<SkillId>,
    /// The skill's name.
    pub slug: SkillName,
    /// The revision; a registered or file skill has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_id: Option<RevisionId>,
    /// Where the script came from.
    #[serde(default)]
    pub origin: Origin,
    /// The script.
    pub script_path: LogicalPath,
    /// The runtime name or interpreter path.
    pub runtime: String,
    /// The executor's name.
    pub executor: String,
    /// The pin that was granted.
    pub pin: Digest,
    /// The grant that opened the gates.
    pub grant_id: GrantId,
    /// The run that called the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The key under which the caller may send the call again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<Once>,
    /// The arguments, redacted by key name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The command-line arguments, redacted by option name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// How it stands.
    pub status: Status,
    /// The stable code of an ending that is not success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
    /// For an executor fault its kind; nothing of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_kind: Option<String>,
    /// The exit code; 128 + n for signal n; none for a time-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the main process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Standard output, capped.
    #[serde(default)]
    pub stdout: String,
    /// Standard error, capped.
    #[serde(default)]
    pub stderr: String,
    /// Whether standard output was cut.
    #[serde(default)]
    pub stdout_truncated: bool,
    /// Whether standard error was cut.
    #[serde(default)]
    pub stderr_truncated: bool,
    /// Limits that were hit.
    #[serde(default)]
    pub limits_hit: Vec<String>,
    /// Largest resident memory, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_peak_bytes: Option<u64>,
    /// Processor time, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_time_ms: Option<u64>,
    /// Where the usage comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_source: Option<String>,
    /// The effective time-out, seconds.
    pub timeout_seconds: u64,
    /// The limits class.
    pub limits_class: String,
    /// Whether the host stopped waiting before the executor ended.
    #[serde(default)]
    pub abandoned: bool,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When the slot was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// What was enforced.
    pub isolation: Value,
    /// The proof of its `script.run` entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

impl ExecutionRecord {
    /// Names the limits that were hit.
    pub fn set_limits_hit(&mut self, limits: &[LimitHit]) {
        self.limits_hit = limits.iter().map(|limit| limit.as_str().to_owned()).collect();
    }
}
