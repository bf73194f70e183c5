use proptest::prelude::*;

use super::*;

fn lenient(text: &str) -> Result<(FrontMatter, Vec<String>), String> {
    read_as(text, Strictness::Lenient)
}

fn strict(text: &str) -> Result<(FrontMatter, Vec<String>), String> {
    read_as(text, Strictness::Strict)
}

fn read_as(text: &str, strictness: Strictness) -> Result<(FrontMatter, Vec<String>), String> {
    front_matter(text.as_bytes(), strictness)
        .map(|(front_matter, notes)| (front_matter, notes.into_iter().map(|note| note.message).collect()))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn with(more: &str) -> String {
    format!("---\nname: a\ndescription: b\n{more}---\n# A\n")
}

#[test]
fn the_format_as_it_is_written() {
    let text = with(
        "license: MIT\ncompatibility: Python 3.11\nallowed-tools: Bash(git:*) Read\nmetadata:\n  version: \"1.10\"\n",
    );
    for read in [lenient, strict] {
        let (front_matter, notes) = read(&text).unwrap();
        assert_eq!(front_matter.name.as_str(), "a");
        assert_eq!(front_matter.description, "b");
        assert_eq!(front_matter.license.as_deref(), Some("MIT"));
        assert_eq!(front_matter.compatibility.as_deref(), Some("Python 3.11"));
        assert_eq!(front_matter.allowed_tools.as_deref(), Some("Bash(git:*) Read"));
        assert_eq!(front_matter.metadata["version"], "1.10");
        assert!(notes.is_empty(), "{notes:?}");
    }
}

#[test]
fn unknown_keys_move_to_the_metadata_or_are_refused() {
    let text = with("version: 1.10\nauthor: me\ntags: [x, 2]\nmetadata:\n  author: you\n  version: 1.10\n");
    let (front_matter, notes) = lenient(&text).unwrap();
    assert_eq!(front_matter.metadata["version"], "1.10");
    assert_eq!(front_matter.metadata["author"], "you");
    assert_eq!(front_matter.metadata["author (top level)"], "me");
    assert_eq!(front_matter.metadata["tags"], r#"["x",2]"#);
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes.contains(&"line 4: `version` is no top-level key of the format; it was moved to `metadata`".into()));
    let problems = strict(&text).unwrap_err();
    assert_eq!(problems.lines().count(), 5, "{problems}");
    assert!(problems.contains("line 5: `author` is no top-level key"), "{problems}");
}

#[test]
fn what_is_not_a_text_is_taken_as_it_is_written() {
    let text = with("license: 2.0\nmetadata:\n  level: 007\n  on: true\n  nested: {a: 1}\n");
    let (front_matter, notes) = lenient(&text).unwrap();
    assert_eq!(front_matter.license.as_deref(), Some("2.0"));
    assert_eq!(front_matter.metadata["level"], "007");
    assert_eq!(front_matter.metadata["on"], "true");
    assert_eq!(front_matter.metadata["nested"], r#"{"a":1}"#);
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert_eq!(strict(&text).unwrap_err().lines().count(), 5);
    let (front_matter, notes) = lenient(&with("allowed-tools: [Read, Grep]\n")).unwrap();
    assert_eq!(front_matter.allowed_tools.as_deref(), Some("Read Grep"));
    assert_eq!(notes.len(), 1);
}

#[test]
fn long_texts_are_cut_in_the_index_or_refused() {
    let text = format!("---\nname: a\ndescription: {}\ncompatibility: {}\n---\n", "é".repeat(1025), "c".repeat(501));
    let (front_matter, notes) = lenient(&text).unwrap();
    assert_eq!(front_matter.description.chars().count(), 1024);
    assert_eq!(front_matter.compatibility.unwrap().len(), 500);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(strict(&text).unwrap_err().lines().count(), 2);
    let longest = format!("---\nname: a\ndescription: {}\n---\n", "é".repeat(1024));
    assert!(strict(&longest).is_ok());
}

#[test]
fn byte_order_mark_and_windows_line_ends_are_tolerated() {
    let text = format!("\u{feff}{}", with("license: |\n  MIT\n").replace('\n', "\r\n"));
    let (front_matter, notes) = lenient(&text).unwrap();
    assert_eq!(front_matter.name.as_str(), "a");
    assert_eq!(front_matter.license.as_deref().map(str::trim), Some("MIT"));
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(strict(text.trim_start_matches('\u{feff}')).is_ok());
}

#[test]
fn each_broken_front_matter_is_named() {
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n";
    let deep = format!("x: {}{}\n", "[".repeat(200), "]".repeat(200));
    let wide = format!("x: [{}]\n", "1,".repeat(5000));
    for (text, cause) in [
        (String::new(), "line 1: has no front matter"),
        ("# A\n".into(), "line 1: has no front matter"),
        ("---\nname: a\ndescription: b\n".into(), "not closed"),
        (format!("---\n{}", "# long\n".repeat(20_000)), "64 KiB"),
        ("---\n---\n".into(), "no `name`"),
        ("---\n- a\n- b\n---\n".into(), "cannot be read as YAML"),
        ("---\njust text\n---\n".into(), "cannot be read as YAML"),
        (with("x: [1\n"), "cannot be read as YAML"),
        (with("license: \"open\n"), "cannot be read as YAML"),
        (with("name: again\n"), "line 4: front matter cannot be read as YAML: duplicate mapping key: name"),
        (with(&format!("x: &x {}\ny: [*x, *x, *x, *x]\n", "x".repeat(30_000))), "cannot be read as YAML"),
        (with("x: &x [y]\n<<: *x\n"), "cannot be read as YAML"),
        (with(bomb), "alias (none is accepted)"),
        (with(&deep), "cannot be read as YAML"),
        (with(&wide), "more than 2,000 values"),
        ("---\ndescription: b\n---\n".into(), "no `name`"),
        ("---\nname: a\n---\n".into(), "no `description`"),
        ("---\nname: a\ndescription: ' '\n---\n".into(), "no `description`"),
        ("---\nname: My Skill!\ndescription: b\n---\n".into(), "`my-skill` would be one"),
        ("---\nname: a\ndescription: \"b\\e[2J\"\n---\n".into(), "line 3: `description` holds a control character"),
    ] {
        for read in [lenient, strict] {
            let problems = read(&text).unwrap_err();
            assert!(problems.contains(cause), "{:?}\n{problems}", text.chars().take(80).collect::<String>());
            assert!(problems.len() < 2000);
        }
    }
    let problems = front_matter(b"---\nname: \xff\n---\n", Strictness::Lenient).unwrap_err();
    assert!(problems[0].message.starts_with("line 2: is not UTF-8"), "{problems:?}");
}

#[test]
fn several_problems_are_reported_together() {
    assert_eq!(strict("---\nname: A\nversion: 1\n---\n").unwrap_err().lines().count(), 3);
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..2000), marks in any::<bool>()) {
        let text = if marks { [b"---\n".as_slice(), &bytes, b"\n---\n"].concat() } else { bytes };
        let _ = front_matter(&text, Strictness::Lenient);
        let _ = front_matter(&text, Strictness::Strict);
    }

    #[test]
    fn yaml_like_text_never_panics(lines in proptest::collection::vec("[-a-c: \\[\\]{}&*!|>'\"#,?%@~0-9.\\\\\té\r]{0,24}", 0..24)) {
        let text = with(&(lines.join("\n") + "\n"));
        let _ = front_matter(text.as_bytes(), Strictness::Lenient);
        let _ = front_matter(text.as_bytes(), Strictness::Strict);
    }
}

#[test]
fn a_repaired_index_is_strict_says_the_same_and_keeps_the_text_below() {
    for index in [
        "---\nname: demo\ndescription: Plain.\n---\nBody\n---\nmore\n",
        "\u{feff}---\r\nname: demo\r\ndescription: 'Windows: \"quoted\"'\r\nversion: 2\r\n---\r\nBody\r\n",
        "---\nname: demo\ndescription: |\n  Two\n  lines \u{1f600} \\ end\nlicense: MIT\nauthor: [a, b]\nmetadata:\n  k: v\n---\n",
        "---\nname: demo\ndescription: No text below\nallowed-tools: Bash(git:*) Read\ncompatibility: any\n---",
    ] {
        let (lenient, _) = front_matter(index.as_bytes(), Strictness::Lenient).unwrap();
        let repaired = lenient.replace_in(index.as_bytes());
        let (strict, notes) = front_matter(&repaired, Strictness::Strict).unwrap();
        assert_eq!(strict, lenient, "{}", String::from_utf8_lossy(&repaired));
        assert!(notes.iter().all(|note| note.kind == NoteKind::Warning), "{notes:?}");
        let below = index.splitn(3, "---").nth(2).unwrap().trim_start_matches(['\r', '\n']);
        assert!(repaired.ends_with(below.as_bytes()), "{}", String::from_utf8_lossy(&repaired));
    }
}

#[test]
fn notation_that_other_readers_refuse_is_refused_strictly_and_read_leniently() {
    for (block, line, what) in [
        ("name: a\ndescription: b\nmetadata: {c: d}\n", 4, "braces or brackets"),
        ("{name: a, description: b}\n", 2, "braces or brackets"),
        ("name: a\ndescription: &x b\n", 3, "anchor"),
        ("name: a\ndescription: !!str b\n", 3, "tag"),
        ("\u{feff}name: a\ndescription: b\n", 2, "byte-order mark"),
    ] {
        let text = format!("---\n{block}---\n# A\n");
        let problems = strict(&text).unwrap_err();
        assert!(problems.contains(&format!("line {line}: ")) && problems.contains(what), "{block}: {problems}");
        let (read, _) = lenient(&text).unwrap();
        assert_eq!((read.name.as_str(), read.description.as_str()), ("a", "b"), "{block}");
        // What was repaired is strict.
        assert_eq!(strict(&read.to_yaml()).unwrap().0, read);
    }
    let marked = format!("\u{feff}{}", with(""));
    assert!(strict(&marked).unwrap_err().contains("byte-order mark"));
    assert_eq!(lenient(&marked).unwrap().1.len(), 1);
}

#[test]
fn no_text_of_a_repaired_entry_can_be_taken_for_its_end() {
    for text in ["a --- b", "---", "a\n---\nb", "-----", "\\---"] {
        let entry = FrontMatter::new(SkillName::parse("a").unwrap(), format!("x{text}y"));
        let written = entry.to_yaml();
        assert_eq!(written.matches("---").count(), 2, "{written}");
        assert_eq!(strict(&written).unwrap().0, entry);
    }
}
