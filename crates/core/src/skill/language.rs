//! A script's language: its extension, unless a shebang names another known interpreter.

use belljar_executor::{LanguageKey, LogicalPath};

/// The language key of a script; `None` when neither its extension nor its shebang tells.
#[must_use]
pub fn language_of(path: &LogicalPath, content: &str) -> Option<LanguageKey> {
    let key = shebang_language(content).map(str::to_owned).or_else(|| {
        let extension = path.extension()?;
        Some(language_of_extension(&extension).map_or(extension, str::to_owned))
    })?;
    LanguageKey::parse(&key).ok()
}

/// The key of an extension that is known to be a script's.
pub(super) fn language_of_extension(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "py" => "py",
        "sh" => "sh",
        "bash" => "bash",
        "js" | "mjs" | "cjs" => "js",
        "ts" | "mts" | "cts" => "ts",
        "rb" => "rb",
        "pl" => "pl",
        "php" => "php",
        "lua" => "lua",
        "r" => "r",
        _ => return None,
    })
}

/// The language that the first line names, looked through `env`, `env -S`, `uv run` and version suffixes.
fn shebang_language(content: &str) -> Option<&'static str> {
    let line = content.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let mut program = base_name(words.next()?);
    if program == "env" {
        program = words.by_ref().find(|word| !word.starts_with('-') && !word.contains('=')).map(base_name)?;
    }
    if program == "uv" {
        return (words.next() == Some("run")).then_some("py");
    }
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    Some(match stem {
        "python" | "pypy" => "py",
        "sh" | "dash" | "ash" => "sh",
        "bash" => "bash",
        "node" | "nodejs" => "js",
        "deno" | "bun" | "tsx" | "ts-node" => "ts",
        "ruby" => "rb",
        "perl" => "pl",
        "php" => "php",
        "lua" => "lua",
        "Rscript" => "r",
        _ => return None,
    })
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(path: &str, content: &str) -> Option<String> {
        language_of(&LogicalPath::parse(path).unwrap(), content).map(|key| key.to_string())
    }

    #[test]
    fn a_known_shebang_wins_over_the_extension() {
        for (line, key) in [
            ("#!/usr/bin/env python3", "py"),
            ("#!/usr/bin/python3.12", "py"),
            ("#!/usr/bin/env -S uv run --script", "py"),
            ("#!/usr/bin/env -S PYTHONUTF8=1 python3 -I", "py"),
            ("#! /bin/bash -eu", "bash"),
            ("#!/usr/bin/env node", "js"),
            ("#!/usr/bin/env perl", "pl"),
        ] {
            assert_eq!(language("scripts/a.sh", line).as_deref(), Some(key), "{line}");
        }
    }

    #[test]
    fn an_unknown_shebang_leaves_the_extension_in_force() {
        for line in ["#!/usr/bin/env awk -f", "#!", "#!/bin/", "#!/usr/bin/env -i", "#!/usr/bin/env uv pip"] {
            assert_eq!(language("scripts/a.sh", line).as_deref(), Some("sh"), "{line}");
        }
    }

    #[test]
    fn extensions() {
        assert_eq!(language("a.mjs", "").as_deref(), Some("js"));
        assert_eq!(language("a.CJS", "").as_deref(), Some("js"));
        assert_eq!(language("a.PY", "").as_deref(), Some("py"));
        assert_eq!(language("a.xyz", "").as_deref(), Some("xyz"));
        assert_eq!(language("a", ""), None);
        assert_eq!(language("a", "#!/bin/sh").as_deref(), Some("sh"));
    }
}
