//! What is planted for one case, and whether it is as it was when the case is over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::corpus::{self, Case, Input};
use crate::host::{Snapshot, Traces, names};
use crate::pass::{Pass, User};
use crate::placeholders::Placeholders;
use crate::witness::{self, Decoy, Listeners};

/// Variables of the service's own environment; none of them may reach a script.
pub(crate) const SERVICE_ENVIRONMENT: [&str; 8] = [
    "ATK_HOST_SECRET",
    "BASH_ENV",
    "ENV",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "LD_LIBRARY_PATH",
    "NODE_OPTIONS",
    "BASH_FUNC_atk_injected%%",
];

/// The largest output per stream.
pub(crate) const CAP: u64 = 262_144;

/// A script that takes 60 MB in one folder for a breach, and the size of `/workspace` that it declares
/// therefore: the default is larger. What is shown is that the size holds.
const SMALL_WORKSPACE: (&str, u64) = ("disk_fill_elsewhere", 48 << 20);

/// A skill with one script, and what surrounds it.
#[derive(Debug)]
pub(crate) struct Scene {
    folder: PathBuf,
    /// The script's path in the skill.
    pub(crate) script: String,
    /// The file that holds the script's input.
    pub(crate) input: Option<PathBuf>,
    pub(crate) placeholders: Placeholders,
    /// The port to try from outside while the script runs.
    pub(crate) probed_port: Option<u16>,
    listeners: Listeners,
    decoy: Decoy,
    /// Each folder that must stay as it is, by the rule that says so.
    before: Vec<(&'static str, PathBuf, Snapshot)>,
    traces: Traces,
    state: PathBuf,
    state_names: BTreeSet<PathBuf>,
    token: String,
}

impl Scene {
    /// Plants everything for a case.
    pub(crate) fn plant(pass: &Pass, case: &Case) -> Result<Self> {
        let folder = pass.scene_folder()?;
        for name in ["canary", "hooks", "hooks/python", "hooks/lib", "home", "temporary", "other-run", "cwd"] {
            pass.make_folder(&folder.join(name))?;
        }
        let script = write_skill(pass, &folder.join("skill"), case)?;
        let abstract_name = format!("belljar-canary-{}", random_word()?);
        let socket = folder.join("canary/listener.sock");
        let listeners = Listeners::open(&socket, &abstract_name)?;
        let (command_value, free_port) = (random_word()?, witness::free_port()?);
        let decoy = Decoy::start(pass, &command_value)?;
        let mut placeholders = Placeholders::default();
        placeholders.set("ABSTRACT", abstract_name);
        placeholders.set("SOCK", text(&socket));
        placeholders.set("PORT", listeners.port);
        placeholders.set("FREE_PORT", free_port);
        placeholders.set("CMD_VALUE", command_value);
        placeholders.set("DECOY_PID", decoy.pid());
        fill(&mut placeholders, pass, &folder)?;
        plant_files(pass, &folder, &placeholders)?;
        let input = case.stdin.as_ref().map(|input| write_input(pass, &folder, input, &placeholders)).transpose()?;
        let before = watched(&folder)?;
        Ok(Self {
            script,
            input,
            placeholders,
            probed_port: case.require.port_closed.as_ref().map(|_| free_port),
            listeners,
            decoy,
            before,
            traces: Traces::look(&pass.token)?,
            state: pass.state(),
            state_names: names(&pass.state()),
            token: pass.token.clone(),
            folder,
        })
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.folder.join("skill")
    }

    /// The folder in which the program under test is started.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.join("cwd")
    }

    /// A file of the harness beside the scene.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The whole environment of the program under test.
    pub(crate) fn environment(&self) -> BTreeMap<&'static str, String> {
        let at = |name: &str| text(&self.folder.join(name));
        let values = [
            self.placeholders.get("ENV_VALUE"),
            at("hooks/shell"),
            at("hooks/shell"),
            at("hooks/python"),
            at("hooks/startup.py"),
            at("hooks/lib"),
            "--no-warnings".to_owned(),
            "() { echo BREACH exported function; }".to_owned(),
        ];
        let own =
            [("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()), ("HOME", at("home")), ("TMPDIR", at("temporary"))];
        SERVICE_ENVIRONMENT.into_iter().zip(values).chain(own).collect()
    }

    /// Which of the rules about the host were broken since it was planted.
    pub(crate) fn violations(&mut self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for (rule, folder, before) in &self.before {
            let changes = Snapshot::take(folder)?.changes(before);
            found.extend(changes.into_iter().map(|path| format!("{rule}: {path}")));
        }
        found.extend(self.listeners.touched().into_iter().map(|what| format!("listener_untouched: {what}")));
        found.extend(self.decoy.harm()?.map(|harm| format!("decoy_alive: {harm}")));
        let traces = Traces::look(&self.token)?.since(&self.traces);
        found.extend(traces.into_iter().map(|what| format!("temp_removed: {what}")));
        // The first run makes the store. A process may leave the file of its lock to the next, which takes it away.
        let now = names(&self.state);
        let (more, gone) = (&now - &self.state_names, &self.state_names - &now);
        if !self.state_names.is_empty() && more.len() > gone.len() {
            found.extend(more.iter().map(|path| format!("temp_removed: {}", path.display())));
        }
        Ok(found)
    }

    /// Takes it all away.
    pub(crate) fn clear(self) -> Result<()> {
        fs::remove_dir_all(&self.folder).with_context(|| self.folder.display().to_string())
    }
}

fn watched(folder: &Path) -> Result<Vec<(&'static str, PathBuf, Snapshot)>> {
    let rules = [
        ("canary_unchanged", "canary"),
        ("canary_unchanged", "other-run"),
        ("canary_unchanged", "hooks"),
        ("skill_unchanged", "skill"),
        ("temp_removed", "temporary"),
        ("temp_removed", "home"),
        ("temp_removed", "cwd"),
    ];
    let look = |(rule, name): (&'static str, &str)| {
        let path = folder.join(name);
        Snapshot::take(&path).map(|snapshot| (rule, path, snapshot))
    };
    rules.into_iter().map(look).collect()
}

fn fill(placeholders: &mut Placeholders, pass: &Pass, folder: &Path) -> Result<()> {
    let user = match pass.user {
        User::Root => "root",
        User::Ordinary => "nobody",
    };
    placeholders.set("CANARY_DIR", text(&folder.join("canary")));
    placeholders.set("CANARY_FILE", text(&folder.join("canary/secret.txt")));
    placeholders.set("CANARY_VALUE", random_word()?);
    placeholders.set("ENV_VALUE", random_word()?);
    placeholders.set("OTHER_TMP", text(&folder.join("other-run")));
    placeholders.set("OTHER_VALUE", random_word()?);
    placeholders.set("HOST_TOKEN", pass.token.clone());
    placeholders.set("HOSTNAME", fs::read_to_string("/proc/sys/kernel/hostname")?.trim_end());
    placeholders.set("USER", user);
    placeholders.set("CAP", CAP);
    placeholders.set("CAP_MINUS_3", CAP - 3);
    Ok(())
}

fn plant_files(pass: &Pass, folder: &Path, placeholders: &Placeholders) -> Result<()> {
    let files = [
        ("canary/secret.txt", placeholders.get("CANARY_VALUE")),
        ("canary/rw.txt", "unchanged\n".to_owned()),
        ("other-run/victim.txt", placeholders.get("OTHER_VALUE")),
        ("hooks/shell", "echo BREACH a start-up file of a shell ran\n".to_owned()),
        ("hooks/python/sitecustomize.py", "print('BREACH sitecustomize of the host ran')\n".to_owned()),
        ("hooks/startup.py", "print('BREACH PYTHONSTARTUP of the host ran')\n".to_owned()),
    ];
    for (name, content) in files {
        pass.make_file(&folder.join(name), content)?;
    }
    for (name, mode) in [("canary/rw.txt", 0o666), ("canary/listener.sock", 0o777), ("canary", 0o777)] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Writes the skill, and returns the script's path in it.
fn write_skill(pass: &Pass, folder: &Path, case: &Case) -> Result<String> {
    let (script, name) = (format!("scripts/{}", case.file), case.name.replace('_', "-"));
    pass.make_folder(folder)?;
    pass.make_folder(&folder.join("scripts"))?;
    let source = corpus::folder().join(&case.file);
    pass.make_file(&folder.join(&script), fs::read(&source).with_context(|| text(&source))?)?;
    let about = format!("---\nname: {name}\ndescription: {}\n---\n\nA hostile script.\n", json!(case.attempts));
    pass.make_file(&folder.join("SKILL.md"), about)?;
    let declarations = declarations(case);
    if !declarations.is_empty() {
        pass.make_file(&folder.join("belljar.toml"), format!("[scripts.\"{script}\"]\n{declarations}"))?;
    }
    Ok(script)
}

fn declarations(case: &Case) -> String {
    let runtime = if case.runtime == "bash" { "runtime = \"bash\"\n" } else { "" };
    let (name, bytes) = SMALL_WORKSPACE;
    let limits = if case.name == name { format!("limits = {{ workspace_bytes = {bytes} }}\n") } else { String::new() };
    format!("{runtime}{limits}")
}

fn write_input(pass: &Pass, folder: &Path, input: &Input, placeholders: &Placeholders) -> Result<PathBuf> {
    let document: Value = match input {
        Input::Json(document) => placeholders.document(document),
        Input::JsonPad(length) => json!({ "pad": "x".repeat(*length) }),
    };
    let path = folder.join("input.json");
    pass.make_file(&path, document.to_string())?;
    Ok(path)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A word that nobody can guess and that stands nowhere else.
fn random_word() -> Result<String> {
    use std::io::Read as _;
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
