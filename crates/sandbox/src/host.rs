//! What is read of the host, once, to furnish every sandbox: the shape of `/`, and the few files of `/etc`
//! that programs look for.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Beside `/usr`, what programs and the loader expect at the top.
const TOP: [&str; 4] = ["bin", "sbin", "lib", "lib64"];
/// Copied as they are, where they are. The loader's cache makes every program start faster.
const COPIED: [&str; 3] = ["localtime", "timezone", "ld.so.cache"];

const PASSWD: &str = "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n";
const GROUP: &str = "nogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n127.0.0.1 belljar\n";
const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files\n";

/// How a folder at the top is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// A link into `/usr`, as on the host.
    Link { path: String, target: String },
    /// A read-only view of the host's folder.
    View { path: String },
}

/// What every sandbox gets of this host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    pub(crate) top: Vec<Top>,
    /// Path and content.
    pub(crate) etc: Vec<(String, Vec<u8>)>,
    /// Name and target, all of them into `/usr`.
    pub(crate) alternatives: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Host {
    /// Reads the host.
    pub(crate) fn read() -> io::Result<Self> {
        let generated = [("passwd", PASSWD), ("group", GROUP), ("hosts", HOSTS), ("nsswitch.conf", NSSWITCH)];
        let mut etc: Vec<_> = generated.map(|(name, text)| (format!("/etc/{name}"), text.as_bytes().to_vec())).into();
        for name in COPIED {
            let path = format!("/etc/{name}");
            if let Ok(content) = fs::read(&path) {
                etc.push((path, content));
            }
        }
        Ok(Self { top: top()?, etc, alternatives: alternatives() })
    }
}

fn top() -> io::Result<Vec<Top>> {
    let mut top = Vec::new();
    for name in TOP {
        let path = format!("/{name}");
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                let target = fs::read_link(&path)?;
                let Some(target) = target.to_str().filter(|target| is_into_usr(Path::new(target))) else {
                    return Err(io::Error::other(format!("{path} is a link out of /usr")));
                };
                top.push(Top::Link { path, target: target.to_owned() });
            }
            Ok(found) if found.is_dir() => top.push(Top::View { path }),
            _ => {}
        }
    }
    Ok(top)
}

fn alternatives() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut links: Vec<_> = fs::read_dir("/etc/alternatives")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name(), fs::read_link(entry.path()).ok()?)))
        // Manual pages are most of the links, and no script reads them.
        .filter(|(_, target)| target.is_absolute() && is_into_usr(target) && !target.starts_with("/usr/share/man"))
        .map(|(name, target)| (name.as_bytes().to_vec(), target.as_os_str().as_bytes().to_vec()))
        .collect();
    links.sort();
    links
}

fn is_into_usr(target: &Path) -> bool {
    let absolute = PathBuf::from("/").join(target);
    absolute.starts_with("/usr") && absolute.components().all(|part| part != std::path::Component::ParentDir)
}

/// The real file behind a path of the sandbox, if the sandbox has it: it must be under `/usr` in the end.
pub(crate) fn visible_program(path: &str) -> Option<PathBuf> {
    let real = fs::canonicalize(path).ok()?;
    let begins_inside = ["/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/"].iter().any(|top| path.starts_with(top));
    let ends_inside = ["/usr", "/bin", "/sbin", "/lib", "/lib64"].iter().any(|top| real.starts_with(top));
    (begins_inside && ends_inside && real.is_file()).then_some(real)
}
