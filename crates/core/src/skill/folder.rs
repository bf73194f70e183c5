//! A skill from a folder of the host, read within the limits and never past them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use belljar_executor::LogicalPath;

use super::assemble::{Files, SkillFolder, finish, left_out_message, too_large, too_many_files};
use super::file_names::{Verdict, judge, secret_message};
use super::frontmatter::{SKILL_FILE, Strictness};
use super::host_folder::{HostFolder, Kind};
use super::problem::{Findings, Note, NoteKind, Problem};
use super::save_limits::SaveLimits;

/// For each file that a skill may have, this many entries are looked at: folders and what is left out.
const ENTRIES_A_FILE: usize = 8;

/// Reads a skill from a folder, within the default limits.
///
/// # Errors
/// Every problem; when a limit of the whole skill is passed, those found until then.
pub fn read_folder(path: &Path, strictness: Strictness) -> Result<SkillFolder, Vec<Problem>> {
    read_folder_within(path, strictness, &SaveLimits::default())
}

/// Reads a skill from a folder. The folder itself may be a symbolic link; nothing in it may.
///
/// # Errors
/// Every problem; when a limit of the whole skill is passed, those found until then.
pub fn read_folder_within(
    path: &Path,
    strictness: Strictness,
    limits: &SaveLimits,
) -> Result<SkillFolder, Vec<Problem>> {
    let root = HostFolder::open_root(path).map_err(|error| {
        vec![Problem { path: None, message: format!("cannot open the folder `{}`: {error}", path.display()) }]
    })?;
    let mut reader = Reader::new(limits);
    if reader.read(&root, "").is_err() {
        return Err(reader.findings.into_result::<()>(None).map_or_else(|problems| problems, |_| Vec::new()));
    }
    let mut skill = finish(reader.files, strictness, limits, reader.findings)?;
    skill.notes.extend(other_folder_name(path, skill.manifest.name.as_str()));
    Ok(skill)
}

/// The format wants the folder to have the skill's name.
fn other_folder_name(path: &Path, name: &str) -> Option<Note> {
    let resolved = path.canonicalize().ok();
    let mut names = [Some(path), resolved.as_deref()].into_iter().flatten().filter_map(Path::file_name);
    if names.any(|folder| folder == OsStr::new(name)) {
        return None;
    }
    let message = format!("the skill is named `{name}`, and its folder is not");
    Some(Note { path: SKILL_FILE.to_owned(), message, kind: NoteKind::Warning })
}

/// A limit of the whole skill is passed: nothing more is read.
struct Stopped;

struct Reader<'a> {
    limits: &'a SaveLimits,
    files: Files,
    bytes: usize,
    entries: usize,
    findings: Findings,
}

impl<'a> Reader<'a> {
    fn new(limits: &'a SaveLimits) -> Self {
        Self { limits, files: BTreeMap::new(), bytes: 0, entries: 0, findings: Findings::default() }
    }

    /// Reads a folder; `prefix` is its path in the skill, with a `/` at its end, or empty. The depth is bounded by
    /// that of a [`LogicalPath`].
    fn read(&mut self, folder: &HostFolder, prefix: &str) -> Result<(), Stopped> {
        for name in self.names(folder, prefix)? {
            self.entry(folder, prefix, &name)?;
        }
        Ok(())
    }

    fn names(&mut self, folder: &HostFolder, prefix: &str) -> Result<Vec<OsString>, Stopped> {
        let most = self.limits.max_files.saturating_mul(ENTRIES_A_FILE);
        match folder.names(most - self.entries) {
            Ok(Some(names)) => {
                if names.is_empty() && !prefix.is_empty() {
                    let message = left_out_message("an empty folder is not kept");
                    self.findings.note(prefix.trim_end_matches('/'), NoteKind::LeftOut, message);
                }
                self.entries += names.len();
                Ok(names)
            }
            Ok(None) => {
                self.findings.problem_of_all(format!("has more than {most} files and folders"));
                Err(Stopped)
            }
            Err(error) => {
                self.findings.problem(prefix, format!("cannot be read: {error}"));
                Ok(Vec::new())
            }
        }
    }

    fn entry(&mut self, folder: &HostFolder, prefix: &str, name: &OsStr) -> Result<(), Stopped> {
        let shown = format!("{prefix}{}", name.to_string_lossy());
        let kind = match folder.kind(name) {
            Ok(Kind::Other(what)) => {
                let message = format!("is {what}; a skill holds only files and folders");
                self.findings.problem(&shown, message);
                return Ok(());
            }
            Ok(kind) => kind,
            Err(error) => {
                self.findings.problem(&shown, format!("cannot be read: {error}"));
                return Ok(());
            }
        };
        let Some(text) = name.to_str() else {
            self.findings.problem(&shown, "has a name that is not UTF-8");
            return Ok(());
        };
        match judge(text) {
            Verdict::LeaveOut(reason) => {
                self.findings.note(&shown, NoteKind::LeftOut, left_out_message(reason));
                return Ok(());
            }
            Verdict::Secret(rule) => {
                self.findings.problem(&shown, secret_message(rule));
                return Ok(());
            }
            Verdict::Keep => {}
        }
        match LogicalPath::parse(&shown) {
            Err(error) => self.findings.problem(&shown, format!("has a name that is refused: {error}")),
            Ok(path) if kind == Kind::File => return self.file(folder, name, path),
            Ok(_) => match folder.folder(name) {
                Ok(inner) => return self.read(&inner, &format!("{shown}/")),
                Err(error) => self.findings.problem(&shown, format!("cannot be opened: {error}")),
            },
        }
        Ok(())
    }

    fn file(&mut self, folder: &HostFolder, name: &OsStr, path: LogicalPath) -> Result<(), Stopped> {
        if self.files.len() == self.limits.max_files {
            self.findings.problem_of_all(too_many_files(self.limits));
            return Err(Stopped);
        }
        match folder.read(name, self.limits.max_total_bytes - self.bytes) {
            Ok(Some(bytes)) => {
                self.bytes += bytes.len();
                self.files.insert(path, bytes.into());
            }
            Ok(None) => {
                self.findings.problem_of_all(too_large(self.limits));
                return Err(Stopped);
            }
            Err(error) => self.findings.problem(path.as_str(), format!("cannot be read: {error}")),
        }
        Ok(())
    }
}
