//! Removes a folder that a script could do anything to. Needs Linux 5.6; an older kernel keeps the folder.
//!
//! Every folder inside is moved to the top before it is emptied, so that no depth uses up descriptors or
//! the stack. No symbolic link and no mount is ever followed: a script that runs with the rights of the
//! service may have mounted half the host in there.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::clock::now;

/// Removes a folder and everything in it. One that is not there is a success.
///
/// # Errors
/// The first thing that could not be removed; everything else is.
pub fn remove(folder: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(CWD, parent, flags, Mode::empty())?;
    let name = CString::new(name.as_bytes())?;
    let top = match open(parent.as_fd(), &name) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let mut number = 0_u64;
    empty(&top, |name| {
        let inner = open(top.as_fd(), name)?;
        empty(&inner, |name| {
            // Only one that may be written to can be given another parent.
            let _writable = open(inner.as_fd(), name)?;
            move_up(&inner, name, &top, &mut number)
        })?;
        rustix::fs::unlinkat(&top, name, AtFlags::REMOVEDIR)
    })?;
    Ok(rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR)?)
}

/// Opens a folder in `parent` for everything, whatever mode a script gave it.
fn open(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let place = rustix::fs::openat2(parent, name, flags, Mode::empty(), inside)?;
    // Through the descriptor: what was just found to be inside is what is changed. That it belongs to
    // somebody else is seen when it is opened.
    let _ = rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::RWXU);
    rustix::fs::openat(&place, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// How long a folder is emptied: somebody who fills it all the while must not hold up whoever empties it.
const LONGEST_EMPTYING: Duration = Duration::from_secs(30);

/// Removes every file and hands over every folder, until nothing is there or nothing more can be done.
fn empty(folder: &OwnedFd, mut take_folder: impl FnMut(&CStr) -> rustix::io::Result<()>) -> rustix::io::Result<()> {
    let last = now() + LONGEST_EMPTYING;
    loop {
        let (mut refused, mut progress) = (None, false);
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if now() > last {
                return Err(Errno::BUSY);
            }
            let done = match is_folder(folder, &entry) {
                Ok(true) => take_folder(name),
                Ok(false) => rustix::fs::unlinkat(folder, name, AtFlags::empty()),
                Err(error) => Err(error),
            };
            match done {
                Ok(()) => progress = true,
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match refused {
            // Entries that were added while the folder was read may have been passed over.
            _ if progress => {}
            Some(error) => return Err(error),
            None => return Ok(()),
        }
    }
}

fn is_folder(folder: &OwnedFd, entry: &DirEntry) -> rustix::io::Result<bool> {
    let kind = match entry.file_type() {
        FileType::Unknown => {
            let found = rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(found.st_mode)
        }
        known => known,
    };
    Ok(kind == FileType::Directory)
}

/// Moves a folder to the top, under the next number that is free there.
fn move_up(inner: &OwnedFd, name: &CStr, top: &OwnedFd, number: &mut u64) -> rustix::io::Result<()> {
    loop {
        *number += 1;
        match rustix::fs::renameat(inner, name, top, number.to_string()) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_deep_closed_and_crowded_tree_goes_and_what_its_links_point_to_stays() {
        let outside = tempfile::tempdir().unwrap();
        let kept = outside.path().join("kept");
        fs::write(&kept, "kept").unwrap();
        let run = outside.path().join("run");
        fs::create_dir(&run).unwrap();
        symlink(outside.path(), run.join("folder-link")).unwrap();
        symlink(&kept, run.join("file-link")).unwrap();
        // Names that the removal wants for itself.
        fs::create_dir_all(run.join("1/x")).unwrap();
        fs::write(run.join("2"), "").unwrap();
        fs::write(run.join("1/x/3"), "").unwrap();
        let deepest = run.join(["d"; 500].join("/"));
        fs::create_dir_all(&deepest).unwrap();
        fs::write(deepest.join("file"), "").unwrap();
        for number in 0..3000 {
            fs::write(run.join(format!("1/{number}.txt")), "").unwrap();
        }
        fs::create_dir_all(run.join("closed/inner")).unwrap();
        for folder in ["closed/inner", "closed", "d/d/d"] {
            fs::set_permissions(run.join(folder), Permissions::from_mode(0o000)).unwrap();
        }
        remove(&run).unwrap();
        assert!(!run.exists());
        assert_eq!(fs::read(&kept).unwrap(), b"kept");
        remove(&run).unwrap();
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(outside.path().join("other")).unwrap();
        fs::write(outside.path().join("other/kept"), "").unwrap();
        symlink(outside.path().join("other"), outside.path().join("run")).unwrap();
        assert!(remove(&outside.path().join("run")).is_err());
        assert!(outside.path().join("other/kept").exists());
    }
}
