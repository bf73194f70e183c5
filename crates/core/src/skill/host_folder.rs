//! Folders and files of the host, opened so that nobody can put a link in the way.
//!
//! Every entry is opened relative to the handle of its folder, and never through a link: a folder that is
//! renamed or replaced meanwhile cannot lead the reader out of the skill.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

/// How entries are opened: a link is an error, and a pipe that nobody writes to does not hold us up.
const CAREFUL: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

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
pub(super) struct HostFolder(OwnedFd);

impl HostFolder {
    /// Opens the root. It may itself be a link, which is resolved once, here.
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        let flags = CAREFUL.difference(OFlags::NOFOLLOW).union(OFlags::DIRECTORY);
        Ok(Self(openat(CWD, path, flags, Mode::empty())?))
    }

    /// The names in it, sorted; `None` when there are more than `most`.
    pub(super) fn names(&self, most: usize) -> io::Result<Option<Vec<OsString>>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if names.len() == most {
                return Ok(None);
            }
            names.push(OsStr::from_bytes(name).to_owned());
        }
        names.sort();
        Ok(Some(names))
    }

    /// What an entry is; links are not followed.
    pub(super) fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(kind_of(FileType::from_raw_mode(found.st_mode)))
    }

    /// Opens a folder in this one.
    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(openat(&self.0, name, CAREFUL.union(OFlags::DIRECTORY), Mode::empty())?))
    }

    /// Reads a file of at most `most` bytes; `None` when it is larger.
    pub(super) fn read(&self, name: &OsStr, most: usize) -> io::Result<Option<Vec<u8>>> {
        let file = File::from(openat(&self.0, name, CAREFUL, Mode::empty())?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let most_bytes = most as u64;
        if metadata.len() > most_bytes {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((bytes.len() <= most).then_some(bytes))
    }
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Other("a symbolic link"),
        FileType::Fifo => Kind::Other("a named pipe"),
        FileType::Socket => Kind::Other("a socket"),
        _ => Kind::Other("a device"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
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
