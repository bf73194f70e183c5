//! A skill as a zip archive. Nothing of an archive is believed: names, kinds, sizes and their sum are checked
//! while it is read, and nothing is ever unpacked to a disk.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use belljar_executor::{FileTree, LogicalPath, SkillName};
use zip::read::{ZipArchive, ZipFile};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::assemble::{Files, SkillFolder, finish, too_large, too_many_files};
use super::frontmatter::{SKILL_FILE, Strictness};
use super::problem::{Findings, Problem};
use super::save_limits::SaveLimits;

/// For each file that a skill may have, this many entries are looked at.
const ENTRIES_A_FILE: usize = 8;

/// What more than this many times its packed size is a bomb, from a size on that honest text may have.
const LARGEST_RATIO: u64 = 200;
const RATIO_FROM: u64 = 64 * 1024;

/// Reads a skill from a zip archive: at its top, or in the one folder that it has there.
///
/// # Errors
/// Every problem; when a limit of the whole skill is passed, those found until then.
pub fn read_archive(bytes: &[u8], strictness: Strictness, limits: &SaveLimits) -> Result<SkillFolder, Vec<Problem>> {
    let mut findings = Findings::default();
    let mut archive = match ZipArchive::new(Cursor::new(bytes)) {
        Ok(archive) => archive,
        Err(error) => return Err(vec![Problem { path: None, message: format!("is no zip archive: {error}") }]),
    };
    let most = limits.max_files.saturating_mul(ENTRIES_A_FILE);
    if archive.len() > most {
        findings.problem_of_all(format!("has more than {most} entries"));
        return Err(problems(findings));
    }
    let mut reader = Reader { limits, files: BTreeMap::new(), bytes: 0, findings };
    for index in 0..archive.len() {
        let read = match archive.by_index(index) {
            Ok(entry) => reader.entry(entry),
            Err(error) => {
                reader.findings.problem_of_all(format!("entry {} cannot be read: {error}", index + 1));
                Ok(())
            }
        };
        if read.is_err() {
            return Err(problems(reader.findings));
        }
    }
    let Reader { files, mut findings, .. } = reader;
    let files = at_top(files, &mut findings);
    finish(files, strictness, limits, findings)
}

fn problems(findings: Findings) -> Vec<Problem> {
    findings.into_result::<()>(None).map_or_else(|problems| problems, |_| Vec::new())
}

/// A limit of the whole skill is passed: nothing more is read.
struct Stopped;

struct Reader<'a> {
    limits: &'a SaveLimits,
    files: BTreeMap<String, Vec<u8>>,
    bytes: usize,
    findings: Findings,
}

impl Reader<'_> {
    fn entry(&mut self, mut entry: ZipFile<'_, Cursor<&[u8]>>) -> Result<(), Stopped> {
        let raw = entry.name_raw().to_vec();
        let shown = String::from_utf8_lossy(&raw).into_owned();
        let Ok(name) = String::from_utf8(raw) else {
            self.findings.problem(&shown, "has a name that is not UTF-8");
            return Ok(());
        };
        if entry.is_dir() {
            return Ok(());
        }
        if let Some(message) = refused(&name, &entry) {
            self.findings.problem(&shown, message);
            return Ok(());
        }
        if self.files.len() == self.limits.max_files {
            self.findings.problem_of_all(too_many_files(self.limits));
            return Err(Stopped);
        }
        let room = self.limits.max_total_bytes - self.bytes;
        let ratio = (entry.compressed_size().max(1)).saturating_mul(LARGEST_RATIO).max(RATIO_FROM);
        // One byte more than there may be tells that there is more, whatever the header says.
        let most = (room as u64).min(ratio);
        let mut bytes = Vec::new();
        if let Err(error) = (&mut entry).take(most + 1).read_to_end(&mut bytes) {
            self.findings.problem(&shown, format!("cannot be unpacked: {error}"));
            return Ok(());
        }
        if bytes.len() > room {
            self.findings.problem_of_all(too_large(self.limits));
            return Err(Stopped);
        }
        if bytes.len() as u64 > ratio {
            let message = format!("unpacks to more than {LARGEST_RATIO} times its size, as bombs do");
            self.findings.problem(&shown, message);
            return Err(Stopped);
        }
        self.bytes += bytes.len();
        if self.files.insert(name, bytes).is_some() {
            self.findings.problem(&shown, "stands twice in the archive");
        }
        Ok(())
    }
}

/// Why an entry is no file of a skill. What is wrong with the path itself is told when it becomes one.
fn refused(name: &str, entry: &ZipFile<'_, Cursor<&[u8]>>) -> Option<&'static str> {
    if entry.is_symlink() {
        Some("is a symbolic link; a skill holds only files and folders")
    } else if entry.encrypted() {
        Some("is encrypted")
    } else if entry.unix_mode().is_some_and(|mode| !matches!(mode & 0o170_000, 0 | 0o100_000)) {
        Some("is neither a file nor a folder")
    } else if name.starts_with('/') || name.contains(['\\', '\0']) {
        Some("has a name that is refused: it is absolute, or holds a backslash or a NUL")
    } else {
        None
    }
}

/// The files as paths inside the skill: without the one folder that all of them are in, when the index file is
/// not at the top.
fn at_top(files: BTreeMap<String, Vec<u8>>, findings: &mut Findings) -> Files {
    let top = (!files.contains_key(SKILL_FILE)).then(|| only_folder(&files)).flatten();
    let mut named = Files::new();
    for (name, bytes) in files {
        let inner = top.as_deref().and_then(|top| name.strip_prefix(top)).unwrap_or(&name);
        if top.is_some() && name.starts_with("__MACOSX/") {
            continue;
        }
        match LogicalPath::parse(inner) {
            Ok(path) => drop(named.insert(path, bytes.into())),
            Err(error) => findings.problem(&name, format!("has a name that is refused: {error}")),
        }
    }
    named
}

fn only_folder(files: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let mut names = files.keys().filter(|name| !name.starts_with("__MACOSX/"));
    let top = names.next()?.split_once('/')?.0;
    let top = format!("{top}/");
    let is_only = names.all(|name| name.starts_with(&top)) && files.contains_key(&format!("{top}{SKILL_FILE}"));
    is_only.then_some(top)
}

/// Writes a skill as a zip archive, in a folder with the skill's name. The same files give the same bytes.
///
/// # Errors
/// When the archive cannot be made, which has no cause in the files.
pub fn write_archive(name: &SkillName, files: &FileTree) -> Result<Vec<u8>, std::io::Error> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files.iter() {
        let mode = if bytes.starts_with(b"#!") { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(mode);
        writer.start_file(format!("{name}/{path}"), options)?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}
