//! `belljar skill new`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use belljar_core::envelope;
use belljar_core::refusal::Refusal;
use belljar_executor::SkillName;
use serde_json::json;

use crate::arguments::Global;
use crate::output;

const SCRIPT: &str = "\
#!/bin/sh
# Gets the caller's JSON on standard input and answers on standard output.
set -eu
input=$(cat)
printf '{\"greeting\":\"hello\",\"input\":%s}\\n' \"${input:-null}\"
";

const DECLARATIONS: &str = "\
# What the scripts want. All of it is optional; `belljar skill check` tells what is wrong.
[scripts.\"scripts/hello.sh\"]
description = \"Says hello, and what it was given.\"
timeout_seconds = 10
standalone = true
";

/// Makes the folder of a new skill.
pub(super) fn run(global: &Global, name: &str, folder: Option<&Path>) -> Result<ExitCode> {
    let slug = SkillName::parse(name).map_err(|error| Refusal::invalid_argument("name", error))?;
    let folder = folder.map_or_else(|| PathBuf::from(slug.as_str()), Path::to_owned);
    let index = format!(
        "---\nname: {slug}\ndescription: Says hello. Use when somebody wants to see that {slug} works.\n---\n# {slug}\n\n\
         Run `scripts/hello.sh` with any JSON object as input. It answers with a greeting and what it was given.\n"
    );
    fs::create_dir(&folder).with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    let files = [("SKILL.md", index.as_str()), ("belljar.toml", DECLARATIONS), ("scripts/hello.sh", SCRIPT)];
    let files = files.iter().map(|(path, text)| (*path, text.as_bytes()));
    super::export::write_folder(&folder, files)?;
    if global.json {
        output::json(&envelope::of("skill_folder", json!({ "slug": slug, "folder": folder.display().to_string() })));
    } else {
        let folder = output::safe(&folder.display().to_string());
        output::line(&format!("made {folder}; try it with: belljar run ./{folder} scripts/hello.sh --input '{{}}'"));
    }
    Ok(ExitCode::SUCCESS)
}
