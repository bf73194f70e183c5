//! Reading a skill from a folder of the host, and from files in memory: what is refused, and what is noted.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

#[path = "skill/archive.rs"]
mod archive;
#[path = "skill/folder.rs"]
mod folder;
#[path = "skill/limits.rs"]
mod limits;
#[path = "skill/memory.rs"]
mod memory;
#[path = "skill/shipped.rs"]
mod shipped;

use std::fs;
use std::path::{Path, PathBuf};

use belljar_core::skill::{SkillFolder, Strictness, read_folder};

/// A front matter that nothing is wrong with.
const SKILL: &str = "---\nname: my-skill\ndescription: Does something.\n---\n# My skill\n";

/// A folder `my-skill` with a good `SKILL.md`, gone with the value.
struct Scene {
    _parent: tempfile::TempDir,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join("my-skill");
        fs::create_dir(&root).unwrap();
        let scene = Self { _parent: parent, root };
        scene.write("SKILL.md", SKILL)
    }

    fn write(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn read(&self) -> Result<SkillFolder, Vec<String>> {
        read(&self.root, Strictness::Lenient)
    }

    /// The problems, which must be this many.
    #[track_caller]
    fn problems(&self, count: usize) -> Vec<String> {
        let problems = self.read().map(|skill| skill.notes).unwrap_err();
        assert_eq!(problems.len(), count, "{problems:#?}");
        problems
    }

    /// The only problem must hold this text.
    #[track_caller]
    fn refused(&self, cause: &str) {
        let problems = self.problems(1);
        assert!(problems[0].contains(cause), "{problems:?}");
    }

    /// The skill, with its notes as text.
    #[track_caller]
    fn accepted(&self) -> (SkillFolder, Vec<String>) {
        let skill = self.read().unwrap();
        let notes = skill.notes.iter().map(ToString::to_string).collect();
        (skill, notes)
    }
}

fn read(path: &Path, strictness: Strictness) -> Result<SkillFolder, Vec<String>> {
    read_folder(path, strictness).map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

fn paths(skill: &SkillFolder) -> Vec<&str> {
    skill.manifest.files.keys().map(belljar_executor::LogicalPath::as_str).collect()
}
