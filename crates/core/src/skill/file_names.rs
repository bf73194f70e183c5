//! Which files may be part of a skill, judged by name alone.

use std::collections::{BTreeMap, BTreeSet};

use belljar_executor::LogicalPath;

use super::problem::{Findings, shown};

/// What to do with a file or folder of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is part of the skill.
    Keep,
    /// It is not, for this reason.
    LeaveOut(&'static str),
    /// It looks like a secret: the rule that says so.
    Secret(&'static str),
}

/// Judges one part of a path.
pub(super) fn judge(name: &str) -> Verdict {
    match name {
        ".git" | ".hg" | ".svn" => return Verdict::LeaveOut("version control is not part of a skill"),
        "__pycache__" => return Verdict::LeaveOut("compiled Python files are not part of a skill"),
        ".DS_Store" | "__MACOSX" => return Verdict::LeaveOut("files of the macOS Finder are not part of a skill"),
        _ => {}
    }
    secret_rule(&name.to_lowercase()).map_or(Verdict::Keep, Verdict::Secret)
}

fn secret_rule(name: &str) -> Option<&'static str> {
    if matches!(name, ".env.example" | ".env.sample" | ".env.template") {
        return None;
    }
    if name == ".env" || name.starts_with(".env.") {
        return Some("`.env` and `.env.*`, but for `.env.example`, `.env.sample` and `.env.template`");
    }
    if matches!(name, "id_rsa" | "id_dsa" | "id_ecdsa" | "id_ed25519") {
        return Some("private keys of SSH");
    }
    let by_extension = [".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx"];
    if by_extension.iter().any(|extension| name.ends_with(extension)) {
        return Some("`*.pem`, `*.key`, `*.p12`, `*.pfx`, `*.ppk`, `*.jks`, `*.keystore` and `*.kdbx`");
    }
    let by_name =
        [".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", "credentials.json"];
    by_name.contains(&name).then_some(
        "`.netrc`, `_netrc`, `.npmrc`, `.pypirc`, `.pgpass`, `.git-credentials`, `.htpasswd` and `credentials.json`",
    )
}

/// The sentence that refuses a secret-looking name.
pub(super) fn secret_message(rule: &str) -> String {
    format!("has a name that secrets have ({rule}) and is refused; take it out of the skill or rename it")
}

/// Reports paths that differ only by case, in any of their folders, and files that are also folders:
/// on many hosts one would hide the other.
pub(super) fn collisions<'a>(paths: impl Iterator<Item = &'a LogicalPath>, findings: &mut Findings) {
    let mut spellings: BTreeMap<String, &str> = BTreeMap::new();
    let mut files = BTreeSet::new();
    for path in paths {
        let path = path.as_str();
        files.insert(path);
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        for part in folders.chain([path]) {
            if part != path && files.contains(part) {
                findings.problem(path, format!("lies in `{}`, which is a file", shown(part)));
            }
            let first = *spellings.entry(folded(part)).or_insert(part);
            if first != part {
                let message = format!("differs from `{}` only by case, and no two paths may", shown(first));
                findings.problem(part, message);
                break;
            }
        }
    }
}

/// Equal for paths that a host which ignores case takes for one.
fn folded(path: &str) -> String {
    path.to_uppercase().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_in_any_case() {
        for name in [".env", ".ENV", ".env.local", "id_rsa", "id_ed25519", "server.PEM", "a.key", "a.p12", "a.pfx"] {
            assert!(matches!(judge(name), Verdict::Secret(_)), "{name}");
        }
        for name in [".netrc", ".npmrc", "credentials.json"] {
            assert!(matches!(judge(name), Verdict::Secret(_)), "{name}");
        }
        for name in [".env.example", "env", "id_rsa.md", "keys.md", "pem", ".gitignore", "environment.py"] {
            assert_eq!(judge(name), Verdict::Keep, "{name}");
        }
        for name in [".git", ".hg", ".svn", "__pycache__", ".DS_Store"] {
            assert!(matches!(judge(name), Verdict::LeaveOut(_)), "{name}");
        }
    }

    fn problems(paths: &[&str]) -> Vec<String> {
        let paths: Vec<_> = paths.iter().map(|path| LogicalPath::parse(path).unwrap()).collect();
        let mut findings = Findings::default();
        collisions(paths.iter(), &mut findings);
        match findings.into_result(Some(())) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn paths_that_differ_by_case_collide_in_every_part() {
        assert!(problems(&["a/b.md", "a/c.md", "b"]).is_empty());
        assert_eq!(problems(&["README.md", "Readme.md"]).len(), 1);
        assert_eq!(problems(&["Scripts/a.py", "scripts/b.py"]).len(), 1);
        assert_eq!(problems(&["straße", "STRASSE"]).len(), 1);
    }

    #[test]
    fn a_file_is_not_a_folder() {
        assert_eq!(problems(&["a", "a/b"]), ["a/b: lies in `a`, which is a file"]);
        assert_eq!(problems(&["a", "a-b", "a/b"]).len(), 1);
    }
}
