//! The manifest: what each script attempts, and what must hold when it ran.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::placeholders;
use crate::scene;

/// How many cases there are; a case that gets lost is noticed.
const CASES: usize = 80;

/// What holds for every case. A word that a newer manifest adds is an error until it is checked here.
const ALWAYS: [&str; 10] = [
    "end_within_s",
    "timeout_xor_exit_code",
    "no_process_left",
    "canary_unchanged",
    "listener_untouched",
    "skill_unchanged",
    "temp_removed",
    "decoy_alive",
    "service_alive",
    "utf8",
];

/// The manifest's file. Keys that are only prose are not read.
#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    always: BTreeMap<String, String>,
    placeholders: BTreeMap<String, String>,
    service_environment: BTreeMap<String, String>,
    pub(crate) cases: Vec<Case>,
}

/// One script and its requirements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) runtime: String,
    pub(crate) timeout_s: u64,
    pub(crate) stdin: Option<Input>,
    pub(crate) category: String,
    pub(crate) attempts: String,
    pub(crate) require: Require,
    sha256: String,
    #[serde(default, rename = "refs")]
    _references: Vec<String>,
    #[serde(default, rename = "note")]
    _note: Option<String>,
}

/// What the script gets on standard input.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Input {
    /// A document, with placeholders.
    Json(Value),
    /// A document with a string of that many bytes.
    JsonPad(usize),
}

/// What must hold for this case, besides what always must. Keys that no case uses are refused.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Require {
    pub(crate) status: Vec<String>,
    pub(crate) exit_code: Option<Vec<Option<i64>>>,
    pub(crate) stdout_has: Vec<String>,
    pub(crate) stdout_lacks: Vec<String>,
    pub(crate) stderr_has: Vec<String>,
    pub(crate) stdout_bytes: Option<Length>,
    pub(crate) stderr_bytes: Option<Length>,
    pub(crate) truncated: Truncated,
    /// Both are asked of every case.
    #[serde(rename = "utf8")]
    _utf8: bool,
    #[serde(rename = "service_alive")]
    _service_alive: bool,
    pub(crate) end_within_s: Option<f64>,
    pub(crate) min_wall_s: Option<f64>,
    #[serde(deserialize_with = "present")]
    pub(crate) output_data: Option<Value>,
    pub(crate) disk_delta_mb_max: Option<u64>,
    pub(crate) memory_peak_bytes: Option<Peak>,
    pub(crate) report_oom: bool,
    pub(crate) port_closed: Option<String>,
    pub(crate) then_run: Option<String>,
}

/// Bounds of a text's length; numbers or placeholders of numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Length {
    pub(crate) exact: Option<Value>,
    pub(crate) min: Option<Value>,
    pub(crate) max: Option<Value>,
}

/// Which streams must be marked as cut, and which must not.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Truncated {
    pub(crate) stdout: Option<bool>,
    pub(crate) stderr: Option<bool>,
}

/// Bounds of the reported memory.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peak {
    pub(crate) min: u64,
    pub(crate) max: u64,
    #[serde(default)]
    pub(crate) optional: bool,
}

/// A null that is there is not the same as a key that is not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Where the scripts are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

impl Manifest {
    pub(crate) fn load() -> Result<Self> {
        let path = folder().join("manifest.json");
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        serde_json::from_slice(&text).with_context(|| path.display().to_string())
    }

    pub(crate) fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// Every script is there byte for byte, and nothing else is.
    pub(crate) fn check_files(&self) -> Result<()> {
        ensure!(self.cases.len() == CASES, "{} cases, expected {CASES}", self.cases.len());
        for case in &self.cases {
            let bytes = fs::read(folder().join(&case.file)).with_context(|| case.file.clone())?;
            let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            ensure!(digest == case.sha256, "{}: digest {digest}, the manifest says {}", case.file, case.sha256);
        }
        let mut expected: BTreeSet<_> = self.cases.iter().map(|case| case.file.clone()).collect();
        expected.insert("manifest.json".to_owned());
        let entries = fs::read_dir(folder())?.collect::<Result<Vec<_>, _>>()?;
        let found: BTreeSet<_> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        ensure!(found == expected, "files without a case, or cases without one: {:?}", &found ^ &expected);
        Ok(())
    }

    /// The harness knows every word that the manifest uses.
    pub(crate) fn check_words(&self) -> Result<()> {
        let same = |what: &str, theirs: &BTreeMap<String, String>, ours: &[&str]| {
            let theirs: BTreeSet<_> = theirs.keys().map(String::as_str).collect();
            let ours: BTreeSet<_> = ours.iter().copied().collect();
            ensure!(theirs == ours, "{what} that only one side knows: {:?}", &theirs ^ &ours);
            Ok(())
        };
        same("always", &self.always, &ALWAYS)?;
        same("placeholders", &self.placeholders, &placeholders::NAMES)?;
        same("service_environment", &self.service_environment, &scene::SERVICE_ENVIRONMENT)?;
        for case in &self.cases {
            ensure!(matches!(case.runtime.as_str(), "python" | "bash"), "{}: runtime {}", case.name, case.runtime);
            let next = case.require.then_run.as_deref();
            ensure!(next.is_none_or(|next| self.case(next).is_some()), "{}: then_run {next:?}", case.name);
        }
        Ok(())
    }
}

impl Case {
    /// A case beside the corpus: one of its scripts that does no harm.
    pub(crate) fn honest(name: &str, file: &str, stdin: Option<Input>) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            runtime: "bash".to_owned(),
            timeout_s: 10,
            stdin,
            category: String::new(),
            attempts: "nothing".to_owned(),
            require: Require::default(),
            sha256: String::new(),
            _references: Vec::new(),
            _note: None,
        }
    }
}
