//! The first stage: mounts, files and seals, in the order that the service wrote down.

use std::fs::File;
use std::os::fd::OwnedFd;

use belljar_init::order::{Job, Reader, Step};
use belljar_init::status::Stage;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::MountFlags;

use crate::channel::{At, Failure};

/// Places everything and returns what is to run.
pub(crate) fn place(order: OwnedFd) -> Result<Job, Failure> {
    // Modes are those of the order.
    rustix::process::umask(Mode::empty());
    let mut reader = Reader::new(File::from(order)).at(Stage::Order)?;
    loop {
        match reader.step().at(Stage::Order)? {
            Step::Mount { path, bytes, inodes, mode } => mount(&path, bytes, inodes, mode)?,
            Step::Folder { path, mode } => rustix::fs::mkdir(path, Mode::from_raw_mode(mode)).at(Stage::Folder)?,
            Step::Link { path, target } => rustix::fs::symlink(target, path).at(Stage::Link)?,
            Step::File { path, mode, length } => file(&mut reader, &path, mode, length)?,
            Step::Seal { path } => seal(&path)?,
            Step::Run(job) => return Ok(job),
        }
    }
}

/// Makes further user namespaces impossible in this one, whatever the system call filter says.
pub(crate) fn close_nested_namespaces() -> Result<(), Failure> {
    std::fs::write("/proc/sys/user/max_user_namespaces", "0").at(Stage::Namespaces)
}

fn mount(path: &[u8], bytes: u64, inodes: u64, mode: u32) -> Result<(), Failure> {
    let options = format!("size={bytes},nr_inodes={inodes},mode={mode:o}\0");
    let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes())
        .map_err(|_| Failure { stage: Stage::Mount, errno: libc::EINVAL })?;
    rustix::mount::mount(c"tmpfs", path, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options).at(Stage::Mount)
}

fn file(reader: &mut Reader<File>, path: &[u8], mode: u32, length: u64) -> Result<(), Failure> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let descriptor = rustix::fs::openat(CWD, path, flags, Mode::from_raw_mode(mode)).at(Stage::File)?;
    reader.copy(length, &mut File::from(descriptor)).at(Stage::File)
}

fn seal(path: &[u8]) -> Result<(), Failure> {
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount_remount(path, flags, c"").at(Stage::Seal)
}
