//! The rings: which crate may depend on which. A link in a forbidden direction fails the build.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{cargo, say, text};

/// Every package of the workspace and what it may link. Tests may use more.
const ALLOWED: [(&str, &[&str]); 15] = [
    ("belljar-executor", &[]),
    ("belljar-contract", &["belljar-executor"]),
    ("belljar-core", &["belljar-executor"]),
    ("belljar-store-contract", &["belljar-core", "belljar-executor"]),
    ("belljar-store", &["belljar-core", "belljar-executor"]),
    ("belljar-init", &[]),
    ("belljar-sandbox", &["belljar-executor", "belljar-init"]),
    ("belljar-executors", &["belljar-executor", "belljar-sandbox"]),
    ("belljar-mcp", &["belljar-core", "belljar-executor"]),
    ("belljar", &["belljar-core", "belljar-executor", "belljar-executors", "belljar-mcp", "belljar-store"]),
    ("belljar-attacks", &[]),
    ("belljar-clients", &[]),
    ("belljar-example-runner-client", &["belljar-executor"]),
    ("belljar-example-embed", &["belljar-core", "belljar-executor", "belljar-store"]),
    ("xtask", &[]),
];

/// Crates that only one package may name.
const CONFINED: [(&str, &str); 4] = [
    ("sqlx", "belljar-store"),
    ("serde-saphyr", "belljar-core"),
    ("seccompiler", "belljar-sandbox"),
    ("rmcp", "belljar-mcp"),
];

/// Checks every link of the workspace.
pub(crate) fn run() -> Result<()> {
    let metadata = text(cargo().args(["metadata", "--format-version", "1", "--no-deps", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo's metadata cannot be read")?;
    let links = links(&metadata);
    let allowed = BTreeMap::from(ALLOWED);
    let mut faults = Vec::new();
    for (package, dependencies) in &links {
        let Some(may) = allowed.get(package.as_str()) else {
            faults.push(format!("{package} is in no ring: add it to xtask/src/directions.rs"));
            continue;
        };
        for dependency in dependencies {
            if links.contains_key(dependency) && !may.contains(&dependency.as_str()) {
                faults.push(format!("{package} may not depend on {dependency}"));
            }
            if CONFINED.iter().any(|(confined, owner)| confined == dependency && owner != package) {
                faults.push(format!("{package} may not name {dependency}"));
            }
        }
    }
    if !faults.is_empty() {
        bail!("wrong directions:\n  {}", faults.join("\n  "));
    }
    say(&format!("directions: {} packages, every link allowed", links.len()));
    Ok(())
}

fn links(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .map(|package| {
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            // Tests may link what products may not; build scripts may not.
            let linked = dependencies.filter(|dependency| dependency["kind"] != "dev");
            let names = linked.filter_map(|dependency| dependency["name"].as_str()).map(str::to_owned).collect();
            (package["name"].as_str().unwrap_or_default().to_owned(), names)
        })
        .collect()
}
