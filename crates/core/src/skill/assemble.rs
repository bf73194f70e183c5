//! A skill from files in memory: the one place where a folder, an archive or a call's files become a revision.

use std::collections::BTreeMap;
use std::sync::Arc;

use belljar_executor::{Digest, FileTree, LogicalPath};

use super::declarations::{DECLARATIONS_FILE, Declarations, Declared};
use super::file_names::{Verdict, collisions, judge, secret_message};
use super::frontmatter::{self, FrontMatter, SKILL_FILE, Strictness};
use super::language::{language_of, language_of_extension};
use super::media_type::media_type;
use super::problem::{Findings, Note, NoteKind, Problem};
use super::save_limits::{SaveLimits, size};
use super::{ComponentType, FileEntry, Manifest, ScriptDeclaration};

/// Files by path.
pub(super) type Files = BTreeMap<LogicalPath, Arc<[u8]>>;

/// A skill as it would be saved.
#[derive(Clone, Debug)]
pub struct SkillFolder {
    /// Every file and every script's declarations.
    pub manifest: Manifest,
    /// The files, byte for byte.
    pub files: FileTree,
    /// The index entry, repaired where the notes say so.
    pub front_matter: FrontMatter,
    /// What was left out, repaired, or may surprise.
    pub notes: Vec<Note>,
}

/// Makes a skill of files by name, within the default limits: for skills that a program brings with it.
///
/// # Errors
/// Every problem.
pub fn from_files<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    strictness: Strictness,
) -> Result<SkillFolder, Vec<Problem>> {
    let mut findings = Findings::default();
    let mut parsed = Files::new();
    for (name, bytes) in files {
        match LogicalPath::parse(name) {
            Ok(path) => drop(parsed.insert(path, bytes.into())),
            Err(error) => findings.problem(name, format!("has a name that is refused: {error}")),
        }
    }
    finish(parsed, strictness, &SaveLimits::default(), findings)
}

/// Makes a skill of these files, within the default limits.
///
/// # Errors
/// Every problem.
pub fn assemble(files: Files, strictness: Strictness) -> Result<SkillFolder, Vec<Problem>> {
    assemble_within(files, strictness, &SaveLimits::default())
}

/// Makes a skill of these files.
///
/// # Errors
/// Every problem.
pub fn assemble_within(files: Files, strictness: Strictness, limits: &SaveLimits) -> Result<SkillFolder, Vec<Problem>> {
    finish(files, strictness, limits, Findings::default())
}

/// Goes on from what reading the files has found.
pub(super) fn finish(
    files: Files,
    strictness: Strictness,
    limits: &SaveLimits,
    findings: Findings,
) -> Result<SkillFolder, Vec<Problem>> {
    finish_with(files, strictness, limits, BTreeMap::new(), findings)
}

/// The same, with what is declared outside of the files; it comes before what they declare themselves.
pub(super) fn finish_with(
    files: Files,
    strictness: Strictness,
    limits: &SaveLimits,
    declared: BTreeMap<LogicalPath, Declared>,
    mut findings: Findings,
) -> Result<SkillFolder, Vec<Problem>> {
    let files = keep(files, &mut findings);
    check_sizes(&files, limits, &mut findings);
    collisions(files.keys(), &mut findings);
    let front_matter = read_front_matter(&files, strictness, &mut findings);
    let mut declarations =
        named(&files, DECLARATIONS_FILE).map(|bytes| Declarations::read(bytes, &mut findings)).unwrap_or_default();
    for (path, declared) in declared {
        declarations.overlay(&path, declared);
    }
    declarations.check_paths(|path| named(&files, path).is_some(), &mut findings);
    let mut builder =
        ManifestBuilder { declarations, limits, findings, entries: BTreeMap::new(), scripts: BTreeMap::new() };
    for (path, bytes) in &files {
        builder.add(path, bytes);
    }
    let ManifestBuilder { entries, scripts, findings, .. } = builder;
    let made = front_matter.map(|front_matter| {
        let manifest = Manifest {
            name: front_matter.name.clone(),
            description: front_matter.description.clone(),
            files: entries,
            scripts,
        };
        (manifest, front_matter)
    });
    let ((manifest, front_matter), notes) = findings.into_result(made)?;
    Ok(SkillFolder { manifest, files: FileTree::new(files), front_matter, notes })
}

fn named<'a>(files: &'a Files, path: &str) -> Option<&'a [u8]> {
    LogicalPath::parse(path).ok().and_then(|path| files.get(&path)).map(|bytes| &**bytes)
}

/// Without what is never part of a skill; secrets are problems.
fn keep(files: Files, findings: &mut Findings) -> Files {
    let mut left_out: Option<String> = None;
    let mut judged = |path: &LogicalPath| {
        let text = path.as_str();
        let mut end = 0;
        for part in text.split('/') {
            end += part.len();
            match judge(part) {
                Verdict::Keep => {}
                Verdict::Secret(rule) => findings.problem(text, secret_message(rule)),
                Verdict::LeaveOut(reason) => {
                    // Its files are neighbours: one note tells of all of them.
                    if left_out.as_deref() != Some(&text[..end]) {
                        findings.note(&text[..end], NoteKind::LeftOut, left_out_message(reason));
                        left_out = Some(text[..end].to_owned());
                    }
                    return false;
                }
            }
            end += 1;
        }
        true
    };
    files.into_iter().filter(|(path, _)| judged(path)).collect()
}

pub(super) fn left_out_message(reason: &str) -> String {
    format!("was left out: {reason}")
}

fn check_sizes(files: &Files, limits: &SaveLimits, findings: &mut Findings) {
    if files.len() > limits.max_files {
        findings.problem_of_all(too_many_files(limits));
    }
    let total: usize = files.values().map(|bytes| bytes.len()).sum();
    if total > limits.max_total_bytes {
        findings.problem_of_all(too_large(limits));
    }
    for (path, bytes) in files {
        if bytes.len() > limits.max_text_bytes && is_text(bytes) {
            let rule = size(limits.max_text_bytes);
            findings.problem(path.as_str(), format!("has {} bytes; a text file has at most {rule}", bytes.len()));
        }
    }
}

pub(super) fn too_many_files(limits: &SaveLimits) -> String {
    format!("has more than {} files, the most that a skill may have", limits.max_files)
}

pub(super) fn too_large(limits: &SaveLimits) -> String {
    format!("is larger than {}, the most that a skill's files may have together", size(limits.max_total_bytes))
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

fn read_front_matter(files: &Files, strictness: Strictness, findings: &mut Findings) -> Option<FrontMatter> {
    let Some(bytes) = named(files, SKILL_FILE) else {
        if !findings.concern(SKILL_FILE) {
            findings.problem_of_all("has no `SKILL.md` at its top, so it is no skill");
        }
        return None;
    };
    frontmatter::read(bytes, strictness, findings)
}

struct ManifestBuilder<'a> {
    declarations: Declarations,
    limits: &'a SaveLimits,
    findings: Findings,
    entries: BTreeMap<LogicalPath, FileEntry>,
    scripts: BTreeMap<LogicalPath, ScriptDeclaration>,
}

impl ManifestBuilder<'_> {
    fn add(&mut self, path: &LogicalPath, bytes: &[u8]) {
        let declared = self.declarations.component_type(path);
        let component_type = declared.unwrap_or_else(|| ComponentType::of(path, bytes));
        let looks_like_script =
            declared.is_none() && component_type == ComponentType::Artifact && is_script_by_path(path);
        if component_type == ComponentType::Script || looks_like_script {
            self.add_script(path, bytes);
        }
        let entry = FileEntry {
            sha256: Digest::of(bytes),
            size: bytes.len() as u64,
            media_type: media_type(path, bytes).to_owned(),
            component_type,
        };
        self.entries.insert(path.clone(), entry);
    }

    fn add_script(&mut self, path: &LogicalPath, bytes: &[u8]) {
        let name = path.as_str();
        if matches!(name, SKILL_FILE | DECLARATIONS_FILE) {
            self.findings.problem(name, "is declared as a script, and cannot be one");
        }
        if name == "*" {
            self.findings.problem(name, "has a name that is refused for a script: in a grant it means all scripts");
        }
        if bytes.len() > self.limits.max_script_bytes {
            let rule = size(self.limits.max_script_bytes);
            self.findings.problem(name, format!("has {} bytes; a script has at most {rule}", bytes.len()));
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            let rule = "is not UTF-8 text, and a script is; declare another type for it if it is none";
            self.findings.problem(name, rule);
            return;
        };
        for warning in warnings(path, text) {
            self.findings.note(name, NoteKind::Warning, warning);
        }
        let mut declaration = self.declarations.scripts.remove(name).unwrap_or_else(undeclared);
        declaration.language = declaration.language.or_else(|| language_of(path, text));
        if declaration.language.is_none() {
            let warning = "nothing tells its language: it has no extension, no known shebang and no declared `runtime`";
            self.findings.note(name, NoteKind::Warning, warning);
        }
        self.scripts.insert(path.clone(), declaration);
    }
}

fn is_script_by_path(path: &LogicalPath) -> bool {
    path.as_str().starts_with("scripts/")
        && path.extension().is_some_and(|extension| language_of_extension(&extension).is_some())
}

fn undeclared() -> ScriptDeclaration {
    ScriptDeclaration {
        language: None,
        description: None,
        input: super::InputMode::default(),
        cwd: belljar_executor::WorkingDirectory::default(),
        parameters: None,
        output: None,
        timeout_seconds: None,
        limits: super::LimitsDeclaration::default(),
        standalone: false,
    }
}

/// What may surprise in a script; it is saved and run as it is.
fn warnings(path: &LogicalPath, text: &str) -> impl Iterator<Item = &'static str> {
    // An empty one of these is how Python marks a package.
    let is_package_mark = path.file_name() == "__init__.py";
    [
        (text.is_empty() && !is_package_mark, "is empty; it will run and do nothing"),
        (text.contains('\0'), "holds a NUL character; it was kept"),
        (text.starts_with('\u{feff}'), "starts with a byte-order mark; it was kept, and hides a shebang"),
        (text.contains("\r\n"), "has Windows line ends (CRLF); they were kept, and a shell may stumble over them"),
    ]
    .into_iter()
    .filter_map(|(applies, warning)| applies.then_some(warning))
}
