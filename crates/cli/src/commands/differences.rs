//! What differs between two editions of a skill, file by file.

use std::collections::BTreeSet;

use belljar_core::skill::Edition;
use belljar_executor::LogicalPath;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::output;

/// How a file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Added,
    Removed,
    Changed,
    /// Something else is declared about it.
    Declared,
}

impl Change {
    const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Declared => "declared",
        }
    }
}

/// The differences, for programs.
pub(super) fn json(before: &Edition, after: &Edition) -> Value {
    let listed = changes(before, after).into_iter();
    listed.map(|(path, change)| json!({ "path": path, "change": change.word() })).collect()
}

/// Shows them; whether there are any.
pub(super) fn tell(before: &Edition, after: &Edition) -> bool {
    let changes = changes(before, after);
    for (path, change) in &changes {
        output::line(&format!("{} {}", change.word(), output::safe(path.as_str())));
        match change {
            Change::Declared => show_declarations(before, after, path),
            _ => show(before, after, path),
        }
    }
    !changes.is_empty()
}

fn changes<'a>(before: &'a Edition, after: &'a Edition) -> Vec<(&'a LogicalPath, Change)> {
    let (old, new) = (before.files(), after.files());
    let paths: BTreeSet<_> = old.iter().chain(new.iter()).map(|(path, _)| path).collect();
    let mut changes = Vec::new();
    for path in paths {
        match (old.get(path), new.get(path)) {
            (None, _) => changes.push((path, Change::Added)),
            (_, None) => changes.push((path, Change::Removed)),
            (Some(old), Some(new)) if old != new => changes.push((path, Change::Changed)),
            _ => {}
        }
        let (declared, now) = (before.manifest().scripts.get(path), after.manifest().scripts.get(path));
        if old.get(path).is_some() && new.get(path).is_some() && declared != now {
            changes.push((path, Change::Declared));
        }
    }
    changes
}

/// The lines that differ; of a file that is no text only its size.
fn show(before: &Edition, after: &Edition, path: &LogicalPath) {
    let text = |edition: &Edition| {
        let bytes = edition.files().get(path).map(|bytes| bytes.to_vec()).unwrap_or_default();
        let size = bytes.len() as u64;
        String::from_utf8(bytes).map_err(|_| size)
    };
    match (text(before), text(after)) {
        (Ok(old), Ok(new)) => show_lines(&old, &new),
        (old, new) => {
            let size =
                |side: Result<String, u64>| output::size(side.map_or_else(|size| size, |text| text.len() as u64));
            output::line(&format!("  not text: {} before, {} after", size(old), size(new)));
        }
    }
}

fn show_declarations(before: &Edition, after: &Edition, path: &LogicalPath) {
    let declared = |edition: &Edition| {
        let declaration = edition.manifest().scripts.get(path);
        declaration.and_then(|declaration| serde_json::to_string_pretty(declaration).ok()).unwrap_or_default()
    };
    show_lines(&declared(before), &declared(after));
}

fn show_lines(old: &str, new: &str) {
    let diff = TextDiff::from_lines(old, new);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        hunk.to_string().lines().for_each(|line| output::line(&format!("  {}", output::safe(line))));
    }
}
