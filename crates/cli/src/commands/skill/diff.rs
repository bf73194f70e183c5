//! `belljar skill diff`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::code::Code;
use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::SkillDetails;
use belljar_core::skill::Revision;
use belljar_executor::SkillName;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::commands::differences;
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
    if global.json {
        let files = differences::json(&before, &after);
        output::json(&envelope::of("skill_diff", json!({ "slug": slug, "from": from, "to": to, "files": files })));
    } else if !differences::tell(&before, &after) {
        output::line(&format!("{slug}: {from} and {to} are equal"));
    }
    Ok(ExitCode::SUCCESS)
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
