//! File skills: folders under the configured roots. A skill's folder has the skill's name, in a root or one
//! level below it, and not inside another skill. The first of two with one name is the one that is used.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use belljar_executor::SkillName;
use serde::Serialize;

use super::SkillFolder;
use super::folder::read_folder_within;
use super::frontmatter::{FrontMatter, SKILL_FILE, Strictness, front_matter};
use super::host_folder::HostFolder;
use super::save_limits::SaveLimits;

/// The largest index file that is read for a listing, bytes.
const LARGEST_INDEX: usize = 1024 * 1024;

/// A file skill as a listing shows it.
#[derive(Clone, Debug, Serialize)]
pub struct FileSkill {
    /// Its name.
    pub slug: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// Its folder.
    pub folder: PathBuf,
}

/// A folder under a root that is no usable skill, or a root that cannot be read.
#[derive(Clone, Debug, Serialize)]
pub struct RootProblem {
    /// The folder.
    pub folder: PathBuf,
    /// Why it is not used.
    pub message: String,
}

/// The folder of the skill with this name; `None` when no root has one. The same walk as a listing's, so that
/// what is listed is what runs.
///
/// # Errors
/// A root that cannot be read: an earlier root may have another skill of that name.
pub(crate) fn locate(roots: &[PathBuf], slug: &SkillName) -> io::Result<Option<PathBuf>> {
    for root in roots {
        let found = walk(root)?.skills.into_iter().find(|folder| is_named(folder, slug.as_str()));
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The names of the folders that look like skills. None is read: whoever guesses names must not make anybody
/// read everything.
pub(crate) fn names(roots: &[PathBuf]) -> BTreeSet<SkillName> {
    let folders = roots.iter().filter_map(|root| walk(root).ok()).flat_map(|walked| walked.skills);
    folders.filter_map(|folder| SkillName::parse(folder.file_name()?.to_str()?).ok()).collect()
}

/// Reads a file skill whole. The gate on a script's size is the run's, so a large script is no problem here.
pub(crate) fn read(folder: &Path) -> Result<SkillFolder, String> {
    let limits = SaveLimits { max_script_bytes: usize::MAX, ..SaveLimits::default() };
    let read = read_folder_within(folder, Strictness::Lenient, &limits).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        problems.join("; ")
    })?;
    check_name(folder, read.manifest.name.as_str())?;
    Ok(read)
}

/// Every file skill, by root and path, and what is no skill though it looks like one. Only index files are read.
pub(crate) fn list(roots: &[PathBuf]) -> (Vec<FileSkill>, Vec<RootProblem>) {
    let (mut skills, mut problems, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for root in roots {
        let walked = match walk(root) {
            Ok(walked) => walked,
            Err(error) => {
                problems.push(RootProblem { folder: root.clone(), message: format!("cannot be read: {error}") });
                continue;
            }
        };
        problems.extend(walked.problems);
        for folder in walked.skills {
            // The first folder of a name is the one that is looked at when that name is run, good or bad.
            if !names.insert(folder.file_name().map(OsStr::to_owned)) {
                let message = "another folder before it has this name".to_owned();
                problems.push(RootProblem { folder, message });
                continue;
            }
            match index(&folder) {
                Ok(index) => skills.push(FileSkill { slug: index.name, description: index.description, folder }),
                Err(message) => problems.push(RootProblem { folder, message }),
            }
        }
    }
    (skills, problems)
}

fn index(folder: &Path) -> Result<FrontMatter, String> {
    let bytes = HostFolder::open_root(folder)
        .and_then(|opened| opened.read(SKILL_FILE.as_ref(), LARGEST_INDEX))
        .map_err(|error| format!("its {SKILL_FILE} cannot be read: {error}"))?
        .ok_or_else(|| format!("its {SKILL_FILE} is larger than {LARGEST_INDEX} bytes"))?;
    let (index, _) = front_matter(&bytes, Strictness::Lenient).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        problems.join("; ")
    })?;
    check_name(folder, index.name.as_str())?;
    Ok(index)
}

/// A skill is looked for by the name of its folder, so the two must agree.
fn check_name(folder: &Path, name: &str) -> Result<(), String> {
    if is_named(folder, name) {
        return Ok(());
    }
    Err(format!("the skill is named `{name}`, and its folder is not"))
}

fn is_named(folder: &Path, name: &str) -> bool {
    folder.file_name().is_some_and(|folder| folder == name)
}

/// What a root holds.
#[derive(Default)]
struct Walked {
    /// Folders with an index file: those in the root first, then those one level below.
    skills: Vec<PathBuf>,
    problems: Vec<RootProblem>,
}

/// Looks at a root's folders and at those in them that are no skills. A folder that a link leads to a second time
/// is passed over.
fn walk(root: &Path) -> io::Result<Walked> {
    let (groups, mut walked, mut seen) = (folders_in(root)?, Walked::default(), BTreeSet::new());
    let mut is_new = |folder: &PathBuf| seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone()));
    if is_skill(root) {
        let message = "is a skill itself; name the folder that it is in as the root".to_owned();
        walked.problems.push(RootProblem { folder: root.to_owned(), message });
    }
    let (skills, groups): (Vec<_>, Vec<_>) = groups.into_iter().partition(|folder| is_skill(folder));
    walked.skills.extend(skills.into_iter().filter(&mut is_new));
    for group in groups {
        match folders_in(&group) {
            Ok(folders) => {
                walked.skills.extend(folders.into_iter().filter(|folder| is_skill(folder)).filter(&mut is_new));
            }
            Err(error) => {
                walked.problems.push(RootProblem { folder: group, message: format!("cannot be read: {error}") });
            }
        }
    }
    Ok(walked)
}

/// The folders in a folder, by name; hidden ones are left out.
fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && entry.path().is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

fn is_skill(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder.join(SKILL_FILE)).is_ok()
}
