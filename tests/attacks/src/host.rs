//! What a run may leave on the host: used space, mounts, control groups, files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// File systems that hold no data of their own.
const WITHOUT_SPACE: [&str; 18] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "efivarfs",
    "fuse.portal",
    "fusectl",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// Used bytes of each file system of the host, by device.
pub(crate) fn used_space() -> Result<BTreeMap<u64, u64>> {
    let mut used = BTreeMap::new();
    for line in fs::read_to_string("/proc/self/mounts")?.lines() {
        let mut fields = line.split(' ').skip(1);
        let (Some(point), Some(kind)) = (fields.next(), fields.next()) else { continue };
        // One that cannot be looked at cannot be written either.
        let Ok(found) = fs::metadata(point) else { continue };
        if WITHOUT_SPACE.contains(&kind) {
            continue;
        }
        if let Ok(space) = rustix::fs::statvfs(point) {
            used.insert(found.dev(), space.f_blocks.saturating_sub(space.f_bfree) * space.f_frsize);
        }
    }
    Ok(used)
}

/// By how many bytes the host's file systems grew, those added up that grew.
pub(crate) fn growth(before: &BTreeMap<u64, u64>, after: &BTreeMap<u64, u64>) -> u64 {
    after.iter().map(|(device, used)| used.saturating_sub(before.get(device).copied().unwrap_or(0))).sum()
}

/// Mounts and control groups that bear a name of ours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces(BTreeSet<String>);

impl Traces {
    /// Those of this host at this time. `token` is the word in every path of the run.
    pub(crate) fn look(token: &str) -> Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let ours = |line: &&str| ["belljar", "bwrap", token].iter().any(|word| line.contains(word));
        let mut found: BTreeSet<_> = mounts.lines().filter(ours).map(|line| format!("mount {line}")).collect();
        idle_groups(Path::new("/sys/fs/cgroup"), 0, &mut found);
        Ok(Self(found))
    }

    /// What is there now and was not before.
    pub(crate) fn since(&self, before: &Self) -> Vec<String> {
        self.0.difference(&before.0).cloned().collect()
    }
}

/// Control groups of ours without a process: a neighbour's living run has one.
fn idle_groups(folder: &Path, depth: usize, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if depth < 8 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let path = entry.path();
            let idle = fs::read_to_string(path.join("cgroup.procs")).is_ok_and(|processes| processes.is_empty());
            if idle && path.to_string_lossy().contains("belljar") {
                found.insert(format!("control group {}", path.display()));
            }
            idle_groups(&path, depth + 1, found);
        }
    }
}

/// The state of a folder: names, types, modes and bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, (char, u32, Vec<u8>)>);

impl Snapshot {
    pub(crate) fn take(folder: &Path) -> Result<Self> {
        let mut found = BTreeMap::new();
        let mut open = vec![folder.to_owned()];
        while let Some(path) = open.pop() {
            let metadata = fs::symlink_metadata(&path).with_context(|| path.display().to_string())?;
            let kind = metadata.file_type();
            let (letter, bytes) = if kind.is_dir() {
                for entry in fs::read_dir(&path)? {
                    open.push(entry?.path());
                }
                ('d', Vec::new())
            } else if kind.is_file() {
                ('f', fs::read(&path)?)
            } else if kind.is_symlink() {
                ('l', fs::read_link(&path)?.into_os_string().into_encoded_bytes())
            } else {
                (if kind.is_socket() { 's' } else { '?' }, Vec::new())
            };
            found.insert(path, (letter, metadata.mode(), bytes));
        }
        Ok(Self(found))
    }

    /// The paths that came, went or changed.
    pub(crate) fn changes(&self, before: &Self) -> Vec<String> {
        let paths: BTreeSet<_> = self.0.keys().chain(before.0.keys()).collect();
        let changed = |path: &&&PathBuf| self.0.get(**path) != before.0.get(**path);
        paths.iter().filter(changed).map(|path| path.display().to_string()).collect()
    }
}

/// Everything that a folder of state holds, but for the journal beside a database: it comes and goes.
pub(crate) fn names(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_journal = ["-wal", "-shm"].iter().any(|end| path.to_string_lossy().ends_with(end));
        found.extend(names(&path));
        found.extend((!is_journal).then_some(path));
    }
    found
}
