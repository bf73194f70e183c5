//! Approval at the moment of the run: `--grant`, or a question on a terminal.

use std::io::{BufRead, IsTerminal, stdin};

use anyhow::Result;
use belljar_core::refusal::Refusal;
use belljar_core::run::{Call, SkillSelector};
use belljar_core::service::{GrantRequest, Plan};
use belljar_core::skill::Saved;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// What came of asking.
pub(super) struct Decision {
    pub(super) approved: bool,
    pub(super) prompted: bool,
}

/// `--grant` approves; without it a person at a terminal is asked, and nobody else ever is.
pub(super) fn decide(
    global: &Global,
    app: &App,
    granted: bool,
    imported: Option<&Saved>,
    call: &Call,
    plan: &Plan,
) -> Result<Decision> {
    if granted {
        return Ok(Decision { approved: true, prompted: false });
    }
    if global.json || !stdin().is_terminal() || !output::is_watched() {
        return Ok(Decision { approved: false, prompted: false });
    }
    describe(app, imported, call, plan);
    Ok(Decision { approved: ask(app, plan)?, prompted: true })
}

fn describe(app: &App, imported: Option<&Saved>, call: &Call, plan: &Plan) {
    let Some(request) = &plan.request else { return };
    let parts = request.parts();
    let new = if imported.is_some_and(|saved| saved.is_new) { " (new)" } else { "" };
    let script = output::safe(parts.script_path.as_str());
    output::note(&format!(
        "{} · {script} · {} · {}{new}\n",
        parts.skill_name,
        parts.interpreter,
        super::source(&plan.edition)
    ));
    let isolation = app.belljar.isolation();
    if isolation.as_ref().is_ok_and(|report| !report.isolates()) {
        output::note("  it may see     whatever this user may, and the network");
        output::note(&format!("  it may use     as much as it wants, for {} s", parts.timeout.as_secs()));
    } else {
        let (files, size) = (output::count(parts.files.len() as u64, "file"), output::size(parts.files.size()));
        output::note(&format!("  it may see     /skill ({files}, {size}, read-only) · /workspace (empty)"));
        let limits = &parts.limits;
        output::note(&format!(
            "  it may use     {} memory · {} tasks · {} s · no network",
            output::size(limits.memory_bytes),
            limits.tasks,
            parts.timeout.as_secs()
        ));
    }
    if !call.argv.is_empty() {
        output::note(&format!("  arguments      {}", output::safe(&call.argv.join(" "))));
    }
    match isolation {
        Ok(report) if report.isolates() => output::note(&format!("  sealed by      {}", sealed(app, &report))),
        Ok(_) => {
            let name = app.belljar.executor_name();
            output::note(&format!("  NOT SEALED     nothing is known to isolate it (executor {name})"));
        }
        Err(unavailable) => output::note(&format!("  NO SANDBOX     {unavailable}")),
    }
    if let Some(reason) = plan.closed {
        output::note(&format!("  not approved   {reason}"));
    }
    if let Some(pin) = plan.pin {
        output::note(&format!("  pin            {pin}\n"));
    }
}

fn sealed(app: &App, report: &belljar_executor::Report) -> String {
    let driver = report.driver.as_deref().unwrap_or_else(|| app.belljar.executor_name());
    let named = |state| {
        let controls: Vec<_> = report.in_state(state).iter().map(ToString::to_string).collect();
        if controls.is_empty() { String::new() } else { format!(" · {}: {}", state.as_str(), controls.join(", ")) }
    };
    format!("{driver}{}{}", named(belljar_executor::State::Weaker), named(belljar_executor::State::Missing))
}

fn ask(app: &App, plan: &Plan) -> Result<bool> {
    loop {
        output::error_text(&format!(
            "Approve these bytes for tenant {}? [y]es once and from now on · [v]iew script · [n]o  ",
            app.caller.tenant()
        ));
        let mut answer = String::new();
        if stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(false);
        }
        match answer.trim() {
            "y" | "yes" => return Ok(true),
            "v" | "view" => view(plan),
            "n" | "no" | "" => return Ok(false),
            _ => {}
        }
    }
}

fn view(plan: &Plan) {
    let Some(request) = &plan.request else { return };
    request.parts().content.lines().for_each(|line| output::note(&format!("  | {}", output::safe(line))));
}

/// Grants exactly the pin that was shown.
pub(super) async fn grant(app: &App, call: &Call, plan: &Plan) -> Result<()> {
    let Some(pin) = plan.pin else { return Ok(()) };
    let path =
        plan.request.as_ref().map_or_else(|| call.script.clone(), |request| request.parts().script_path.to_string());
    let request = GrantRequest {
        skill: call.skill.clone(),
        revision: plan.edition.revision().map(|revision| revision.id.clone()),
        target: path,
        expected_pin: pin,
        expires_at: None,
        replace: false,
    };
    app.belljar.grant(&app.caller, request).await?;
    Ok(())
}

/// The command that approves exactly what was refused, and its pin; none when it cannot be approved because
/// its language is not allowed.
async fn command(app: &App, call: &Call) -> Result<Option<(String, String)>, Refusal> {
    let plan = app.belljar.plan(&app.caller, call.clone()).await?;
    let Some(wanted) = &plan.request else { return Ok(None) };
    let pins = app.belljar.pins(&app.caller, &call.skill, None).await?;
    let pin = plan.pin.map(|pin| pin.to_string()).unwrap_or_default();
    let slug = pins.edition.slug();
    let script = wanted.parts().script_path.to_string();
    let current = pins.edition.revision().map(|revision| &revision.id);
    let revision = plan.edition.revision().filter(|revision| current != Some(&revision.id));
    let revision = revision.map_or_else(String::new, |revision| format!(" --revision {}", revision.id));
    let script = output::shell_word(&script);
    Ok(Some((format!("belljar grant add {slug} {script} --pin {pin}{revision}"), pin)))
}

/// Tells how to approve what was refused.
pub(super) async fn tell_how(app: &App, call: &Call, imported: Option<&Saved>) -> Result<()> {
    let what = match (&call.skill, imported) {
        (_, Some(saved)) => saved.skill.slug.to_string(),
        (SkillSelector::Slug(slug) | SkillSelector::Both(_, slug) | SkillSelector::Of(_, slug), None) => {
            slug.to_string()
        }
        (SkillSelector::Id(id), None) => id.to_string(),
    };
    let script = output::safe(&call.script);
    match command(app, call).await? {
        Some((command, pin)) => {
            output::note(&format!("belljar: not approved: {what} {script} at pin {pin}"));
            output::note(&format!("         to approve exactly these bytes:  {}", output::safe(&command)));
        }
        None => {
            output::note(&format!("belljar: not approved, and its language is not allowed: {what} {script}"));
            output::note("         to allow a language, name its runtime under [interpreters] in the configuration");
        }
    }
    Ok(())
}

/// The refusal with the pin and the command that approves it, for programs.
pub(super) async fn with_pin(app: &App, refusal: Refusal, call: &Call) -> Refusal {
    match command(app, call).await {
        Ok(Some((command, pin))) => refusal.with("pin", json!(pin)).with("approve", json!(command)),
        Ok(None) | Err(_) => refusal,
    }
}
