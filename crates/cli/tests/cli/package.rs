//! Skills out of the store and into it again: folders, archives, differences.

use std::fs;

use crate::support::{Place, json, text};

fn save(place: &Place, files: &[(&str, &[u8])]) {
    let folder = place.skill(files);
    assert_eq!(place.belljar(&["skill", "add", text(&folder)]).code, Some(0));
}

#[test]
fn the_export_of_an_import_is_byte_for_byte_what_was_imported() {
    let place = Place::new();
    let binary: Vec<u8> = (0..=255).collect();
    let files: [(&str, &[u8]); 4] = [
        ("scripts/a.sh", b"#!/bin/sh\r\necho \xc3\xa9"),
        ("assets/x.bin", &binary),
        ("empty", b""),
        ("a/b c.txt", b"x"),
    ];
    save(&place, &files);
    let folder = place.path("out");
    assert_eq!(place.belljar(&["skill", "export", "demo", "--output", text(&folder)]).code, Some(0));
    for (path, bytes) in files {
        assert_eq!(fs::read(folder.join(path)).unwrap(), bytes, "{path}");
    }
    assert_eq!(fs::read(folder.join("SKILL.md")).unwrap(), fs::read(place.path("demo/SKILL.md")).unwrap());
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(folder.join("scripts/a.sh")).unwrap().permissions());
    assert_eq!(mode & 0o100, 0o100, "a script with a shebang can be executed");
    // As an archive, and back: the same revision.
    let archive = place.path("demo.zip");
    assert_eq!(place.belljar(&["skill", "export", "demo", "-o", text(&archive)]).code, Some(0));
    let again = place.belljar(&["skill", "import", text(&archive), "--json"]).json();
    assert_eq!(again["data"]["is_new"], false, "{again}");
    assert_eq!(place.belljar(&["skill", "check", text(&archive)]).code, Some(0));
    // Nothing is overwritten.
    for place_of in [&folder, &archive] {
        let told = place.belljar(&["skill", "export", "demo", "--output", text(place_of)]);
        assert!(told.code == Some(125) && told.stderr.contains("exists"), "{told:?}");
    }
}

#[test]
fn a_repaired_export_is_strict() {
    let place = Place::new();
    let folder = place.skill(&[("scripts/a.sh", b"echo")]);
    fs::write(folder.join("SKILL.md"), "---\nname: demo\ndescription: D.\nversion: 1.2\nauthor: Ada\n---\nBody\n")
        .unwrap();
    assert_eq!(place.belljar(&["skill", "add", text(&folder)]).code, Some(0));
    for (more, code) in [(&[][..], 2), (&["--repaired"], 0)] {
        let out = place.path(&format!("out-{code}/demo"));
        fs::create_dir(out.parent().unwrap()).unwrap();
        let export = [&["skill", "export", "demo", "--output", text(&out)], more].concat();
        assert_eq!(place.belljar(&export).code, Some(0));
        assert_eq!(place.belljar(&["skill", "check", "--strict", text(&out)]).code, Some(code), "{more:?}");
        assert!(fs::read_to_string(out.join("SKILL.md")).unwrap().ends_with("---\nBody\n"));
    }
}

#[test]
fn differences_are_told_file_by_file() {
    let place = Place::new();
    save(&place, &[("scripts/a.sh", b"echo one\necho same\n"), ("gone.txt", b"x"), ("b.bin", b"\xff\x00")]);
    save(&place, &[("scripts/a.sh", b"echo two \x1b[31m\necho same\n"), ("new.txt", b"y"), ("b.bin", b"\xff\x01\x02")]);
    let told = place.belljar(&["skill", "diff", "demo"]);
    for part in [
        "changed scripts/a.sh",
        "-echo one",
        "+echo two \\u{1b}[31m",
        "added new.txt",
        "removed gone.txt",
        "not text: 2 bytes before, 3 bytes after",
    ] {
        assert!(told.stdout.contains(part), "{part} is missing in {}", told.stdout);
    }
    let form = json(&place.belljar(&["skill", "diff", "demo", "2", "1", "--json"]).stdout);
    assert_eq!(form["data"]["files"].as_array().unwrap().len(), 4);
    let equal = place.belljar(&["skill", "diff", "demo", "2", "2"]);
    assert!(equal.stdout.contains("are equal"), "{equal:?}");
    assert_eq!(place.belljar(&["skill", "diff", "demo", "9", "--json"]).error(125)["code"], "REVISION_NOT_FOUND");
}

#[test]
fn a_new_skill_can_be_checked_and_run_at_once() {
    let place = Place::new();
    let folder = place.path("say-hello");
    let told = place.belljar(&["skill", "new", "say-hello", "--output", text(&folder)]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert_eq!(place.belljar(&["skill", "check", "--strict", text(&folder)]).code, Some(0));
    let run = ["run", text(&folder), "scripts/hello.sh", "--grant", "--input", "{\"a\":1}", "--json"];
    assert_eq!(place.belljar(&run).data(0)["output_data"]["input"]["a"], 1);
    assert_eq!(place.belljar(&["skill", "new", "say-hello", "--output", text(&folder)]).code, Some(125));
    assert_eq!(place.belljar(&["skill", "new", "Say Hello"]).code, Some(2));
}

#[test]
fn a_broken_archive_is_refused_with_its_reason() {
    let place = Place::new();
    let archive = place.path("demo.zip");
    fs::write(&archive, "no archive").unwrap();
    let told = place.belljar(&["skill", "import", text(&archive)]);
    assert!(told.code == Some(2) && told.stderr.contains("is no zip archive"), "{told:?}");
    assert_eq!(place.belljar(&["skill", "import", "/does/not/exist.zip"]).code, Some(2));
}
