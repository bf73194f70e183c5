//! The reference validator of the skills format.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::place::{Place, succeeded, text};
use crate::programs::Programs;

/// Whether the reference accepts a folder, and what it says.
fn validated(folder: &Path) -> Result<(), String> {
    let output = Programs::python().python_program("agentskills").arg("validate").arg(folder).output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(()) } else { Err(told) }
}

/// Files beside `SKILL.md` that a skill may have.
fn furnish(folder: &Path) {
    let every_byte: Vec<u8> = (0..=255).collect();
    for (path, bytes) in [
        ("scripts/run.sh", &b"#!/bin/sh\necho ran\n"[..]),
        ("scripts/old.py", b"print('from Windows')\r\n"),
        ("references/notes.md", b"Notes.\n"),
        ("assets/data.bin", &every_byte),
        ("assets/empty", b""),
        ("a name/with blanks.txt", b"x"),
        ("belljar.toml", b"[scripts.\"scripts/run.sh\"]\ntimeout_seconds = 5\n"),
    ] {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

/// Writes a skill whose front matter is this, with `NAME` in it replaced by its name.
fn skill(place: &Place, name: &str, front_matter: &str) -> PathBuf {
    let folder = place.path(name);
    furnish(&folder);
    let end = if front_matter.contains("\r\n") { "\r\n" } else { "\n" };
    let index = format!("---{end}{}---{end}Body{end}", front_matter.replace("NAME", name));
    fs::write(folder.join("SKILL.md"), index).unwrap();
    folder
}

/// Exports a skill into a folder of its name.
fn exported(place: &Place, name: &str, more: &[&str]) -> PathBuf {
    let folder = place.path("out").join(name);
    fs::create_dir_all(place.path("out")).unwrap();
    drop(fs::remove_dir_all(&folder));
    place.belljar(&[&["skill", "export", name, "--output", text(&folder)], more].concat());
    folder
}

/// Every file of a folder with its bytes.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                files.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// Front matter that the format allows.
fn good() -> Vec<String> {
    let mut all: Vec<String> = [
        "description: d\n",
        "description: >\n  one\n  two\n",
        "description: |-\n  one\n  two\n",
        "description: one\n  two\n",
        "description: 'it''s: good'\n",
        "description: \"tab\\t and \\u00e9\"\n",
        "description: d # why\n# and so\n",
        "description: d\nlicense: Apache-2.0\n",
        "description: d\nallowed-tools: Bash(git:*) Read\n",
        "description: d\nmetadata:\n  version: \"1.10\"\n  author: somebody\n",
        "description: d\nmetadata:\n    deep: indented\n",
        "description: d\r\nlicense: MIT\r\n",
    ]
    .map(str::to_owned)
    .into();
    for (character, count) in [("x", 1024), ("é", 1024), ("😀", 1024)] {
        all.push(format!("description: {}\n", character.repeat(count)));
    }
    all.push(format!("description: d\ncompatibility: {}\n", "x".repeat(500)));
    let named = |rest: &String| format!("name: NAME{}{rest}", if rest.contains("\r\n") { "\r\n" } else { "\n" });
    all.iter().map(named).collect()
}

#[test]
fn what_is_imported_strictly_is_exported_byte_for_byte_and_valid() {
    let place = Place::new();
    let longest = "x".repeat(64);
    let names = (0..).map(|number| format!("skill-{number}"));
    let mut skills: Vec<_> = names.zip(good()).collect();
    skills.push((longest, "name: NAME\ndescription: d\n".to_owned()));
    for (name, front_matter) in skills {
        let folder = skill(&place, &name, &front_matter);
        place.belljar(&["skill", "add", "--strict", text(&folder)]);
        let out = exported(&place, &name, &[]);
        assert_eq!(tree(&out), tree(&folder), "{name}");
        assert_eq!(validated(&out), Ok(()), "{front_matter}");
    }
}

#[test]
fn the_examples_and_what_an_agent_saves_are_valid() {
    let place = Place::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skills");
    for entry in fs::read_dir(examples).unwrap().map(Result::unwrap) {
        place.belljar(&["skill", "add", "--strict", text(&entry.path())]);
        let out = exported(&place, entry.file_name().to_str().unwrap(), &[]);
        assert_eq!(validated(&out), Ok(()), "{entry:?}");
    }
    for (name, description) in
        [("plain", "d"), ("quotes", "say \"hi\": \\ é\n# no comment"), ("fence", "a\n---\nb --- c")]
    {
        let arguments =
            json!({ "name": name, "description": description, "instructions": "---\nBody\n---", "publish": true });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "save_cloud_skill",
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        } });
        let mut server = place.command(&["mcp"]);
        let pipes = server.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut server = pipes.spawn().unwrap();
        writeln!(server.stdin.take().unwrap(), "{call}").unwrap();
        let told = succeeded(&server.wait_with_output().unwrap());
        assert!(told.contains("\"isError\":false"), "{told}");
        let out = exported(&place, name, &[]);
        assert_eq!(validated(&out), Ok(()), "{name}");
    }
}

#[test]
fn what_was_imported_leniently_is_exported_byte_for_byte_and_valid_once_repaired() {
    let place = Place::new();
    let long = format!("name: NAME\ndescription: {}\ncompatibility: {}\n", "x".repeat(2000), "y".repeat(600));
    let lenient = [
        "name: NAME\ndescription: d\nversion: 1.10\nauthor: somebody\n",
        "name: NAME\ndescription: d\ntags: [a, b]\nmetadata: {c: d}\n",
        "name: NAME\ndescription: &x d\n",
        "name: NAME\ndescription: !!str d\n",
        "name: NAME\ndescription: d\nallowed-tools:\n  - Bash\n  - Read\n",
        "name: NAME\ndescription: d\nmetadata:\n  version: 1.0\n  nested:\n    a: b\n",
        "name: NAME\ndescription: d\nlicense: 5\n",
        "name: NAME\ndescription: 5\n",
        "{name: NAME, description: d}\n",
        "\u{feff}name: NAME\ndescription: d\n",
        "name: NAME\ndescription: |\n  a --- b\nversion: '---'\n",
        &long,
    ];
    for (number, front_matter) in lenient.iter().enumerate() {
        let name = format!("lenient-{number}");
        let folder = skill(&place, &name, front_matter);
        let refused = place.command(&["skill", "check", "--strict", text(&folder)]).output().unwrap();
        let is_refused = !refused.status.success();
        assert!(is_refused, "{front_matter}");
        place.belljar(&["skill", "import", text(&folder)]);
        assert_eq!(tree(&exported(&place, &name, &[])), tree(&folder), "{name}");
        let out = exported(&place, &name, &["--repaired"]);
        assert_eq!(validated(&out), Ok(()), "{front_matter}");
        // Only the index file was repaired.
        let others = |folder: &Path| -> Vec<_> {
            tree(folder).into_iter().filter(|(path, _)| path != Path::new("SKILL.md")).collect()
        };
        assert_eq!(others(&out), others(&folder));
    }
}

#[test]
fn an_archive_is_imported_as_the_folder_that_is_in_it() {
    let place = Place::new();
    let folder = skill(&place, "packed", "name: NAME\ndescription: d\n");
    let archive = place.path("packed.zip");
    let mut zip = zip::ZipWriter::new(fs::File::create(&archive).unwrap());
    for (path, bytes) in tree(&folder) {
        let name = format!("packed/{}", text(&path));
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap();
    place.belljar(&["skill", "import", "--strict", text(&archive)]);
    let out = exported(&place, "packed", &[]);
    assert_eq!(tree(&out), tree(&folder));
    assert_eq!(validated(&out), Ok(()));
}

#[test]
fn what_the_reference_refuses_is_refused_strictly() {
    let place = Place::new();
    let longest = format!("name: NAME\ndescription: {}\n", "x".repeat(1025));
    let needs = format!("name: NAME\ndescription: d\ncompatibility: {}\n", "x".repeat(501));
    for (number, front_matter) in [
        "name: NAME\n",
        "description: d\n",
        "name: NAME\ndescription: '  '\n",
        "name: Upper\ndescription: d\n",
        "name: a--b\ndescription: d\n",
        "name: -a\ndescription: d\n",
        "name: a_b\ndescription: d\n",
        "name: NAME\ndescription: d\nversion: 1\n",
        "name: NAME\ndescription: d\ndescription: e\n",
        "name: NAME\ndescription: use when: x\n",
        "name: NAME\ndescription: d\nmetadata: {a: b}\n",
        &longest,
        &needs,
    ]
    .iter()
    .enumerate()
    {
        let folder = skill(&place, &format!("bad-{number}"), front_matter);
        assert!(validated(&folder).is_err(), "the reference refuses {front_matter}");
        let output = place.command(&["skill", "add", "--strict", text(&folder)]).output().unwrap();
        assert!(!output.status.success(), "{front_matter}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("SKILL.md"), "{output:?}");
    }
    assert_eq!(place.json(&["skill", "list"])["data"], json!([]));
}
