//! The sections of the configuration file, as they are written.

use std::collections::BTreeMap;

use belljar_core::caller::Scope;
use belljar_core::options::OptionsDraft;
use belljar_executor::{Control, Limits, Minimum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Belljar configuration")]
pub(crate) struct Config {
    /// Whether and how scripts run.
    pub(crate) execution: Execution,
    /// The allow-list: language key (`py`, `sh`, `bash`, …) to a runtime name, or to an interpreter path when it holds a `/`.
    pub(crate) interpreters: BTreeMap<String, String>,
    /// File skills.
    pub(crate) skills: Skills,
    /// Limits classes by name; `standard` exists without being named.
    #[schemars(with = "BTreeMap<String, LimitsSchema>")]
    pub(crate) limits: BTreeMap<String, Limits>,
    /// Settings per language key.
    pub(crate) runtimes: BTreeMap<String, Runtime>,
    /// What the sandbox must enforce.
    pub(crate) isolation: Isolation,
    /// The executor `bubblewrap`.
    pub(crate) bubblewrap: Bubblewrap,
    /// The local caller.
    pub(crate) local: Local,
    /// The Model Context Protocol.
    pub(crate) mcp: Mcp,
}

/// Whether and how scripts run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Execution {
    /// Whether scripts run at all.
    pub(crate) enabled: bool,
    /// That you answer for the isolation, which cannot be verified from outside. Scripts do not run without it.
    pub(crate) platform_isolation_acknowledged: bool,
    /// Whether stored scripts run.
    pub(crate) allow_stored_scripts: bool,
    /// Where scripts run.
    pub(crate) executor: ExecutorName,
    /// The time-outs of scripts.
    pub(crate) timeout: Timeout,
    /// How much of each output stream is kept, UTF-8 bytes.
    pub(crate) max_output_bytes: u64,
    /// The largest input JSON and command-line arguments together, UTF-8 bytes.
    pub(crate) max_argument_bytes: u64,
    /// The largest script, bytes.
    pub(crate) max_script_bytes: u64,
    /// Runs of one tenant at once, in this process.
    pub(crate) max_concurrent_per_tenant: u32,
    /// Runs at once, in this process.
    pub(crate) max_concurrent_total: u32,
    /// The longest wait for a free slot, seconds.
    pub(crate) slot_wait_seconds: u64,
}

impl Default for Execution {
    /// The library's own defaults.
    fn default() -> Self {
        let draft = OptionsDraft::default();
        Self {
            enabled: draft.enabled,
            platform_isolation_acknowledged: draft.platform_isolation_acknowledged,
            allow_stored_scripts: draft.allow_stored_scripts,
            executor: ExecutorName::default(),
            timeout: Timeout::default(),
            max_output_bytes: draft.max_output_bytes,
            max_argument_bytes: draft.max_argument_bytes,
            max_script_bytes: draft.max_script_bytes,
            max_concurrent_per_tenant: draft.max_concurrent_per_tenant,
            max_concurrent_total: draft.max_concurrent_total,
            slot_wait_seconds: draft.slot_wait_seconds,
        }
    }
}

/// Where scripts run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExecutorName {
    /// The best isolating executor of this host; today that is bubblewrap.
    #[default]
    Auto,
    /// Sandboxes made with the program `bwrap`.
    Bubblewrap,
    /// Plain processes of this host. Nothing isolates them; only a configuration file can choose this.
    Local,
}

/// The time-outs of scripts, seconds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Timeout {
    /// When neither the call nor the script names one.
    pub(crate) default: u64,
    /// The longest; longer ones are clamped.
    pub(crate) max: u64,
}

impl Default for Timeout {
    fn default() -> Self {
        let draft = OptionsDraft::default();
        Self { default: draft.timeout_default_seconds, max: draft.timeout_max_seconds }
    }
}

/// File skills: folders that are run as they stand, without being saved first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Skills {
    /// Folders of file skills, absolute. Each skill is a folder named like it, in a root or one level below.
    pub(crate) roots: Vec<std::path::PathBuf>,
    /// Whether a grant for a script of a file skill must be at the pin of what would run.
    pub(crate) pin_file_scripts: bool,
}

impl Default for Skills {
    /// Unlike the library, which leaves it to the program: whoever changes a file must ask again.
    fn default() -> Self {
        Self { roots: Vec::new(), pin_file_scripts: true }
    }
}

/// Settings of one language.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runtime {
    /// The limits class of its runs.
    pub(crate) limits: String,
}

/// What the sandbox must enforce.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Isolation {
    /// Control to the least that is accepted. What is not named keeps its default: `enforced`, but
    /// `weaker` for memory, tasks, cpu and `supplementary_groups`, and `missing` for landlock.
    #[schemars(with = "BTreeMap<String, MinimumSchema>")]
    pub(crate) require: BTreeMap<Control, Minimum>,
}

/// The executor `bubblewrap`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Bubblewrap {
    /// The program `bwrap`, where it is not in a system folder.
    pub(crate) program: Option<std::path::PathBuf>,
}

/// The local caller.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Local {
    /// The teams that the local user is in.
    pub(crate) teams: Vec<String>,
    /// What an agent may do over `belljar mcp`. No agent can approve scripts, so nothing else can be listed.
    pub(crate) mcp_scopes: Vec<McpScope>,
}

impl Default for Local {
    fn default() -> Self {
        Self { teams: Vec::new(), mcp_scopes: vec![McpScope::MemoryRead, McpScope::MemoryWrite] }
    }
}

/// A scope that an agent may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum McpScope {
    /// Recall skills and read own executions.
    #[serde(rename = "memory:read")]
    MemoryRead,
    /// Save and execute skills.
    #[serde(rename = "memory:write")]
    MemoryWrite,
}

impl From<McpScope> for Scope {
    fn from(scope: McpScope) -> Self {
        match scope {
            McpScope::MemoryRead => Self::MemoryRead,
            McpScope::MemoryWrite => Self::MemoryWrite,
        }
    }
}

/// The Model Context Protocol.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Mcp {
    /// The most bytes of each stream of a run, of a skill's instructions and of a file in one answer, 1024 to 1048576.
    pub(crate) inline_output_bytes: usize,
}

impl Default for Mcp {
    fn default() -> Self {
        Self { inline_output_bytes: belljar_mcp::Options::default().inline_output_bytes() }
    }
}

impl Mcp {
    /// The checked options.
    pub(crate) fn options(&self) -> Result<belljar_mcp::Options, String> {
        belljar_mcp::Options::new(self.inline_output_bytes).map_err(|error| format!("mcp.inline_output_bytes: {error}"))
    }
}

/// The form of a limits class, for the schema: all values are positive.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; a test holds it to the real fields")]
#[schemars(deny_unknown_fields)]
struct LimitsSchema {
    /// Memory, bytes.
    memory_bytes: u64,
    /// Processes and threads.
    tasks: u32,
    /// Processor time per wall time, in thousandths of a core.
    cpu_millicores: u32,
    /// Size of `/workspace`, bytes.
    workspace_bytes: u64,
    /// Files, folders and links in `/workspace`.
    workspace_inodes: u32,
    /// Size of `/tmp`, bytes.
    temp_bytes: u64,
    /// Files, folders and links in `/tmp`.
    temp_inodes: u32,
    /// Size of `/dev/shm`, bytes.
    shared_memory_bytes: u64,
    /// Open descriptors per process.
    descriptors: u32,
    /// Largest file, bytes.
    file_bytes: u64,
}

/// The least that is accepted.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schemars(rename_all = "lowercase")]
enum MinimumSchema {
    /// It may be missing.
    Missing,
    /// A weaker form will do.
    Weaker,
    /// It must hold as specified.
    Enforced,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_limits_has_the_real_fields() {
        let real = serde_json::to_value(Limits::default()).unwrap();
        let schema = serde_json::to_value(schemars::schema_for!(LimitsSchema)).unwrap();
        let names = |value: &serde_json::Value| -> std::collections::BTreeSet<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(names(&real), names(&schema["properties"]));
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        let error = toml::from_str::<Config>("[execution]\nenabeld = true\n").unwrap_err().to_string();
        assert!(error.contains("enabeld"), "{error}");
        assert!(toml::from_str::<Config>("[isolation.require]\nmemroy = \"weaker\"\n").is_err());
    }
}
