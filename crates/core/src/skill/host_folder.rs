//! Folders and files of the host, opened so that nobody can put a link in the way.
//!
//! Every entry is opened relative to the handle of its folder, by way of `/proc/self/fd`, and never through a link:
//! a folder that is renamed or replaced meanwhile cannot lead the reader out of the skill.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The flags of open(2), by machine. A test shows that they do on this one what their names say.
mod flag {
    #[cfg(any(target_arch = "aarch64", target_arch = "arm", target_arch = "powerpc64"))]
    pub(super) const DIRECTORY_AND_NO_FOLLOW: [i32; 2] = [0o4_0000, 0o10_0000];
    #[cfg(not(any(target_arch = "aarch64", target_arch = "arm", target_arch = "powerpc64")))]
    pub(super) const DIRECTORY_AND_NO_FOLLOW: [i32; 2] = [0o20_0000, 0o40_0000];

    pub(super) const DIRECTORY: i32 = DIRECTORY_AND_NO_FOLLOW[0];
    pub(super) const NO_FOLLOW: i32 = DIRECTORY_AND_NO_FOLLOW[1];
    pub(super) const NON_BLOCKING: i32 = 0o4000;
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// Never part of a skill; in words.
    Other(&'static str),
}

/// A folder that is held open.
#[derive(Debug)]
pub(super) struct HostFolder(File);

impl HostFolder {
    /// Opens the root. It may itself be a link, which is resolved once, here.
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        OpenOptions::new().read(true).custom_flags(flag::DIRECTORY | flag::NON_BLOCKING).open(path).map(Self)
    }

    /// The names in it, sorted; `None` when there are more than `most`.
    pub(super) fn names(&self, most: usize) -> io::Result<Option<Vec<OsString>>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path())? {
            if names.len() == most {
                return Ok(None);
            }
            names.push(entry?.file_name());
        }
        names.sort();
        Ok(Some(names))
    }

    /// What an entry is; links are not followed.
    pub(super) fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        fs::symlink_metadata(self.path().join(name)).map(|metadata| kind_of(metadata.file_type()))
    }

    /// Opens a folder in this one.
    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let flags = flag::DIRECTORY | flag::NO_FOLLOW | flag::NON_BLOCKING;
        OpenOptions::new().read(true).custom_flags(flags).open(self.path().join(name)).map(Self)
    }

    /// Reads a file of at most `most` bytes; `None` when it is larger.
    pub(super) fn read(&self, name: &OsStr, most: usize) -> io::Result<Option<Vec<u8>>> {
        let flags = flag::NO_FOLLOW | flag::NON_BLOCKING;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path().join(name))?;
        let metadata = file.metadata()?;
        if kind_of(metadata.file_type()) != Kind::File {
            return Err(io::Error::other("it was replaced while it was read"));
        }
        let most_bytes = most as u64;
        if metadata.len() > most_bytes {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((bytes.len() <= most).then_some(bytes))
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

fn kind_of(file_type: FileType) -> Kind {
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Folder
    } else if file_type.is_symlink() {
        Kind::Other("a symbolic link")
    } else if file_type.is_fifo() {
        Kind::Other("a named pipe")
    } else if file_type.is_socket() {
        Kind::Other("a socket")
    } else {
        Kind::Other("a device")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_opened_neither_as_a_file_nor_as_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "x").unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        symlink("file", folder.path().join("file-link")).unwrap();
        symlink("sub", folder.path().join("sub-link")).unwrap();
        let root = HostFolder::open_root(folder.path()).unwrap();
        assert_eq!(root.read(OsStr::new("file"), 1).unwrap().as_deref(), Some(b"x".as_slice()));
        assert_eq!(root.read(OsStr::new("file"), 0).unwrap(), None);
        assert!(root.folder(OsStr::new("sub")).is_ok());
        assert!(root.read(OsStr::new("file-link"), 1).is_err());
        assert!(root.folder(OsStr::new("sub-link")).is_err());
        assert!(root.folder(OsStr::new("file")).is_err());
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        make_pipe(&folder.path().join("pipe"));
        let root = HostFolder::open_root(folder.path()).unwrap();
        assert_eq!(root.kind(OsStr::new("pipe")).unwrap(), Kind::Other("a named pipe"));
        assert!(root.read(OsStr::new("pipe"), 10).is_err());
    }

    #[expect(clippy::disallowed_methods, reason = "a test may start mkfifo; the standard library has no call for it")]
    fn make_pipe(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
}
