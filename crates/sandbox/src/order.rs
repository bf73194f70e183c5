//! Writes the order of a job: what the first stage places, and what then runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::OwnedFd;

use belljar_executor::FileTree;
use belljar_init::order::{self, Step, Writer};

use crate::job::{Job, Program};
use crate::memory_file;
use crate::places::{Places, SKILL};
use crate::policy::Policy;

/// Room that a file of the skill takes at most beyond its length: one page, of the largest kind there is.
const PAGE_BYTES: u64 = 64 * 1024;
const FOLDER_MODE: u32 = 0o755;

/// The finished order, sealed.
pub(crate) fn write(policy: &Policy, job: &Job, python: Option<&str>) -> io::Result<OwnedFd> {
    let (mut writer, places) = (begin()?, Places::sandbox());
    etc(&mut writer, policy)?;
    runtime(&mut writer, &places, python)?;
    skill(&mut writer, &job.files)?;
    for mount in Policy::writable(&job.limits) {
        let path = mount.path.into();
        writer.step(&Step::Mount { path, bytes: mount.bytes, inodes: mount.inodes, mode: mount.mode })?;
    }
    writer.step(&Step::Seal { path: b"/".to_vec() })?;
    finish(writer, last_step(policy, job))
}

/// The finished order of a run without walls: its folders are in one that is there and goes with the run.
pub(crate) fn write_plain(job: &Job, places: &Places, python: Option<&str>) -> io::Result<OwnedFd> {
    let mut writer = begin()?;
    for path in [places.runtime(), places.skill(), places.workspace()] {
        folder(&mut writer, &path)?;
    }
    writer.step(&Step::Folder { path: places.temp().into(), mode: 0o700 })?;
    runtime(&mut writer, places, python)?;
    files(&mut writer, places, &job.files, &folders(&job.files))?;
    finish(writer, order::Job { removed: places.root().into(), ..bare(job) })
}

fn begin() -> io::Result<Order> {
    Writer::new(BufWriter::with_capacity(64 * 1024, memory_file::order()?))
}

fn finish(mut writer: Order, job: order::Job) -> io::Result<OwnedFd> {
    writer.step(&Step::Run(job))?;
    let file = writer.finish().into_inner().map_err(io::IntoInnerError::into_error)?;
    memory_file::seal(file)
}

type Order = Writer<BufWriter<File>>;

fn etc(writer: &mut Order, policy: &Policy) -> io::Result<()> {
    for (path, content) in &policy.host().etc {
        file(writer, path, 0o644, content)?;
    }
    folder(writer, "/etc/alternatives")?;
    for (name, target) in &policy.host().alternatives {
        let path = [b"/etc/alternatives/".as_slice(), name].concat();
        writer.step(&Step::Link { path, target: target.clone() })?;
    }
    Ok(())
}

fn runtime(writer: &mut Order, places: &Places, python: Option<&str>) -> io::Result<()> {
    let programs = format!("{}/bin", places.runtime());
    folder(writer, &programs)?;
    if let Some(python) = python {
        let path = format!("{programs}/python").into();
        writer.step(&Step::Link { path, target: python.into() })?;
    }
    Ok(())
}

fn skill(writer: &mut Order, tree: &FileTree) -> io::Result<()> {
    let folders = folders(tree);
    let bytes = tree.size() + (tree.len() as u64 + 1) * PAGE_BYTES;
    let inodes = (tree.len() + folders.len() + 1) as u64;
    writer.step(&Step::Mount { path: SKILL.into(), bytes, inodes, mode: FOLDER_MODE })?;
    files(writer, &Places::sandbox(), tree, &folders)?;
    writer.step(&Step::Seal { path: SKILL.into() })
}

/// The files of the revision and the folders that they are in.
fn files(writer: &mut Order, places: &Places, tree: &FileTree, folders: &BTreeSet<&str>) -> io::Result<()> {
    let skill = places.skill();
    // Sorted, so that every folder comes after the one it is in.
    for path in folders {
        folder(writer, &format!("{skill}/{path}"))?;
    }
    for (path, content) in tree.iter() {
        // No mode is stored: what names its interpreter is a program.
        let mode = if content.starts_with(b"#!") { 0o755 } else { 0o644 };
        file(writer, &format!("{skill}/{path}"), mode, content)?;
    }
    Ok(())
}

fn folders(tree: &FileTree) -> BTreeSet<&str> {
    tree.iter().flat_map(|(path, _)| parents(path.as_str())).collect()
}

fn last_step(policy: &Policy, job: &Job) -> order::Job {
    order::Job {
        rlimits: Policy::resource_limits(&job.limits, job.timeout_seconds()),
        filters: policy.filters().to_vec(),
        watched: Policy::writable(&job.limits).map(|mount| mount.path.into()).into(),
        memory_bytes: job.limits.memory_bytes,
        ..bare(job)
    }
}

/// What runs, without a limit.
fn bare(job: &Job) -> order::Job {
    order::Job {
        program: match &job.program {
            Program::At(path) => path.clone().into(),
            Program::Init => Vec::new(),
        },
        argv: job.argv.iter().map(|argument| argument.clone().into()).collect(),
        environment: job.environment.iter().map(|(name, value)| format!("{name}={value}").into()).collect(),
        folder: job.folder.clone().into(),
        ..order::Job::default()
    }
}

fn folder(writer: &mut Order, path: &str) -> io::Result<()> {
    writer.step(&Step::Folder { path: path.into(), mode: FOLDER_MODE })
}

fn file(writer: &mut Order, path: &str, mode: u32, content: &[u8]) -> io::Result<()> {
    writer.step(&Step::File { path: path.into(), mode, length: content.len() as u64 })?;
    writer.content(content)
}

/// Every folder above a path.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_from_the_top_down() {
        assert_eq!(parents("a/b/c.py").collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(parents("c.py").count(), 0);
    }
}
