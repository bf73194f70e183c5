//! The pin: a digest of everything that decides what a script does.
//!
//! SHA-256 over the domain `belljar.script.v1` and these fields, each as `<byte count>:<value>`, in this
//! order: language key, content, parameters schema (canonical JSON, empty without one), input mode,
//! working directory, allow-list value, runtime environment digest (empty until environments exist),
//! limits class, declared environment (empty: reserved), declared limits (canonical JSON), standalone
//! (`true` or `false`), files digest (upper-case hexadecimal).
//!
//! Not in it: description, `timeout_seconds` and the output schema. Where they stand in a file of the
//! skill the script can read them, and the files digest covers them.

use belljar_executor::{Digest, FieldHasher, FileTree, Interpreter, LimitsClass, LogicalPath};

use crate::audit::canonical_json;
use crate::skill::{Manifest, ScriptDeclaration};

/// What decides what a script does, beside its declarations.
#[derive(Clone, Copy, Debug)]
pub struct PinFacts<'a> {
    /// The script's text.
    pub content: &'a str,
    /// The allow-list value for its language; `None` while the language is not allowed.
    pub interpreter: Option<&'a Interpreter>,
    /// The limits class of its runs.
    pub limits_class: &'a LimitsClass,
    /// The digest of every file that it can see.
    pub files: Digest,
}

/// The pin of one script.
#[must_use]
pub fn script_pin(declaration: &ScriptDeclaration, facts: PinFacts<'_>) -> Digest {
    // Every field is named, so that a new one does not compile until it is put on one of the two lists.
    let ScriptDeclaration {
        language,
        input,
        cwd,
        parameters,
        limits,
        standalone,
        description: _,
        output: _,
        timeout_seconds: _,
    } = declaration;
    let PinFacts { content, interpreter, limits_class, files } = facts;
    let parameters = parameters.as_ref().map(canonical_json).unwrap_or_default();
    let limits = serde_json::to_value(limits).map(|limits| canonical_json(&limits)).unwrap_or_default();
    FieldHasher::new("belljar.script.v1")
        .field(language.as_ref().map_or("", |key| key.as_str()).as_bytes())
        .field(content.as_bytes())
        .field(parameters.as_bytes())
        .field(input.as_str().as_bytes())
        .field(cwd.as_str().as_bytes())
        .field(interpreter.map_or("", Interpreter::as_str).as_bytes())
        .field(b"")
        .field(limits_class.as_str().as_bytes())
        .field(b"")
        .field(limits.as_bytes())
        .field(if *standalone { b"true" } else { b"false" })
        .field(files.to_string().as_bytes())
        .finish()
}

/// The pin of all scripts of a skill as a set: adding, removing, renaming or changing any one changes it.
#[must_use]
pub fn set_pin<'a>(pins: impl IntoIterator<Item = (&'a LogicalPath, Digest)>) -> Digest {
    let mut pins: Vec<_> = pins.into_iter().collect();
    pins.sort_unstable();
    let hasher = FieldHasher::new("belljar.scripts.v1").field(pins.len().to_string().as_bytes());
    pins.iter()
        .fold(hasher, |hasher, (path, pin)| hasher.field(path.as_str().as_bytes()).field(pin.to_string().as_bytes()))
        .finish()
}

/// Computes the pins of a revision's scripts under one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Pinner<'a> {
    /// What is allowed.
    pub options: &'a crate::options::Options,
    /// The manifest.
    pub manifest: &'a Manifest,
    /// The files.
    pub files: &'a FileTree,
}

impl Pinner<'_> {
    /// The pin of one script; `None` when there is no such script.
    #[must_use]
    pub fn script(&self, path: &LogicalPath) -> Option<Digest> {
        let declaration = self.manifest.scripts.get(path)?;
        let content = std::str::from_utf8(self.files.get(path)?).ok()?;
        let interpreter = declaration.language.as_ref().and_then(|key| self.options.interpreter(key));
        let limits_class = self.options.limits_class(declaration.language.as_ref());
        let files = self.files.digest();
        Some(script_pin(declaration, PinFacts { content, interpreter, limits_class, files }))
    }

    /// The pin of all scripts.
    #[must_use]
    pub fn all(&self) -> Digest {
        set_pin(self.manifest.scripts.keys().filter_map(|path| Some((path, self.script(path)?))))
    }
}

#[cfg(test)]
mod tests;
