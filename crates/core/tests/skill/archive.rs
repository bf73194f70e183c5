//! Skills from zip archives: honest ones byte for byte, broken ones refused with the reason.

use std::io::{Cursor, Write};

use belljar_core::skill::{Problem, SaveLimits, SkillFolder, Strictness, read_archive, write_archive};
use belljar_executor::LogicalPath;
use zip::write::{SimpleFileOptions, ZipWriter};

const INDEX: &[u8] = b"---\nname: demo\ndescription: From an archive.\n---\nBody.\n";

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read(bytes: &[u8]) -> Result<SkillFolder, Vec<Problem>> {
    read_archive(bytes, Strictness::Lenient, &SaveLimits::default())
}

fn assert_refused(bytes: &[u8], because: &str) {
    let problems = read(bytes).unwrap_err();
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|problem| problem.contains(because)), "{because} is not in {told:?}");
}

#[test]
fn what_is_written_is_read_back_byte_for_byte_and_the_same_files_give_the_same_archive() {
    let binary: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let files: [(&str, &[u8]); 5] = [
        ("SKILL.md", INDEX),
        ("scripts/a.sh", b"#!/bin/sh\r\necho \xc3\xa9"),
        ("assets/x.bin", &binary),
        ("empty", b""),
        ("a/b/c d.txt", b"x"),
    ];
    let first = read(&archive(&files)).unwrap();
    let written = write_archive(&first.manifest.name, &first.files).unwrap();
    assert_eq!(written, write_archive(&first.manifest.name, &first.files).unwrap());
    let again = read(&written).unwrap();
    assert_eq!((again.manifest, again.files.digest()), (first.manifest, first.files.digest()));
    for (name, bytes) in files {
        let path = LogicalPath::parse(name).unwrap();
        assert_eq!(again.files.get(&path).map(|bytes| &**bytes), Some(bytes), "{name}");
    }
}

#[test]
fn a_skill_may_stand_in_the_one_folder_of_the_archive() {
    let with_folder = archive(&[("demo/SKILL.md", INDEX), ("demo/scripts/a.sh", b"echo"), ("__MACOSX/demo/._x", b"x")]);
    let read_back = read(&with_folder).unwrap();
    assert_eq!(read_back.manifest.files.len(), 2);
    assert_refused(&archive(&[("demo/SKILL.md", INDEX), ("other/a.txt", b"x")]), "no `SKILL.md` at its top");
    assert_refused(&archive(&[("a/b/SKILL.md", INDEX)]), "no `SKILL.md` at its top");
}

#[test]
fn names_that_leave_the_skill_or_hide_in_it_are_refused() {
    for name in ["../evil", "a/../../evil", "/etc/evil", "C:\\evil", "a\\b", "a/./b", "a//b", "a\0b", "cafe\u{301}"] {
        assert_refused(&archive(&[("SKILL.md", INDEX), (name, b"x")]), "name that is refused");
    }
    assert_refused(&archive(&[("SKILL.md", INDEX), ("A.txt", b"x"), ("a.txt", b"y")]), "case");
    assert_refused(&archive(&[("SKILL.md", INDEX), ("a", b"x"), ("a/b", b"y")]), "is a file");
    assert_refused(&archive(&[("SKILL.md", INDEX), (".env", b"KEY=1")]), "secrets");
    assert_refused(&archive(&[("SKILL.md", b"no front matter")]), "front matter");
}

#[test]
fn links_and_other_kinds_are_refused() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("SKILL.md", SimpleFileOptions::default()).unwrap();
    writer.write_all(INDEX).unwrap();
    writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    assert_refused(&writer.finish().unwrap().into_inner(), "symbolic link");
    // The same bytes that say a pipe: the mode stands in the upper half of the external attributes.
    let plain = archive(&[("SKILL.md", INDEX), ("pipe", b"")]);
    let mut pipe = plain.clone();
    let central = plain.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    pipe[central + 38..central + 42].copy_from_slice(&(0o010_644_u32 << 16).to_le_bytes());
    assert_refused(&pipe, "neither a file nor a folder");
}

#[test]
fn an_archive_that_is_larger_than_it_says_or_than_it_may_be_is_refused() {
    let zeros = vec![0; 8 << 20];
    assert_refused(&archive(&[("SKILL.md", INDEX), ("bomb", &zeros)]), "as bombs do");
    // Bytes that hardly pack: it is their sum that is refused.
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_le_bytes()[4]
    })
    .take(9 << 20)
    .collect();
    assert_refused(&archive(&[("SKILL.md", INDEX), ("a", &noise), ("b", &noise)]), "is larger than 16 MiB");
    let names: Vec<_> = (0..600).map(|number| format!("f{number}")).collect();
    let mut many: Vec<(&str, &[u8])> = vec![("SKILL.md", INDEX)];
    many.extend(names.iter().map(|name| (name.as_str(), &b"x"[..])));
    assert_refused(&archive(&many), "more than 512 files");
}

#[test]
fn what_is_no_archive_or_a_broken_one_is_refused() {
    assert_refused(b"", "is no zip archive");
    assert_refused(b"PK\x03\x04 but nothing more", "is no zip archive");
    let good = archive(&[("SKILL.md", INDEX), ("scripts/a.sh", &b"echo hello\n".repeat(100))]);
    for end in [good.len() / 2, good.len() - 1] {
        assert!(read(&good[..end]).is_err());
    }
    // One flipped byte of the content: the checksum tells.
    let mut broken = good.clone();
    let content = good.windows(12).position(|window| window == b"scripts/a.sh").unwrap() + 20;
    broken[content] ^= 0xFF;
    assert_refused(&broken, "cannot be unpacked");
}

#[test]
fn whatever_the_bytes_reading_ends() {
    let good = archive(&[("SKILL.md", INDEX), ("scripts/a.sh", b"echo hello")]);
    for at in 0..good.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            drop(read(&bytes));
        }
    }
}
