//! Where a run finds its folders, and the variables that say so.

/// The folder of the revision's files.
pub(crate) const SKILL: &str = "/skill";
/// The run's writable folder.
pub(crate) const WORKSPACE: &str = "/workspace";
/// The run's own empty folder.
pub(crate) const TEMP: &str = "/tmp";
/// Where `python` is.
pub(crate) const RUNTIME: &str = "/runtime";

/// The folders of one run: at the top of a sandbox, or in a folder of the host.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    root: String,
}

impl Places {
    /// In every sandbox.
    pub(crate) const fn sandbox() -> Self {
        Self { root: String::new() }
    }

    /// In this folder of the host.
    pub(crate) fn under(folder: &str) -> Self {
        Self { root: folder.to_owned() }
    }

    /// The folder that holds the others; empty in a sandbox.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    pub(crate) fn skill(&self) -> String {
        format!("{}{SKILL}", self.root)
    }

    pub(crate) fn workspace(&self) -> String {
        format!("{}{WORKSPACE}", self.root)
    }

    pub(crate) fn temp(&self) -> String {
        format!("{}{TEMP}", self.root)
    }

    pub(crate) fn runtime(&self) -> String {
        format!("{}{RUNTIME}", self.root)
    }

    /// Variables that every script has; nothing is inherited.
    pub(crate) fn environment(&self, is_python: bool) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("PATH", format!("{}/bin:/usr/local/bin:/usr/bin:/bin", self.runtime())),
            ("HOME", self.temp()),
            ("LANG", "C.UTF-8".to_owned()),
            ("BELLJAR_SKILL_DIR", self.skill()),
            ("BELLJAR_WORKSPACE", self.workspace()),
        ];
        if is_python {
            variables.extend([("PYTHONPATH", self.skill()), ("PYTHONDONTWRITEBYTECODE", "1".to_owned())]);
        }
        variables
    }
}
