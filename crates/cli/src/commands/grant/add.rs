//! `belljar grant add`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::ids::{PendingId, RevisionId};
use belljar_core::ports::Clock;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::GrantRequest;
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, SkillName};
use belljar_store::SystemClock;
use serde_json::json;

use super::{describe, from};
use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// What is to be granted, as it was written.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) what: What,
    pub(super) expires: Option<String>,
    pub(super) replace: bool,
}

/// A script by name, or what was refused by id.
#[derive(Debug)]
pub(super) enum What {
    /// A script, or `*`, of a skill at the pin that was seen.
    Script { skill: String, script: String, pin: String, revision: Option<String> },
    /// The same, after what changed since an earlier pin was shown.
    Changed { skill: String, script: String, from: String, pin: Option<String>, revision: Option<String> },
    /// What waits under this id.
    Pending(String),
}

/// Grants exactly what the reviewer saw.
pub(super) async fn run(global: &Global, app: &App, wanted: Wanted) -> Result<ExitCode> {
    let Wanted { what, expires, replace } = wanted;
    let expires_at = expires.as_deref().map(expiry).transpose()?;
    let (grant, shown) = match what {
        What::Script { skill, script, pin, revision } => {
            let request = GrantRequest::new(SkillSelector::Slug(name(&skill)?), &script, digest("--pin", &pin)?);
            let revision = revision.as_deref().map(RevisionId::new);
            let request = GrantRequest { revision, expires_at, replace, ..request };
            (app.belljar.grant(&app.caller, request).await?, skill)
        }
        What::Changed { skill, script, from, pin, revision } => {
            let wanted = from::Wanted {
                slug: name(&skill)?,
                script,
                from: digest("--from", &from)?,
                pin: pin.map(|pin| digest("--pin", &pin)).transpose()?,
                revision: revision.as_deref().map(RevisionId::new),
                expires_at,
                replace,
            };
            return from::run(global, app, wanted).await;
        }
        What::Pending(id) => {
            let id = PendingId::new(&id);
            (app.belljar.grant_pending(&app.caller, &id, expires_at, replace).await?, id.to_string())
        }
    };
    if global.json {
        output::json(&envelope::of("grant", json!(grant)));
    } else {
        output::line(&format!("granted {}", describe(&grant, &shown)));
    }
    Ok(ExitCode::SUCCESS)
}

fn name(skill: &str) -> Result<SkillName, Refusal> {
    SkillName::parse(skill).map_err(|error| Refusal::invalid_argument("skill", error))
}

fn digest(option: &str, text: &str) -> Result<Digest, Refusal> {
    Digest::parse(text).ok_or_else(|| Refusal::invalid_argument(option, "expected 64 hexadecimal digits"))
}

/// A point in time, or a duration from now: a whole number with `s`, `m`, `h` or `d`.
fn expiry(text: &str) -> Result<Timestamp, Refusal> {
    if let Some(time) = Timestamp::parse(text) {
        return Ok(time);
    }
    let seconds = duration_seconds(text).ok_or_else(|| {
        Refusal::invalid_argument(
            "--expires",
            "expected a time such as 2026-12-31T00:00:00Z or a duration such as 8h or 30d",
        )
    })?;
    Ok(SystemClock.now().after(Duration::from_secs(seconds)))
}

fn duration_seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<u32>().ok().map(|count| u64::from(count) * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(
            ["90s", "2m", "8h", "30d"].map(duration_seconds),
            [Some(90), Some(120), Some(28_800), Some(2_592_000)]
        );
        for text in ["", "h", "-1h", "1.5h", "8w", "é"] {
            assert_eq!(duration_seconds(text), None, "{text}");
        }
    }
}
