//! Resource limits of one run.

use serde::{Deserialize, Serialize};

/// What one run may use. Values are totals for the whole process tree of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory, bytes; no swap.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub tasks: u32,
    /// Processor time per wall time, in thousandths of a core.
    pub cpu_millicores: u32,
    /// Size of `/workspace`, bytes.
    pub workspace_bytes: u64,
    /// Files, folders and links in `/workspace`.
    pub workspace_inodes: u32,
    /// Size of `/tmp`, bytes.
    pub temp_bytes: u64,
    /// Files, folders and links in `/tmp`.
    pub temp_inodes: u32,
    /// Size of `/dev/shm`, bytes.
    pub shared_memory_bytes: u64,
    /// Open descriptors per process.
    pub descriptors: u32,
    /// Largest file, bytes.
    pub file_bytes: u64,
}

impl Default for Limits {
    /// The class `standard`.
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            memory_bytes: 512 * MIB,
            tasks: 64,
            cpu_millicores: 1000,
            workspace_bytes: 128 * MIB,
            workspace_inodes: 4096,
            temp_bytes: 64 * MIB,
            temp_inodes: 4096,
            shared_memory_bytes: 16 * MIB,
            descriptors: 256,
            file_bytes: 128 * MIB,
        }
    }
}

impl Limits {
    /// Whether no value of `self` is above that of `other`.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.memory_bytes <= other.memory_bytes
            && self.tasks <= other.tasks
            && self.cpu_millicores <= other.cpu_millicores
            && self.workspace_bytes <= other.workspace_bytes
            && self.workspace_inodes <= other.workspace_inodes
            && self.temp_bytes <= other.temp_bytes
            && self.temp_inodes <= other.temp_inodes
            && self.shared_memory_bytes <= other.shared_memory_bytes
            && self.descriptors <= other.descriptors
            && self.file_bytes <= other.file_bytes
    }
}
