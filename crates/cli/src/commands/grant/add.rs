//! `belljar grant add`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::ports::Clock;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::GrantRequest;
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, SkillName};
use belljar_store::SystemClock;
use serde_json::json;

use super::describe;
use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// What is to be granted, as it was written.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) skill: String,
    pub(super) script: String,
    pub(super) pin: String,
    pub(super) revision: Option<String>,
    pub(super) expires: Option<String>,
    pub(super) replace: bool,
}

/// Grants exactly what the reviewer saw.
pub(super) async fn run(global: &Global, app: &App, wanted: Wanted) -> Result<ExitCode> {
    let slug = SkillName::parse(&wanted.skill).map_err(|error| Refusal::invalid_argument("skill", error))?;
    let pin = Digest::parse(&wanted.pin)
        .ok_or_else(|| Refusal::invalid_argument("--pin", "expected 64 hexadecimal digits"))?;
    let expires_at = wanted.expires.as_deref().map(expiry).transpose()?;
    let request = GrantRequest {
        skill: SkillSelector::Slug(slug),
        revision: wanted.revision.as_deref().map(RevisionId::new),
        target: wanted.script,
        expected_pin: pin,
        expires_at,
        replace: wanted.replace,
    };
    let grant = app.belljar.grant(&app.caller, request).await?;
    if global.json {
        output::json(&envelope::of("grant", json!(grant)));
    } else {
        output::line(&format!("granted {}", describe(&grant, &wanted.skill)));
    }
    Ok(ExitCode::SUCCESS)
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
