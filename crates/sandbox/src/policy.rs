//! The policy: what every run may see and use. A value without a way to change it, so that there is no
//! path from a request to less of it.

use belljar_executor::Limits;
use belljar_init::order::ResourceLimit;

use crate::arguments;
use crate::host::{Host, Top};
use crate::places::{TEMP, WORKSPACE};
use crate::seccomp::{self, ProfileError};

/// Shared memory.
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

/// Shared memory is for a handful of segments and semaphores.
const SHARED_MEMORY_INODES: u64 = 1024;
const STACK_BYTES: u64 = 8 * 1024 * 1024;

/// A writable file system of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writable {
    pub(crate) path: &'static str,
    pub(crate) bytes: u64,
    pub(crate) inodes: u64,
    pub(crate) mode: u32,
}

/// What every run may see and use.
#[derive(Debug)]
pub(crate) struct Policy {
    host: Host,
    filters: Vec<Vec<u8>>,
    launcher_options: Vec<String>,
}

impl Policy {
    /// The whole policy, for this host.
    pub(crate) fn standard(host: Host) -> Result<Self, ProfileError> {
        let launcher_options = arguments::options(&host.top);
        Ok(Self { host, filters: seccomp::default_programs()?, launcher_options })
    }

    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn filters(&self) -> &[Vec<u8>] {
        &self.filters
    }

    pub(crate) fn launcher_options(&self) -> &[String] {
        &self.launcher_options
    }

    /// The folders of the host that are in the sandbox, read-only.
    pub(crate) fn views(&self) -> Vec<String> {
        let more = self.host.top.iter().filter_map(|top| match top {
            Top::View { path } => Some(path.clone()),
            Top::Link { .. } => None,
        });
        std::iter::once("/usr".to_owned()).chain(more).collect()
    }

    /// The writable file systems. Each holds its top folder as well, which is not the script's.
    pub(crate) fn writable(limits: &Limits) -> [Writable; 3] {
        let entry = |path, bytes, inodes, mode| Writable { path, bytes, inodes: inodes + 1, mode };
        [
            entry(WORKSPACE, limits.workspace_bytes, limits.workspace_inodes.into(), 0o755),
            entry(TEMP, limits.temp_bytes, limits.temp_inodes.into(), 0o1777),
            entry(SHARED_MEMORY, limits.shared_memory_bytes, SHARED_MEMORY_INODES, 0o1777),
        ]
    }

    /// Processor time of one process. It counts every thread, so a run on several cores may use that many
    /// times its time.
    pub(crate) fn cpu_seconds(limits: &Limits, timeout_seconds: u64) -> u64 {
        let cores = u64::from(limits.cpu_millicores.div_ceil(1000)).max(1);
        timeout_seconds.saturating_add(1).saturating_mul(cores)
    }

    /// Limits per process, as a belt under the limits of the whole run.
    pub(crate) fn resource_limits(limits: &Limits, timeout_seconds: u64) -> Vec<ResourceLimit> {
        let seconds = Self::cpu_seconds(limits, timeout_seconds);
        vec![
            fixed(libc::RLIMIT_CORE, 0),
            fixed(libc::RLIMIT_DATA, limits.memory_bytes),
            // Counted per uid in the sandbox's own user namespace, where pid 1 is one of them.
            fixed(libc::RLIMIT_NPROC, u64::from(limits.tasks) + 1),
            fixed(libc::RLIMIT_FSIZE, limits.file_bytes),
            fixed(libc::RLIMIT_NOFILE, limits.descriptors.into()),
            fixed(libc::RLIMIT_MEMLOCK, 0),
            fixed(libc::RLIMIT_MSGQUEUE, 0),
            fixed(libc::RLIMIT_STACK, STACK_BYTES),
            // A second between the signal that tells and the one that kills.
            limit(libc::RLIMIT_CPU, seconds, seconds + 1),
        ]
    }
}

// The type of the constants differs between C libraries; all are small numbers.
fn limit(resource: impl TryInto<u32>, soft: u64, hard: u64) -> ResourceLimit {
    ResourceLimit { resource: resource.try_into().unwrap_or(u32::MAX), soft, hard }
}

fn fixed(resource: impl TryInto<u32>, value: u64) -> ResourceLimit {
    limit(resource, value, value)
}
