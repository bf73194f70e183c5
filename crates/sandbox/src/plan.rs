//! What a run would get, for people who want to read it before: `belljar run --explain`.

use std::collections::BTreeMap;

use belljar_executor::Limits;
use serde::Serialize;

use crate::arguments::{self, Slots};
use crate::host::Top;
use crate::job::Job;
use crate::places::{RUNTIME, SKILL};
use crate::policy::Policy;

/// What a run would get. Holds no content of files and no standard input.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The driver and its version.
    pub driver: String,
    /// Every mount, the root first.
    pub mounts: Vec<PlannedMount>,
    /// The whole environment.
    pub environment: BTreeMap<String, String>,
    /// The interpreter, the script and its arguments.
    pub argv: Vec<String>,
    /// The folder it starts in.
    pub folder: String,
    /// How many files and bytes are at `/skill`.
    pub skill: (usize, u64),
    /// The limits of the run.
    pub limits: Limits,
    /// The time limit, seconds.
    pub timeout_seconds: f64,
    /// How many bytes of each stream are kept.
    pub max_output_bytes: usize,
    /// What the launcher is told, by descriptor; its command line holds numbers alone.
    pub launcher: Vec<String>,
    /// The launcher's command line.
    pub launcher_command_line: Vec<String>,
}

/// One mount of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedMount {
    /// Where.
    pub path: String,
    /// What is there.
    pub holds: &'static str,
    /// Whether the script may write there.
    pub writable: bool,
    /// Its size, for one in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How many files, folders and links it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inodes: Option<u64>,
}

impl Plan {
    pub(crate) fn new(driver: &str, policy: &Policy, job: &Job, slots: Slots) -> Self {
        Self {
            driver: driver.to_owned(),
            mounts: mounts(policy, &job.limits),
            environment: job.environment.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            argv: job.argv.clone(),
            folder: job.folder.clone(),
            skill: (job.files.len(), job.files.size()),
            limits: job.limits.clone(),
            timeout_seconds: job.timeout.as_secs_f64(),
            max_output_bytes: job.cap,
            launcher: policy.launcher_options().to_vec(),
            launcher_command_line: arguments::command_line(slots),
        }
    }
}

fn mounts(policy: &Policy, limits: &Limits) -> Vec<PlannedMount> {
    let fixed =
        |path: &str, holds| PlannedMount { path: path.to_owned(), holds, writable: false, bytes: None, inodes: None };
    let mut mounts = vec![
        fixed("/", "generated: /etc, links and mount points, in memory"),
        fixed("/usr", "the host's /usr"),
        fixed("/proc", "the sandbox's own processes"),
        fixed(RUNTIME, "generated: `python`"),
        fixed(SKILL, "the files of the revision, in memory"),
    ];
    for top in &policy.host().top {
        if let Top::View { path } = top {
            mounts.push(fixed(path, "the host's folder of that name"));
        }
    }
    mounts.extend(arguments::DEVICES.iter().map(|device| fixed(&format!("/dev/{device}"), "the device")));
    mounts.extend(Policy::writable(limits).map(|mount| PlannedMount {
        path: mount.path.to_owned(),
        holds: "empty at the start, in memory, gone at the end",
        writable: true,
        bytes: Some(mount.bytes),
        inodes: Some(mount.inodes),
    }));
    mounts
}
