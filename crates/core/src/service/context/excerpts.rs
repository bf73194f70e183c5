//! The paragraphs of a skill's texts that speak of what is asked.

use belljar_executor::LogicalPath;
use serde::Serialize;

use crate::skill::{ComponentType, Edition, SearchQuery, front_matter_lines};

/// The longest excerpt, characters.
const LONGEST: usize = 800;

/// A paragraph of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The file.
    pub path: LogicalPath,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// Its text, cut when it is long.
    pub text: String,
    #[serde(skip)]
    pub(super) matches: usize,
}

/// The matching paragraphs of the files whose path begins with `prefix`, best first.
pub(super) fn find(edition: &Edition, query: &SearchQuery, prefix: &str) -> Vec<Excerpt> {
    let manifest = edition.manifest();
    let texts = edition.files().iter().filter_map(|(path, bytes)| {
        let component_type = manifest.files.get(path)?.component_type;
        let is_read = !matches!(component_type, ComponentType::Script | ComponentType::Artifact);
        let text = std::str::from_utf8(bytes).ok().filter(|_| is_read && path.as_str().starts_with(prefix))?;
        Some((path, text))
    });
    let mut found: Vec<_> = texts.flat_map(|(path, text)| matching(path, text, query)).collect();
    found.sort_by_key(|excerpt| std::cmp::Reverse(excerpt.matches));
    found
}

fn matching(path: &LogicalPath, text: &str, query: &SearchQuery) -> Vec<Excerpt> {
    // The front matter is what the description of the skill was taken from.
    let is_index = path.as_str() == "SKILL.md";
    let skipped = if is_index { front_matter_lines(text.as_bytes()) } else { 0 };
    let mut found = Vec::new();
    let mut paragraph: Option<(usize, String)> = None;
    for (number, line) in text.lines().chain([""]).enumerate() {
        if number < skipped {
            continue;
        }
        if !line.trim().is_empty() {
            let (_, so_far) = paragraph.get_or_insert_with(|| (number + 1, String::new()));
            so_far.push_str(line);
            so_far.push('\n');
        } else if let Some((line, text)) = paragraph.take() {
            let matches = query.matches_in(&text);
            if matches > 0 {
                found.push(Excerpt { path: path.clone(), line, text: cut(text.trim_end()), matches });
            }
        }
    }
    found
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
