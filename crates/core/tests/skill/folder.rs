//! What may lie in a folder, and what may not.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use belljar_core::skill::{ComponentType, NoteKind};
use belljar_executor::LogicalPath;

use super::*;

#[test]
fn a_folder_becomes_a_manifest_and_its_bytes() {
    let scene = Scene::new()
        .write("scripts/run.py", "print(1)\n")
        .write("scripts/tool", "#!/usr/bin/env bash\n")
        .write("scripts/__init__.py", "")
        .write("references/guide.md", "# Guide\n")
        .write("assets/logo.png", b"\x89PNG\xff")
        .write("a b/é.txt", "é");
    let (skill, notes) = scene.accepted();
    assert_eq!(skill.manifest.name.as_str(), "my-skill");
    assert_eq!(skill.manifest.description, "Does something.");
    let expected = [
        ("SKILL.md", ComponentType::Document, "text/markdown"),
        ("a b/é.txt", ComponentType::Document, "text/plain"),
        ("assets/logo.png", ComponentType::Artifact, "image/png"),
        ("references/guide.md", ComponentType::Reference, "text/markdown"),
        ("scripts/__init__.py", ComponentType::Script, "text/x-python"),
        ("scripts/run.py", ComponentType::Script, "text/x-python"),
        ("scripts/tool", ComponentType::Script, "text/plain"),
    ];
    let found = skill.manifest.files.iter();
    let found: Vec<_> = found.map(|(path, entry)| (path.as_str(), entry.component_type, &*entry.media_type)).collect();
    assert_eq!(found, expected);
    let languages = skill.manifest.scripts.values().map(|script| script.language.as_ref().unwrap().as_str());
    assert_eq!(languages.collect::<Vec<_>>(), ["py", "py", "bash"]);
    let path = LogicalPath::parse("scripts/run.py").unwrap();
    assert_eq!(&**skill.files.get(&path).unwrap(), b"print(1)\n");
    assert_eq!(skill.files.len(), skill.manifest.files.len());
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn the_root_may_be_a_link_and_nothing_in_it() {
    let scene = Scene::new();
    let link = scene.root.parent().unwrap().join("link");
    symlink(&scene.root, &link).unwrap();
    assert!(read(&link, Strictness::Strict).unwrap().notes.is_empty());
    symlink("SKILL.md", scene.root.join("README.md")).unwrap();
    scene.refused("README.md: is a symbolic link");
}

#[test]
fn links_pipes_and_sockets_are_refused() {
    let scene = Scene::new().write("scripts/a.sh", "");
    symlink("/etc", scene.root.join("etc")).unwrap();
    symlink("nowhere", scene.root.join("scripts/dangling")).unwrap();
    symlink("/", scene.root.join(".git")).unwrap();
    let _listener = UnixListener::bind(scene.root.join("socket")).unwrap();
    let problems = scene.problems(4).join("\n");
    for cause in [".git: is a symbolic link", "etc: is a symbolic link", "dangling: is a", "socket: is a socket"] {
        assert!(problems.contains(cause), "{problems}");
    }
}

#[test]
fn a_skill_file_that_is_a_link_is_one_problem() {
    let scene = Scene::new();
    fs::remove_file(scene.root.join("SKILL.md")).unwrap();
    symlink("/etc/passwd", scene.root.join("SKILL.md")).unwrap();
    scene.refused("SKILL.md: is a symbolic link");
}

#[test]
fn hard_links_are_files() {
    let scene = Scene::new();
    fs::hard_link(scene.root.join("SKILL.md"), scene.root.join("copy.md")).unwrap();
    assert_eq!(paths(&scene.accepted().0), ["SKILL.md", "copy.md"]);
}

#[test]
fn names_that_are_refused() {
    for (name, cause) in [
        (b"a\\b".as_slice(), "no backslash"),
        (b"a\nb", "no control character"),
        (b"a\x1b[2Jb", "no control character"),
        (b"e\xcc\x81.md", "normal form C"),
        (b"\xff.md", "not UTF-8"),
    ] {
        let scene = Scene::new();
        fs::write(scene.root.join(OsStr::from_bytes(name)), "x").unwrap();
        scene.refused(cause);
        assert!(!scene.problems(1)[0].contains(['\n', '\u{1b}']));
    }
    Scene::new().write("README.md", "").write("Readme.md", "").refused("only by case");
    Scene::new().write("Docs/a.md", "").write("docs/b.md", "").refused("only by case");
    assert!(Scene::new().write(&format!("{}/f", ["d"; 15].join("/")), "").read().is_ok());
    Scene::new().write(&format!("{}/f", ["d"; 16].join("/")), "").refused("16 folders deep");
    Scene::new().write(&format!("{}/f", ["d"; 60].join("/")), "").refused("16 folders deep");
}

#[test]
fn secrets_are_refused_by_name() {
    for name in [".env", "config/.env.production", "id_rsa", "keys/id_ed25519", "a.pem", "a.KEY", "a.p12", "a.pfx"] {
        Scene::new().write(name, "x").refused("a name that secrets have");
    }
    Scene::new().write("credentials.json", "{}").refused("a name that secrets have");
    assert_eq!(paths(&Scene::new().write(".env.example", "A=").accepted().0), [".env.example", "SKILL.md"]);
}

#[test]
fn version_control_caches_and_empty_folders_are_left_out_with_a_note() {
    let scene = Scene::new()
        .write(".git/config", "secret")
        .write(".git/id_rsa", "secret")
        .write("lib/__pycache__/a.pyc", b"\xff")
        .write("lib/.DS_Store", b"\0")
        .write("lib/a.py", "a = 1\n");
    fs::create_dir(scene.root.join("empty")).unwrap();
    let (skill, notes) = scene.accepted();
    assert_eq!(paths(&skill), ["SKILL.md", "lib/a.py"]);
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(skill.notes.iter().all(|note| note.kind == NoteKind::LeftOut));
}

#[test]
fn scripts_that_may_surprise_are_kept_byte_for_byte() {
    let contents: [(&str, &[u8]); 4] = [
        ("scripts/bom.py", b"\xef\xbb\xbfprint(1)\n"),
        ("scripts/crlf.sh", b"echo 1\r\n"),
        ("scripts/empty.sh", b""),
        ("scripts/nul.sh", b"echo \0\n"),
    ];
    let scene = contents.iter().fold(Scene::new(), |scene, (path, content)| scene.write(path, content));
    let (skill, notes) = scene.accepted();
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(skill.notes.iter().all(|note| note.kind == NoteKind::Warning));
    for (path, content) in contents {
        assert_eq!(&**skill.files.get(&LogicalPath::parse(path).unwrap()).unwrap(), content);
    }
}

#[test]
fn another_folder_name_is_noted() {
    let scene = Scene::new().write("SKILL.md", SKILL.replace("my-skill", "other"));
    assert_eq!(scene.accepted().1, ["SKILL.md: the skill is named `other`, and its folder is not"]);
}

#[test]
fn what_is_no_skill_says_so() {
    let scene = Scene::new();
    fs::rename(scene.root.join("SKILL.md"), scene.root.join("README.md")).unwrap();
    scene.refused("has no `SKILL.md` at its top");
    let nowhere = read(&scene.root.join("nowhere"), Strictness::Lenient).unwrap_err();
    assert!(nowhere[0].contains("cannot open the folder"), "{nowhere:?}");
    let file = read(&scene.root.join("README.md"), Strictness::Lenient).unwrap_err();
    assert!(file[0].contains("cannot open the folder"), "{file:?}");
}

#[test]
fn all_problems_are_reported_at_once() {
    let scene = Scene::new()
        .write("SKILL.md", "no front matter")
        .write(".env", "x")
        .write("scripts/a.py", b"\xff")
        .write("belljar.toml", "[scripts.\"scripts/none.py\"]\n[scripts.\"scripts/b.py\"]\nfoo = 1\n");
    symlink("x", scene.root.join("x")).unwrap();
    let problems = scene.problems(6).join("\n");
    for cause in ["first line must be `---`", ".env", "scripts/a.py: is not UTF-8", "none.py", "`foo`", "symbolic"] {
        assert!(problems.contains(cause), "{problems}");
    }
}
