//! Runtime names and the interpreters behind them, found in system folders only: one in a home folder
//! would be invisible in a sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{PoisonError, RwLock};

use belljar_executor::RuntimeName;

use crate::host::visible_program;

const FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
const PLAIN: [&str; 3] = ["sh", "bash", "node"];

/// What was found when it was last looked for.
#[derive(Debug)]
pub(crate) struct Runtimes(RwLock<BTreeMap<RuntimeName, String>>);

impl Runtimes {
    /// Looks for them.
    pub(crate) fn find() -> Self {
        Self(RwLock::new(find()))
    }

    /// Names and paths.
    pub(crate) fn known(&self) -> BTreeMap<RuntimeName, String> {
        // A poisoned lock guards a map that is always replaced as a whole.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The interpreter that a run's `python` is a link to.
    pub(crate) fn python(&self) -> Option<String> {
        self.known().remove(&RuntimeName::parse("python").ok()?)
    }

    /// Looks for them again.
    pub(crate) fn look_again(&self) {
        self.replace(find());
    }

    /// Takes these instead.
    pub(crate) fn replace(&self, found: BTreeMap<RuntimeName, String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = found;
    }
}

/// Looks for every runtime: its name and its path, the same inside and outside.
pub(crate) fn find() -> BTreeMap<RuntimeName, String> {
    let mut found = BTreeMap::new();
    for name in PLAIN {
        add(&mut found, name, in_folders(name));
    }
    add(&mut found, "python", in_folders("python3"));
    for version in python_versions() {
        add(&mut found, &format!("python-{version}"), in_folders(&format!("python{version}")));
    }
    found
}

/// Whether a path is that of a Python interpreter, which gets two variables more.
pub(crate) fn is_python(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("python"))
}

fn add(found: &mut BTreeMap<RuntimeName, String>, name: &str, path: Option<String>) {
    if let (Ok(name), Some(path)) = (RuntimeName::parse(name), path) {
        found.insert(name, path);
    }
}

fn in_folders(program: &str) -> Option<String> {
    FOLDERS.iter().map(|folder| format!("{folder}/{program}")).find(|path| visible_program(path).is_some())
}

fn python_versions() -> Vec<String> {
    let entries = FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let version = |name: String| {
        let version = name.strip_prefix("python")?;
        let minor = version.strip_prefix("3.")?;
        minor.bytes().all(|byte| byte.is_ascii_digit()).then(|| version.to_owned())
    };
    names.filter_map(version).collect()
}
