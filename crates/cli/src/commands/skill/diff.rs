//! `belljar skill diff`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Result;
use belljar_core::code::Code;
use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::SkillDetails;
use belljar_core::skill::{Edition, Revision};
use belljar_executor::{LogicalPath, SkillName};
use serde_json::json;
use similar::TextDiff;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Shows file by file what differs between two revisions.
pub(super) async fn run(
    global: &Global,
    app: &App,
    slug: &SkillName,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<ExitCode> {
    let details = app.belljar.skill(&app.caller, slug).await?;
    let none = || Refusal::invalid_argument("skill", "is not in the store: it has no revisions to compare");
    let details = details.ok_or_else(none)?;
    let to = chosen(&details, to, latest)?.id.clone();
    let from = chosen(&details, from, earlier)?.id.clone();
    let edition = async |revision: &RevisionId| {
        app.belljar.edition(&app.caller, &SkillSelector::Slug(slug.clone()), Some(revision)).await
    };
    let (before, after) = (edition(&from).await?, edition(&to).await?);
    let changes = changes(&before, &after);
    if global.json {
        let files: Vec<_> = changes.iter().map(|(path, kind)| json!({ "path": path, "change": kind.word() })).collect();
        output::json(&envelope::of("skill_diff", json!({ "slug": slug, "from": from, "to": to, "files": files })));
        return Ok(ExitCode::SUCCESS);
    }
    if changes.is_empty() {
        output::line(&format!("{slug}: the files of {from} and {to} are equal"));
    }
    for (path, kind) in changes {
        output::line(&format!("{} {}", kind.word(), output::safe(path.as_str())));
        show(&before, &after, path);
    }
    Ok(ExitCode::SUCCESS)
}

/// How a file changed.
#[derive(Clone, Copy, Debug)]
enum Change {
    Added,
    Removed,
    Changed,
}

impl Change {
    const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

fn changes<'a>(before: &'a Edition, after: &'a Edition) -> Vec<(&'a LogicalPath, Change)> {
    let (before, after) = (before.files(), after.files());
    let paths: BTreeSet<_> = before.iter().chain(after.iter()).map(|(path, _)| path).collect();
    let change = |path| match (before.get(path), after.get(path)) {
        (None, _) => Some(Change::Added),
        (_, None) => Some(Change::Removed),
        (Some(old), Some(new)) => (old != new).then_some(Change::Changed),
    };
    paths.into_iter().filter_map(|path| Some((path, change(path)?))).collect()
}

/// The lines that differ; of a file that is no text only its size.
fn show(before: &Edition, after: &Edition, path: &LogicalPath) {
    let text = |edition: &Edition| {
        let bytes = edition.files().get(path).map(|bytes| bytes.to_vec()).unwrap_or_default();
        let size = bytes.len() as u64;
        String::from_utf8(bytes).map_err(|_| size)
    };
    match (text(before), text(after)) {
        (Ok(old), Ok(new)) => {
            let diff = TextDiff::from_lines(&old, &new);
            for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
                hunk.to_string().lines().for_each(|line| output::line(&format!("  {}", output::safe(line))));
            }
        }
        (old, new) => {
            let size =
                |side: Result<String, u64>| output::size(side.map_or_else(|size| size, |text| text.len() as u64));
            output::line(&format!("  not text: {} before, {} after", size(old), size(new)));
        }
    }
}

/// A revision by number or id, or the default.
fn chosen<'a>(
    details: &'a SkillDetails,
    named: Option<&str>,
    default: fn(&SkillDetails) -> Option<&Revision>,
) -> Result<&'a Revision, Refusal> {
    let found = match named {
        Some(named) => details
            .revisions
            .iter()
            .find(|revision| revision.id.as_str() == named || revision.number.to_string() == named),
        None => default(details),
    };
    found.ok_or_else(|| Refusal::new(Code::RevisionNotFound, "The skill has no such revision."))
}

fn latest(details: &SkillDetails) -> Option<&Revision> {
    details.revisions.first()
}

/// The published revision, when it is not the latest; else the one before the latest.
fn earlier(details: &SkillDetails) -> Option<&Revision> {
    let published = details.skill.published.as_ref();
    let published = details.revisions.iter().skip(1).find(|revision| Some(&revision.id) == published);
    published.or_else(|| details.revisions.get(1)).or_else(|| details.revisions.first())
}
