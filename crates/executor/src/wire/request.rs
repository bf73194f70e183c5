//! What a runner gets.

use std::fmt;
use std::time::Duration;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{WireError, fields};
use crate::{Digest, ExecutionRequest, LogicalPath, WorkingDirectory};

/// A run for a runner. Its source is the one of its digest.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WireRequest {
    tenant: String,
    runtime: String,
    source: String,
    source_sha256: Digest,
    standard_input: Option<String>,
    #[serde(serialize_with = "seconds", rename = "timeoutSeconds")]
    timeout: Duration,
    max_output_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_name: Option<String>,
}

impl WireRequest {
    /// The request for this execution.
    ///
    /// # Errors
    /// What the form cannot carry: then a run would not be the one that was approved.
    pub fn of(request: &ExecutionRequest) -> Result<Self, WireError> {
        let parts = request.parts();
        if !parts.argv.is_empty() {
            return Err(WireError::CommandLine);
        }
        if parts.cwd != WorkingDirectory::Workspace {
            return Err(WireError::WorkingDirectory);
        }
        let is_needed =
            |path: &LogicalPath| *path != parts.script_path && !matches!(path.as_str(), "SKILL.md" | "belljar.toml");
        if !parts.standalone && parts.files.iter().any(|(path, _)| is_needed(path)) {
            return Err(WireError::Files);
        }
        Ok(Self {
            tenant: parts.tenant_id.to_string(),
            runtime: parts.interpreter.to_string(),
            source: parts.content.to_string(),
            source_sha256: request.content_sha256(),
            standard_input: parts.arguments_json.as_deref().map(str::to_owned),
            timeout: parts.timeout,
            max_output_bytes: parts.max_output_bytes as u64,
            skill_name: Some(parts.skill_name.to_string()),
        })
    }

    /// The tenant whose grant opened the gates.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The allow-list value: a runtime name or an interpreter path.
    #[must_use]
    pub fn runtime(&self) -> &str {
        &self.runtime
    }

    /// The script.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is written to standard input; `None` closes it empty.
    #[must_use]
    pub fn standard_input(&self) -> Option<&str> {
        self.standard_input.as_deref()
    }

    /// When the script is stopped.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How many UTF-8 bytes of each stream are kept.
    #[must_use]
    pub const fn max_output_bytes(&self) -> u64 {
        self.max_output_bytes
    }

    /// The skill's name, for `TRACON_SKILL_NAME`. Optional: a client need not send it.
    #[must_use]
    pub fn skill_name(&self) -> Option<&str> {
        self.skill_name.as_deref()
    }
}

/// Whole seconds without a fraction, as the published form has them.
fn seconds<S: Serializer>(timeout: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    match timeout.subsec_nanos() {
        0 => serializer.serialize_u64(timeout.as_secs()),
        _ => serializer.serialize_f64(timeout.as_secs_f64()),
    }
}

impl fmt::Debug for WireRequest {
    /// Leaves out source and input.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WireRequest")
            .field("tenant", &self.tenant)
            .field("runtime", &self.runtime)
            .field("source_sha256", &self.source_sha256)
            .field("timeout", &self.timeout)
            .field("max_output_bytes", &self.max_output_bytes)
            .finish_non_exhaustive()
    }
}

impl<'de> Deserialize<'de> for WireRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = WireRequest;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireRequest, A::Error> {
        let (mut tenant, mut runtime, mut source): (Option<String>, Option<String>, Option<String>) =
            (None, None, None);
        let mut digest: Option<Digest> = None;
        let (mut input, mut skill_name): (Option<Option<String>>, Option<Option<String>>) = (None, None);
        let (mut timeout, mut cap): (Option<f64>, Option<u64>) = (None, None);
        fields!(map {
            "tenant" => tenant,
            "runtime" => runtime,
            "source" => source,
            "sourcesha256" => digest,
            "standardinput" => input,
            "timeoutseconds" => timeout,
            "maxoutputbytes" => cap,
            "skillname" => skill_name,
        });
        let missing = A::Error::missing_field;
        let source = source.ok_or_else(|| missing("source"))?;
        let source_sha256 = digest.ok_or_else(|| missing("sourceSha256"))?;
        if Digest::of(source.as_bytes()) != source_sha256 {
            return Err(A::Error::custom("sourceSha256 is not the digest of source"));
        }
        let timeout = timeout.ok_or_else(|| missing("timeoutSeconds"))?;
        let timeout = Duration::try_from_secs_f64(timeout).ok().filter(|timeout| !timeout.is_zero());
        Ok(WireRequest {
            tenant: tenant.ok_or_else(|| missing("tenant"))?,
            runtime: runtime.ok_or_else(|| missing("runtime"))?,
            source,
            source_sha256,
            standard_input: input.flatten(),
            timeout: timeout.ok_or_else(|| A::Error::custom("timeoutSeconds is not a number of seconds above 0"))?,
            max_output_bytes: cap.ok_or_else(|| missing("maxOutputBytes"))?,
            skill_name: skill_name.flatten(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::request;

    const GOOD: &str = r#"{"tenant":"acme","runtime":"sh","source":"echo hello","sourceSha256":"584A331FD6B02DCB1ECBE2EBA731F609A2E1E3DAC0BB73AE998DFAD14C309A77","standardInput":null,"timeoutSeconds":30,"maxOutputBytes":262144}"#;

    fn read(text: &str) -> Result<WireRequest, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn the_published_form_is_written_byte_for_byte_and_read_back() {
        let mut parts = request().parts().clone();
        parts.tenant_id = "acme".parse().unwrap();
        parts.interpreter = crate::Interpreter::parse("sh").unwrap();
        parts.content = "echo hello".into();
        parts.arguments_json = None;
        parts.argv = Vec::new();
        parts.timeout = Duration::from_secs(30);
        parts.max_output_bytes = 262_144;
        let wire = WireRequest::of(&ExecutionRequest::new(parts.clone())).unwrap();
        let with_name = GOOD.replace('}', ",\"skillName\":\"demo\"}");
        assert_eq!(serde_json::to_string(&wire).unwrap(), with_name);
        assert_eq!(read(&with_name), Ok(wire.clone()));
        assert_eq!(read(GOOD), Ok(WireRequest { skill_name: None, ..wire }));
        assert_eq!(serde_json::to_string(&read(GOOD).unwrap()).unwrap(), GOOD);
        parts.arguments_json = Some("{\"a\": \"é\"}\r\n".into());
        parts.timeout = Duration::from_millis(1500);
        let wire = WireRequest::of(&ExecutionRequest::new(parts)).unwrap();
        let text = serde_json::to_string(&wire).unwrap();
        assert!(text.contains(r#""standardInput":"{\"a\": \"é\"}\r\n","timeoutSeconds":1.5,"#), "{text}");
        assert_eq!(read(&text), Ok(wire));
    }

    #[test]
    fn what_the_form_cannot_carry_is_refused() {
        let mut parts = request().parts().clone();
        parts.argv = vec!["--deep".into()];
        assert_eq!(WireRequest::of(&ExecutionRequest::new(parts.clone())), Err(WireError::CommandLine));
        parts.argv = Vec::new();
        parts.cwd = WorkingDirectory::Skill;
        assert_eq!(WireRequest::of(&ExecutionRequest::new(parts.clone())), Err(WireError::WorkingDirectory));
        parts.cwd = WorkingDirectory::Workspace;
        let files = ["SKILL.md", "belljar.toml", "scripts/a.sh", "assets/rules.conf"];
        let tree = |files: &[&str]| {
            crate::FileTree::new(files.iter().map(|path| (path.parse().unwrap(), (*b"x").into())).collect())
        };
        parts.files = tree(&files);
        assert_eq!(WireRequest::of(&ExecutionRequest::new(parts.clone())), Err(WireError::Files));
        let standalone = crate::RequestParts { standalone: true, ..parts.clone() };
        assert!(WireRequest::of(&ExecutionRequest::new(standalone)).is_ok());
        parts.files = tree(&files[..3]);
        assert!(WireRequest::of(&ExecutionRequest::new(parts)).is_ok());
    }

    #[test]
    fn a_source_that_is_not_its_digests_is_refused() {
        for (from, to, told) in [
            ("echo hello", "echo evil", "not the digest"),
            ("584A", "584B", "not the digest"),
            ("584A", "", "64"),
            ("\"tenant\":\"acme\",", "", "missing field `tenant`"),
            ("\"timeoutSeconds\":30", "\"timeoutSeconds\":0", "above 0"),
            ("\"timeoutSeconds\":30", "\"timeoutSeconds\":-1", "above 0"),
            ("\"timeoutSeconds\":30", "\"timeoutSeconds\":1e300", "above 0"),
            ("\"timeoutSeconds\":30", "\"timeoutSeconds\":\"30\"", "invalid type"),
            ("\"maxOutputBytes\":262144", "\"maxOutputBytes\":-1", "invalid value"),
        ] {
            let error = read(&GOOD.replace(from, to)).unwrap_err();
            assert!(error.contains(told), "{to}: {error}");
        }
        let lower = GOOD.replace(&GOOD[GOOD.find("584A").unwrap()..][..64], &Digest::of(b"echo hello").lower_hex());
        assert_eq!(read(&lower), read(GOOD));
    }

    #[test]
    fn source_and_input_are_in_no_log() {
        assert!(!format!("{:?}", read(GOOD).unwrap()).contains("hello"));
    }
}
