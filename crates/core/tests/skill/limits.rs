//! The limits, each at its edge.

use belljar_core::skill::{SaveLimits, read_folder_within};

use super::*;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

fn with_files(count: usize) -> Scene {
    (1..count).fold(Scene::new(), |scene, index| scene.write(&format!("data/f{index}.md"), "x"))
}

#[test]
fn the_513th_file_is_refused() {
    assert_eq!(with_files(512).accepted().0.files.len(), 512);
    with_files(513).refused("more than 512 files");
}

#[test]
fn more_than_16_mib_are_refused() {
    let rest = 16 * MIB - SKILL.len();
    assert!(Scene::new().write("a.bin", vec![0xff; rest]).read().is_ok());
    Scene::new().write("a.bin", vec![0xff; rest + 1]).refused("larger than 16 MiB");
    let halves = Scene::new().write("a.bin", vec![0xff; 8 * MIB]).write("b.bin", vec![0xff; 8 * MIB]);
    halves.refused("larger than 16 MiB");
}

#[test]
fn a_huge_file_is_not_read() {
    let scene = Scene::new();
    let file = fs::File::create(scene.root.join("sparse")).unwrap();
    file.set_len(1 << 40).unwrap();
    scene.refused("larger than 16 MiB");
}

#[test]
fn a_text_file_has_at_most_1_mib_and_a_binary_one_may_have_more() {
    assert!(Scene::new().write("a.txt", vec![b'x'; MIB]).read().is_ok());
    Scene::new().write("a.txt", vec![b'x'; MIB + 1]).refused("a.txt: has 1048577 bytes; a text file has at most 1 MiB");
    assert!(Scene::new().write("a.bin", vec![0xff; MIB + 1]).read().is_ok());
}

#[test]
fn a_script_has_at_most_256_kib() {
    assert!(Scene::new().write("scripts/a.sh", vec![b'#'; 256 * KIB]).read().is_ok());
    Scene::new().write("scripts/a.sh", vec![b'#'; 256 * KIB + 1]).refused("a script has at most 256 KiB");
}

#[test]
fn more_entries_than_a_skill_could_need_end_the_reading() {
    let scene = Scene::new();
    for index in 0..40 {
        fs::create_dir(scene.root.join(format!("d{index}"))).unwrap();
    }
    let limits = SaveLimits { max_files: 4, ..SaveLimits::default() };
    let problems = read_folder_within(&scene.root, Strictness::Lenient, &limits).unwrap_err();
    assert!(problems[0].message.contains("more than 32 files and folders"), "{problems:?}");
}

#[test]
fn limits_can_be_set() {
    let scene = Scene::new().write("scripts/a.sh", "echo hello\n");
    let limits = SaveLimits { max_script_bytes: 10, ..SaveLimits::default() };
    let problems = read_folder_within(&scene.root, Strictness::Lenient, &limits).unwrap_err();
    assert_eq!(problems[0].to_string(), "scripts/a.sh: has 11 bytes; a script has at most 10 bytes");
}
