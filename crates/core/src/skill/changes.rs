//! Changes to a skill, as a call brings them: what is left out stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use belljar_executor::{FileTree, LogicalPath, SkillName};
use serde_json::{Map, Value};

use super::assemble::{Files, SkillFolder, finish_with};
use super::declarations::Declared;
use super::frontmatter::{self, FrontMatter, SKILL_FILE, Strictness};
use super::language::language_of;
use super::problem::{Findings, Problem, shown};
use super::save_limits::SaveLimits;
use super::{ComponentType, Manifest, ScriptDeclaration, assemble};

/// One file of a skill that is new or changed.
#[derive(Clone, Debug)]
pub struct ComponentChange {
    path: LogicalPath,
    /// Its new bytes; without them only what is declared about it changes.
    content: Option<Arc<[u8]>>,
    component_type: Option<ComponentType>,
    /// What is declared about it as a script; null takes a declaration back.
    declarations: Map<String, Value>,
}

/// What changes in a skill, or makes it.
#[derive(Clone, Debug)]
pub struct Changes {
    /// Its name.
    pub name: SkillName,
    /// A new description.
    pub description: Option<String>,
    /// New instructions: what the index file says below its front matter.
    pub instructions: Option<String>,
    /// New and changed files.
    pub components: Vec<ComponentChange>,
}

/// A skill as it was saved.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// Every file and every script's declarations.
    pub manifest: &'a Manifest,
    /// The files.
    pub files: &'a FileTree,
}

impl ComponentChange {
    /// Reads a JSON array of `{path, type?, content | base64, …}`, where the rest are a script's declarations.
    ///
    /// # Errors
    /// What is wrong with which of them.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let value = crate::json::parse(text).map_err(|error| format!("is not JSON: {error}"))?;
        let Value::Array(items) = value else { return Err("is not an array of components".to_owned()) };
        let mut changes = Vec::with_capacity(items.len());
        let mut seen = BTreeSet::new();
        for (number, item) in items.into_iter().enumerate() {
            let change = Self::parse(item).map_err(|error| format!("[{number}] {error}"))?;
            if !seen.insert(change.path.clone()) {
                return Err(format!("[{number}] names {} a second time", shown(change.path.as_str())));
            }
            changes.push(change);
        }
        Ok(changes)
    }

    fn parse(item: Value) -> Result<Self, String> {
        let Value::Object(mut item) = item else { return Err("is not an object".to_owned()) };
        let path = match item.shift_remove("path") {
            Some(Value::String(path)) => path,
            Some(_) => return Err("has a `path` that is no text".to_owned()),
            None => return Err("has no `path`".to_owned()),
        };
        let path = LogicalPath::parse(&path).map_err(|error| format!("has a `path` that is refused: {error}"))?;
        let name = shown(path.as_str());
        let component_type = item.shift_remove("type").map(serde_json::from_value).transpose();
        let component_type =
            component_type.map_err(|error| format!("{name}: `type`: {}", shown(&error.to_string())))?;
        let content = match (item.shift_remove("content"), item.shift_remove("base64")) {
            (None, None) => None,
            (Some(Value::String(text)), None) => Some(Arc::from(text.into_bytes())),
            (None, Some(Value::String(text))) => {
                let bytes = STANDARD.decode(&text).map_err(|error| format!("{name}: `base64`: {error}"))?;
                Some(Arc::from(bytes))
            }
            (Some(_), Some(_)) => return Err(format!("{name}: has both `content` and `base64`")),
            _ => return Err(format!("{name}: `content` and `base64` are texts")),
        };
        Ok(Self { path, content, component_type, declarations: item })
    }
}

/// The skill with these changes; without a base a new one.
///
/// # Errors
/// Every problem.
pub fn apply(base: Option<Base<'_>>, changes: Changes) -> Result<SkillFolder, Vec<Problem>> {
    let mut findings = Findings::default();
    let mut files: Files =
        base.iter().flat_map(|base| base.files.iter()).map(|(p, b)| (p.clone(), b.clone())).collect();
    let mut declared = base.map(declared_outside).transpose()?.unwrap_or_default();
    let brings_index = changes.components.iter().any(|change| change.path.as_str() == SKILL_FILE);
    for change in changes.components {
        take(change, base, &mut files, &mut declared, &mut findings);
    }
    let texts = (changes.description, changes.instructions);
    let strictness = if brings_index || texts.0.is_some() || base.is_none() {
        Strictness::Strict
    } else {
        // What was imported leniently stays so.
        Strictness::Lenient
    };
    match (brings_index, texts) {
        (true, (None, None)) => {}
        (false, (None, None)) if base.is_some() => {}
        (true, _) => {
            findings.problem(SKILL_FILE, "is given as a component, so `description` and `instructions` cannot be");
        }
        (false, (description, instructions)) => {
            write_index(&changes.name, description, instructions, &mut files, &mut findings);
        }
    }
    let folder = finish_with(files, strictness, &SaveLimits::default(), declared, findings)?;
    if folder.manifest.name != changes.name {
        let message = format!("is named {} in its front matter, not {}", folder.manifest.name, changes.name);
        return Err(vec![Problem { path: Some(SKILL_FILE.to_owned()), message }]);
    }
    Ok(folder)
}

/// What is declared about the files of a saved skill beside its own `belljar.toml`.
fn declared_outside(base: Base<'_>) -> Result<BTreeMap<LogicalPath, Declared>, Vec<Problem>> {
    let files = base.files.iter().map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
    let inside = assemble(files, Strictness::Lenient)?.manifest;
    let mut declared = BTreeMap::new();
    for (path, entry) in &base.manifest.files {
        let type_inside = inside.files.get(path).map(|entry| entry.component_type);
        let component_type = (type_inside != Some(entry.component_type)).then_some(entry.component_type);
        let script = base.manifest.scripts.get(path).filter(|script| inside.scripts.get(path) != Some(*script));
        let script = script.map(|script| without_evident_language(path, base.files.get(path), script));
        if component_type.is_some() || script.is_some() {
            declared.insert(path.clone(), Declared { component_type, script });
        }
    }
    Ok(declared)
}

/// A language that the file itself tells was not declared, and goes when the file changes.
fn without_evident_language(
    path: &LogicalPath,
    bytes: Option<&Arc<[u8]>>,
    script: &ScriptDeclaration,
) -> ScriptDeclaration {
    let evident = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(|text| language_of(path, text));
    let language = script.language.clone().filter(|_| script.language != evident);
    ScriptDeclaration { language, ..script.clone() }
}

fn take(
    change: ComponentChange,
    base: Option<Base<'_>>,
    files: &mut Files,
    declared: &mut BTreeMap<LogicalPath, Declared>,
    findings: &mut Findings,
) {
    let ComponentChange { path, content, component_type, declarations } = change;
    match content {
        Some(bytes) => drop(files.insert(path.clone(), bytes)),
        None if files.contains_key(&path) => {}
        None => return findings.problem(path.as_str(), "is new, so it needs `content` or `base64`"),
    }
    let mut now = declared.remove(&path).unwrap_or_default();
    now.component_type = component_type.or(now.component_type);
    if let Some(kind) = now.component_type.filter(|kind| *kind != ComponentType::Script) {
        now.script = None;
        if let Some(key) = declarations.keys().next() {
            let message = format!("is declared as a {}, and only a script has `{}`", kind.as_str(), shown(key));
            return findings.problem(path.as_str(), message);
        }
    }
    if !declarations.is_empty() {
        let known = base.and_then(|base| {
            let script = base.manifest.scripts.get(&path)?;
            Some(without_evident_language(&path, base.files.get(&path), script))
        });
        now.script = ScriptDeclaration::changed(&path, known, declarations, findings).or(now.script);
    }
    declared.insert(path, now);
}

/// Writes the index file: a front matter that only gets new instructions stays as it is, byte for byte.
fn write_index(
    name: &SkillName,
    description: Option<String>,
    instructions: Option<String>,
    files: &mut Files,
    findings: &mut Findings,
) {
    let Ok(path) = LogicalPath::parse(SKILL_FILE) else { return };
    let old = files.get(&path).cloned();
    let text =
        instructions.unwrap_or_else(|| old.as_deref().map(frontmatter::instructions).unwrap_or_default().to_owned());
    let entry = old.as_deref().and_then(|old| frontmatter::read(old, Strictness::Lenient, findings));
    let head = match (description, entry, old.as_deref()) {
        (None, Some(_), Some(old)) => frontmatter::head(old).to_vec(),
        (Some(description), Some(entry), _) => FrontMatter { description, ..entry }.to_yaml().into_bytes(),
        (description, _, _) => FrontMatter::new(name.clone(), description.unwrap_or_default()).to_yaml().into_bytes(),
    };
    let body = format!("\n{}\n", text.trim_end());
    files.insert(path, Arc::from([head, body.into_bytes()].concat()));
}
