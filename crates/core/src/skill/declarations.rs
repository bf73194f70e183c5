//! What a skill's own `belljar.toml` declares about its scripts and components.

use std::collections::BTreeMap;

use belljar_executor::{LanguageKey, LogicalPath, WorkingDirectory};
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::{Table, Value as Toml};

use super::problem::{Findings, shown};
use super::schema::check_schema;
use super::{ComponentType, InputMode, LimitsDeclaration, ScriptDeclaration};

/// The file, at the top of the skill.
pub(super) const DECLARATIONS_FILE: &str = "belljar.toml";

/// What can be declared about a script.
const DECLARABLE: [&str; 9] =
    ["description", "input", "cwd", "runtime", "timeout_seconds", "standalone", "parameters", "output", "limits"];

/// The longest time-out that a script may declare, seconds.
const LONGEST_TIMEOUT: u32 = 60;

/// Everything that is declared, by path.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    /// By script; the language is the declared one, if any.
    pub(super) scripts: BTreeMap<String, ScriptDeclaration>,
    /// By component.
    pub(super) components: BTreeMap<String, ComponentType>,
}

/// What is declared about one file outside of the files themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    /// What it is for.
    pub(super) component_type: Option<ComponentType>,
    /// How it runs, for a script.
    pub(super) script: Option<ScriptDeclaration>,
}

impl Declarations {
    /// Puts what is declared elsewhere in the place of what is declared here.
    pub(super) fn overlay(&mut self, path: &LogicalPath, declared: Declared) {
        let Declared { component_type, script } = declared;
        if let Some(component_type) = component_type {
            if component_type != ComponentType::Script {
                self.scripts.remove(path.as_str());
            }
            self.components.insert(path.as_str().to_owned(), component_type);
        }
        if let Some(script) = script {
            if component_type.is_none() {
                self.components.remove(path.as_str());
            }
            self.scripts.insert(path.as_str().to_owned(), script);
        }
    }

    /// Reads the file; whatever is wrong with it is reported, all of it.
    pub(super) fn read(bytes: &[u8], findings: &mut Findings) -> Self {
        let mut declarations = Self::default();
        match parse(bytes) {
            Ok(table) => {
                declarations.take(table, findings);
                declarations.check_types(findings);
            }
            Err(message) => findings.problem(DECLARATIONS_FILE, message),
        }
        declarations
    }

    /// Reports what is declared as a script and as something else.
    fn check_types(&self, findings: &mut Findings) {
        for (path, _) in self.components.iter().filter(|(_, kind)| **kind != ComponentType::Script) {
            if self.scripts.contains_key(path) {
                let message = format!("[components.\"{}\"]: is declared as a script, too", shown(path));
                findings.problem(DECLARATIONS_FILE, message);
            }
        }
    }

    /// Reports every declared path that is not a file of the skill.
    pub(super) fn check_paths(&self, is_file: impl Fn(&str) -> bool, findings: &mut Findings) {
        let tables =
            [("scripts", self.scripts.keys().collect::<Vec<_>>()), ("components", self.components.keys().collect())];
        for (table, paths) in tables {
            for path in paths.into_iter().filter(|path| !is_file(path)) {
                let message = format!("[{table}.\"{}\"] names a file that the skill does not have", shown(path));
                findings.problem(DECLARATIONS_FILE, message);
            }
        }
    }

    /// The declared type of a component.
    pub(super) fn component_type(&self, path: &LogicalPath) -> Option<ComponentType> {
        let declared = self.components.get(path.as_str()).copied();
        declared.or_else(|| self.scripts.contains_key(path.as_str()).then_some(ComponentType::Script))
    }

    fn take(&mut self, table: Table, findings: &mut Findings) {
        for (key, value) in table {
            match (key.as_str(), value) {
                ("scripts", Toml::Table(scripts)) => self.take_scripts(scripts, findings),
                ("components", Toml::Table(components)) => self.take_components(components, findings),
                ("scripts" | "components", _) => {
                    findings.problem(DECLARATIONS_FILE, format!("`{key}` is not a table"));
                }
                _ => {
                    let message = format!("unknown key `{}`; known are `scripts` and `components`", shown(&key));
                    findings.problem(DECLARATIONS_FILE, message);
                }
            }
        }
    }

    fn take_scripts(&mut self, scripts: Table, findings: &mut Findings) {
        for (path, value) in scripts {
            let place = format!("[scripts.\"{}\"]", shown(&path));
            match value.try_into::<Script<Toml>>() {
                Ok(script) => {
                    let mut wrong =
                        |message: String| findings.problem(DECLARATIONS_FILE, format!("{place}: {message}"));
                    let checked = script.check(to_json, &mut wrong);
                    self.scripts.insert(path, checked);
                }
                Err(error) => findings.problem(DECLARATIONS_FILE, format!("{place}: {}", shown(error.message()))),
            }
        }
    }

    fn take_components(&mut self, components: Table, findings: &mut Findings) {
        for (path, value) in components {
            let place = format!("[components.\"{}\"]", shown(&path));
            match value.try_into::<Component>() {
                Ok(Component { component_type }) => {
                    self.components.insert(path, component_type);
                }
                Err(error) => findings.problem(DECLARATIONS_FILE, format!("{place}: {}", shown(error.message()))),
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Component {
    #[serde(rename = "type")]
    component_type: ComponentType,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script<S> {
    description: Option<String>,
    #[serde(default)]
    input: InputMode,
    #[serde(default)]
    cwd: WorkingDirectory,
    runtime: Option<LanguageKey>,
    timeout_seconds: Option<u32>,
    #[serde(default)]
    standalone: bool,
    parameters: Option<S>,
    output: Option<S>,
    #[serde(default)]
    limits: LimitsDeclaration,
}

impl<S> Script<S> {
    fn check(self, to_json: impl Fn(S) -> Result<Value, String>, wrong: &mut impl FnMut(String)) -> ScriptDeclaration {
        if let Some(seconds) = self.timeout_seconds
            && !(1..=LONGEST_TIMEOUT).contains(&seconds)
        {
            wrong(format!("`timeout_seconds` is {seconds}; it is 1 to {LONGEST_TIMEOUT}"));
        }
        if self.description.as_ref().is_some_and(|text| text.trim().is_empty() || text.chars().count() > 1024) {
            wrong("`description` has 1 to 1,024 characters".to_owned());
        }
        let limits = &self.limits;
        let values = [
            ("memory_bytes", limits.memory_bytes),
            ("tasks", limits.tasks.map(u64::from)),
            ("workspace_bytes", limits.workspace_bytes),
            ("temp_bytes", limits.temp_bytes),
        ];
        for (key, _) in values.iter().filter(|(_, value)| *value == Some(0)) {
            wrong(format!("`limits.{key}` is 0, and nothing could run"));
        }
        let mut schema = |key: &str, value: Option<S>| {
            let checked = to_json(value?).and_then(|json| check_schema(&json).map(|()| json));
            checked.map_err(|message| wrong(format!("`{key}` {}", shown(&message)))).ok()
        };
        let parameters = schema("parameters", self.parameters);
        let output = schema("output", self.output);
        ScriptDeclaration {
            language: self.runtime,
            description: self.description,
            input: self.input,
            cwd: self.cwd,
            parameters,
            output,
            timeout_seconds: self.timeout_seconds,
            limits: self.limits,
            standalone: self.standalone,
        }
    }
}

impl ScriptDeclaration {
    /// A declaration with changes: null takes one back, what is left out stays. Problems are reported; then
    /// there is none.
    pub(super) fn changed(
        path: &LogicalPath,
        known: Option<Self>,
        changes: Map<String, Value>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let mut declared = known.map(Self::into_declared).unwrap_or_default();
        for (key, value) in changes {
            if value.is_null() && DECLARABLE.contains(&key.as_str()) {
                declared.shift_remove(&key);
            } else {
                declared.insert(key, value);
            }
        }
        match serde_json::from_value::<Script<Value>>(Value::Object(declared)) {
            Ok(script) => Some(script.check(Ok, &mut |message| findings.problem(path.as_str(), message))),
            Err(error) => {
                findings.problem(path.as_str(), shown(&error.to_string()));
                None
            }
        }
    }

    /// As it would be written.
    fn into_declared(self) -> Map<String, Value> {
        let Ok(Value::Object(mut declared)) = serde_json::to_value(self) else { return Map::new() };
        if let Some(language) = declared.shift_remove("language").filter(|language| !language.is_null()) {
            declared.insert("runtime".to_owned(), language);
        }
        declared
    }
}

fn parse(bytes: &[u8]) -> Result<Table, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
        format!("line {line}: cannot be read as TOML: {}", shown(error.message()))
    })
}

/// TOML as JSON: dates become texts; numbers that are not finite have no JSON form.
fn to_json(value: Toml) -> Result<Value, String> {
    Ok(match value {
        Toml::String(text) => Value::String(text),
        Toml::Integer(number) => Value::from(number),
        Toml::Float(number) => serde_json::Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| format!("holds {number}, which JSON cannot"))?,
        Toml::Boolean(truth) => Value::Bool(truth),
        Toml::Datetime(date) => Value::String(date.to_string()),
        Toml::Array(items) => Value::Array(items.into_iter().map(to_json).collect::<Result<_, _>>()?),
        Toml::Table(entries) => Value::Object(
            entries.into_iter().map(|(key, value)| Ok((key, to_json(value)?))).collect::<Result<_, String>>()?,
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Declarations, Vec<String>> {
        let mut findings = Findings::default();
        let declarations = Declarations::read(text.as_bytes(), &mut findings);
        findings
            .into_result(Some(declarations))
            .map(|(declarations, _)| declarations)
            .map_err(|problems| problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn everything_that_can_be_declared() {
        let declarations = read(
            r#"
            [scripts."scripts/check.py"]
            description = "Checks."
            input = "stdin"
            cwd = "skill"
            runtime = "py"
            timeout_seconds = 10
            standalone = true
            parameters = { type = "object", required = ["environment"], properties = { environment = { type = "string" } } }
            output = { type = "object" }
            limits = { memory_bytes = 67108864, tasks = 4 }
            [components."data/table.txt"]
            type = "reference"
            "#,
        )
        .unwrap();
        let script = &declarations.scripts["scripts/check.py"];
        assert_eq!(script.language.as_ref().map(LanguageKey::as_str), Some("py"));
        assert_eq!((script.input, script.cwd), (InputMode::Stdin, WorkingDirectory::Skill));
        assert_eq!((script.timeout_seconds, script.standalone), (Some(10), true));
        assert_eq!(script.parameters.as_ref().unwrap()["required"][0], "environment");
        assert_eq!((script.limits.memory_bytes, script.limits.tasks), (Some(67_108_864), Some(4)));
        assert_eq!(declarations.components["data/table.txt"], ComponentType::Reference);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, cause) in [
            ("[scripts", "line 1: cannot be read as TOML"),
            ("\n\nx = 1\nx = 2", "line 4: cannot be read as TOML"),
            ("skripts = 1", "unknown key `skripts`"),
            ("scripts = 1", "`scripts` is not a table"),
            ("[scripts.a]\ninputs = 1", "unknown field `inputs`"),
            ("[scripts.a]\ninput = \"pipe\"", "`pipe`"),
            ("[scripts.a]\nruntime = \".PY\"", "language key"),
            ("[scripts.a]\ntimeout_seconds = 0", "it is 1 to 60"),
            ("[scripts.a]\ntimeout_seconds = 61", "it is 1 to 60"),
            ("[scripts.a]\ntimeout_seconds = -1", "invalid value"),
            ("[scripts.a]\ntimeout_seconds = 1.5", "invalid type"),
            ("[scripts.a]\nlimits = { cpu = 1 }", "unknown field `cpu`"),
            ("[scripts.a]\nlimits = { tasks = 0 }", "`limits.tasks` is 0"),
            ("[scripts.a]\nlimits = { memory_bytes = -1 }", "invalid value"),
            ("[scripts.a]\nparameters = { type = \"objekt\" }", "`parameters` is not a JSON Schema"),
            ("[scripts.a]\nparameters = { const = nan }", "holds NaN"),
            ("[scripts.a]\noutput = { \"$ref\" = \"https://example.com/x\" }", "references are never fetched"),
            ("[scripts.a]\ndescription = \"\"", "1 to 1,024 characters"),
            ("[components.a]\ntype = \"skript\"", "`skript`"),
            ("[components.a]\nkind = \"script\"", "unknown field `kind`"),
            ("[scripts.a]\n[components.a]\ntype = \"reference\"", "is declared as a script, too"),
        ] {
            let problems = read(text).unwrap_err();
            assert!(problems.iter().any(|problem| problem.contains(cause)), "{text}: {problems:?}");
        }
        assert_eq!(read("x = 1\ny = 2\n[scripts.a]\nz = 1\n[scripts.b]\ntimeout_seconds = 99").unwrap_err().len(), 4);
    }
}
