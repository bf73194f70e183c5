//! The front matter of `SKILL.md`: the one place where YAML is read, and it is hostile.
//!
//! At most 64 KiB, a small budget of nodes, no aliases, no duplicate keys. The file itself is never changed: what
//! is repaired, and reported, is the index entry made from it.

mod notation;
mod repaired;

use std::collections::BTreeMap;

use belljar_executor::SkillName;
use serde::Serialize;
use serde_json::Value;
use serde_saphyr::Spanned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use super::problem::{Findings, Note, NoteKind, Problem, shown};

/// The file that makes a folder a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// The largest front matter, bytes.
const LARGEST: usize = 64 * 1024;
const LONGEST_DESCRIPTION: usize = 1024;
const LONGEST_COMPATIBILITY: usize = 500;

/// How a skill is read that does not keep to the letter of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// What can be repaired in the index entry is, with a note.
    #[default]
    Lenient,
    /// It is refused.
    Strict,
}

/// The index entry of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrontMatter {
    /// Its name.
    pub name: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// Its licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Tools that it may use, as its author wrote them.
    #[serde(rename = "allowed-tools", skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<String>,
    /// Everything else.
    pub metadata: BTreeMap<String, String>,
}

/// Reads the front matter of a `SKILL.md`.
///
/// # Errors
/// Every problem, each with its line where that is known.
pub fn front_matter(bytes: &[u8], strictness: Strictness) -> Result<(FrontMatter, Vec<Note>), Vec<Problem>> {
    let mut findings = Findings::default();
    let front_matter = read(bytes, strictness, &mut findings);
    findings.into_result(front_matter)
}

/// What an index file says below its front matter, for the model to follow; nothing when it is not text.
#[must_use]
pub fn instructions(index: &[u8]) -> &str {
    std::str::from_utf8(repaired::below(index)).map(str::trim).unwrap_or_default()
}

/// How many lines the front matter has, with both `---` lines.
pub(crate) fn front_matter_lines(index: &[u8]) -> usize {
    head(index).split_inclusive(|byte| *byte == b'\n').count()
}

/// The front matter as it stands there, with both `---` lines.
pub(super) fn head(index: &[u8]) -> &[u8] {
    &index[..index.len() - repaired::below(index).len()]
}

pub(super) fn read(bytes: &[u8], strictness: Strictness, findings: &mut Findings) -> Option<FrontMatter> {
    let parsed = block_of(bytes, strictness, findings).and_then(|block| Ok((block, parse(block)?)));
    match parsed {
        Ok((block, entries)) => {
            if strictness == Strictness::Strict {
                for (line, what) in notation::beyond_the_format(block) {
                    // The block starts below the opening line.
                    findings.problem(SKILL_FILE, format!("line {}: front matter {what}", line + 1));
                }
            }
            Entries { block, entries, strictness, findings }.into_front_matter()
        }
        Err(message) => {
            findings.problem(SKILL_FILE, message);
            None
        }
    }
}

/// The text between the two `---` lines.
fn block_of<'a>(bytes: &'a [u8], strictness: Strictness, findings: &mut Findings) -> Result<&'a str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        format!("line {line}: is not UTF-8 text")
    })?;
    let after_mark = text.strip_prefix('\u{feff}');
    match strictness {
        _ if after_mark.is_none() => {}
        Strictness::Strict => findings.problem(SKILL_FILE, "starts with a byte-order mark"),
        Strictness::Lenient => {
            findings.note(SKILL_FILE, NoteKind::Warning, "starts with a byte-order mark; it was kept");
        }
    }
    let text = after_mark.unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err("line 1: has no front matter: its first line must be `---`".to_owned());
    }
    if first.ends_with("\r\n") {
        findings.note(SKILL_FILE, NoteKind::Warning, "has Windows line ends (CRLF); they were kept");
    }
    let start = first.len();
    let mut end = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Ok(&text[start..end]);
        }
        end += line.len();
        if end - start > LARGEST {
            return Err("front matter is larger than 64 KiB, or its closing `---` line is missing".to_owned());
        }
    }
    Err("front matter is not closed: a second `---` line is missing".to_owned())
}

type Parsed = BTreeMap<String, Spanned<Value>>;

fn parse(block: &str) -> Result<Parsed, String> {
    let limits = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: 2_000,
            max_events: 8_000,
            max_depth: 16,
            flow_nesting_limit: 16,
            max_aliases: 0,
            max_anchors: 16,
            max_recorded_anchor_events: 2_000,
            max_recorded_anchor_bytes: LARGEST,
            max_total_scalar_bytes: 2 * LARGEST,
            max_documents: 1,
            max_merge_keys: 0,
            max_inclusion_depth: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(block, limits).map_err(|error| {
        let cause = cause_of(&error);
        match error.location() {
            // The block starts below the opening line.
            Some(location) if location.line() > 0 => {
                format!("line {}: front matter cannot be read as YAML: {cause}", location.line() + 1)
            }
            _ => format!("front matter cannot be read as YAML: {cause}"),
        }
    })
}

/// The parser's first line, without its own count of lines and its advice to programmers.
fn cause_of(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let mut cause = text.lines().next().unwrap_or_default();
    for noise in [" at line ", ", set DuplicateKeyPolicy"] {
        cause = cause.rsplit_once(noise).map_or(cause, |(before, _)| before);
    }
    if cause.starts_with("budget breached") {
        return "it has an alias (none is accepted), more than 2,000 values or more than 16 levels".to_owned();
    }
    shown(cause)
}

/// The top-level entries that are not yet part of the index entry.
struct Entries<'a> {
    block: &'a str,
    entries: Parsed,
    strictness: Strictness,
    findings: &'a mut Findings,
}

impl Entries<'_> {
    fn into_front_matter(mut self) -> Option<FrontMatter> {
        let name = self.name();
        let description = self.description();
        let license = self.optional("license");
        let compatibility =
            self.optional("compatibility").map(|text| self.at_most("compatibility", text, LONGEST_COMPATIBILITY));
        let allowed_tools = self.allowed_tools();
        let mut metadata = self.metadata();
        self.unknown_keys(&mut metadata);
        Some(FrontMatter { name: name?, description: description?, license, compatibility, allowed_tools, metadata })
    }

    fn name(&mut self) -> Option<SkillName> {
        let Some(text) = self.optional("name") else {
            self.findings.problem(SKILL_FILE, "front matter has no `name`");
            return None;
        };
        match SkillName::parse(&text) {
            Ok(name) => Some(name),
            Err(error) => {
                let hint = suggestion(&text).map(|name| format!("; `{name}` would be one")).unwrap_or_default();
                self.findings.problem(SKILL_FILE, format!("`name` is `{}`: {error}{hint}", shown(&text)));
                None
            }
        }
    }

    fn description(&mut self) -> Option<String> {
        let text = self.optional("description").map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let Some(text) = text else {
            self.findings.problem(SKILL_FILE, "front matter has no `description`");
            return None;
        };
        Some(self.at_most("description", text, LONGEST_DESCRIPTION))
    }

    fn allowed_tools(&mut self) -> Option<String> {
        let node = self.entries.get("allowed-tools")?;
        let Value::Array(items) = &node.value else { return self.optional("allowed-tools") };
        let tools: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let Some(tools) = tools.map(|tools| tools.join(" ")) else { return self.optional("allowed-tools") };
        let line = line_of(node);
        self.entries.remove("allowed-tools");
        self.repair(line, "`allowed-tools` must be a text with spaces between the tools, not a list", "joined");
        Some(tools)
    }

    fn metadata(&mut self) -> BTreeMap<String, String> {
        let Some(node) = self.entries.remove("metadata") else { return BTreeMap::new() };
        match &node.value {
            Value::Null => BTreeMap::new(),
            Value::Object(_) => {
                // Read once more, now with the place of each value: `1.10` is not to become `1.1`.
                let values = parse_metadata(self.block).unwrap_or_default();
                values
                    .into_iter()
                    .filter_map(|(key, value)| Some((key.clone(), self.text(&format!("metadata.{key}"), &value)?)))
                    .collect()
            }
            _ => {
                let text = self.text("metadata", &node);
                text.map(|text| ("metadata".to_owned(), text)).into_iter().collect()
            }
        }
    }

    /// Moves what the format does not know to the metadata, or refuses it.
    fn unknown_keys(&mut self, metadata: &mut BTreeMap<String, String>) {
        for (key, node) in std::mem::take(&mut self.entries) {
            let line = line_of(&node);
            let name = shown(&key);
            self.repair(line, &format!("`{name}` is no top-level key of the format"), "moved to `metadata`");
            if self.strictness == Strictness::Strict {
                continue;
            }
            let text = as_text(self.block, &node);
            let taken = metadata.get(&key).is_some_and(|there| *there != text);
            let key = if taken { format!("{key} (top level)") } else { key };
            metadata.insert(key, text);
        }
    }

    /// A text that may be missing.
    fn optional(&mut self, key: &str) -> Option<String> {
        let node = self.entries.remove(key)?;
        if node.value.is_null() { None } else { self.text(key, &node) }
    }

    /// A value as text. One that is not a text is repaired; one that could steer a terminal is refused.
    fn text(&mut self, key: &str, node: &Spanned<Value>) -> Option<String> {
        let line = line_of(node);
        let key = shown(key);
        if !node.value.is_string() {
            self.repair(line, &format!("`{key}` must be a text (put it in quotes)"), "taken as it is written");
        }
        let text = as_text(self.block, node);
        if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\r' | '\t')) {
            self.findings.problem(SKILL_FILE, format!("line {line}: `{key}` holds a control character"));
            return None;
        }
        Some(text)
    }

    fn at_most(&mut self, key: &str, text: String, longest: usize) -> String {
        let length = text.chars().count();
        if length <= longest {
            return text;
        }
        let rule = format!("`{key}` has {length} characters, and may have {longest}");
        self.repair_somewhere(&rule, "cut in the index");
        text.chars().take(longest).collect()
    }

    fn repair(&mut self, line: u64, rule: &str, mended: &str) {
        self.repair_somewhere(&format!("line {line}: {rule}"), mended);
    }

    fn repair_somewhere(&mut self, rule: &str, mended: &str) {
        match self.strictness {
            Strictness::Strict => self.findings.problem(SKILL_FILE, rule),
            Strictness::Lenient => {
                self.findings.note(SKILL_FILE, NoteKind::Repaired, format!("{rule}; it was {mended}"));
            }
        }
    }
}

fn parse_metadata(block: &str) -> Option<Parsed> {
    #[derive(serde::Deserialize)]
    struct Metadata {
        metadata: Parsed,
    }
    // The whole block was read within its budget before.
    serde_saphyr::from_str::<Metadata>(block).ok().map(|read| read.metadata)
}

fn line_of(node: &Spanned<Value>) -> u64 {
    node.referenced.line() + 1
}

/// A value as its author wrote it: texts as they are, numbers by their spelling, the rest as JSON.
fn as_text(block: &str, node: &Spanned<Value>) -> String {
    match &node.value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => written(block, node).unwrap_or_else(|| node.value.to_string()),
        other => other.to_string(),
    }
}

fn written(block: &str, node: &Spanned<Value>) -> Option<String> {
    let span = node.defined.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    let text = block.get(start..start.checked_add(length)?)?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The nearest valid name, for the message.
fn suggestion(text: &str) -> Option<SkillName> {
    let plain: String =
        text.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(64).collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    SkillName::parse(&parts.join("-")).ok()
}

#[cfg(test)]
mod tests;
