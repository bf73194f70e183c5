//! Where things are kept and who asks, as the environment and the command line say.

use std::path::PathBuf;

use anyhow::{Context, Result};
use belljar_core::caller::{Caller, Scope};
use belljar_executor::TenantId;

use crate::config::Local;

/// The folder of the store: `--state`, `BELLJAR_STATE`, else the user's state folder.
pub(crate) fn folder(named: Option<&PathBuf>) -> Result<PathBuf> {
    if let Some(folder) = named {
        return Ok(folder.clone());
    }
    let state_home = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = std::env::home_dir().filter(|path| path.is_absolute()).map(|home| home.join(".local/state"));
    let base = state_home.or(home).context("no folder for the state: set HOME, or name one with --state DIR")?;
    Ok(base.join("belljar"))
}

/// The configuration file that is used when none is named: the user's, else the system's.
pub(crate) fn config_candidates() -> Vec<PathBuf> {
    let config_home = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = std::env::home_dir().filter(|path| path.is_absolute()).map(|home| home.join(".config"));
    let user = config_home.or(home).map(|base| base.join("belljar/config.toml"));
    user.into_iter().chain([PathBuf::from("/etc/belljar/config.toml")]).collect()
}

/// The local caller: tenant `local`, subject the operating system's user, all scopes.
pub(crate) fn caller(local: &Local) -> Result<Caller> {
    let tenant = TenantId::parse("local").context("the local tenant")?;
    Ok(Caller::authenticated(tenant, user_name(), local.teams.iter().cloned(), Scope::ALL))
}

/// The same user as an agent acts for it: never with the right to approve.
pub(crate) fn agent(local: &Local) -> Result<Caller> {
    let tenant = TenantId::parse("local").context("the local tenant")?;
    let scopes = local.mcp_scopes.iter().copied().map(Scope::from);
    Ok(Caller::authenticated(tenant, user_name(), local.teams.iter().cloned(), scopes))
}

/// The user's name by uid, from the system's user database and from nothing that the environment says.
pub(crate) fn user_name() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("uid-{uid}"))
}
