//! One pass over the corpus: a user, its state folder, and the program under test where that user can reach it.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

/// An ordinary user without account or groups.
const UID: u32 = 4242;

/// The isolating executors that have a pass of their own.
pub(crate) const EXECUTORS: [&str; 1] = ["bubblewrap"];

/// The program under test, in the folder of a test run.
const PROGRAM: &str = "belljar";

/// One that answers like it and seals nothing.
const UNSEALED: &str = "unsealed";

/// Large enough for the inputs of four mebibytes; everything else is the default.
const MAX_ARGUMENT_BYTES: &str = "max_argument_bytes = 8388608\n";

/// Who runs the program under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Ordinary,
}

impl User {
    pub(crate) const ALL: [Self; 2] = [Self::Root, Self::Ordinary];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Ordinary => "ordinary",
        }
    }
}

/// Whether this harness is root, and can do both passes.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A world-readable folder that holds everything of a test run, and is gone after it.
#[derive(Debug)]
pub(crate) struct Ground {
    folder: TempDir,
}

impl Ground {
    /// The folder, with a copy of the program, and of one that seals nothing.
    pub(crate) fn prepare(binary: &Path) -> Result<Self> {
        let candidates = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
        let base = candidates.iter().find(|folder| is_reachable(folder));
        let base = base.context("no temporary folder that every user can reach")?;
        let open = fs::Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new()
            .prefix("belljar-attacks-")
            .rand_bytes(12)
            .permissions(open.clone())
            .tempdir_in(base)?;
        let unsealed = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/unsealed.py");
        for (source, name) in [(binary, PROGRAM), (&unsealed, UNSEALED)] {
            let copy = folder.path().join(name);
            fs::copy(source, &copy).with_context(|| source.display().to_string())?;
            fs::set_permissions(&copy, open.clone())?;
        }
        Ok(Self { folder })
    }

    /// The pass of an executor and a user.
    pub(crate) fn pass(&self, executor: &'static str, user: User) -> Result<Pass> {
        self.pass_of(PROGRAM, executor, user)
    }

    /// A pass of the program that seals nothing; never as root.
    pub(crate) fn unsealed_pass(&self) -> Result<Pass> {
        self.pass_of(UNSEALED, EXECUTORS[0], User::Ordinary)
    }

    fn pass_of(&self, program: &str, executor: &'static str, user: User) -> Result<Pass> {
        let folder = self.folder.path().join(format!("{program}-{executor}-{}", user.name()));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        let token = self.folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let pass = Pass {
            executor,
            user,
            token,
            binary: self.folder.path().join(program),
            folder,
            scenes: AtomicUsize::new(0),
        };
        fs::write(pass.config(), config(executor, MAX_ARGUMENT_BYTES))?;
        fs::write(pass.config_with_defaults(), config(executor, ""))?;
        pass.make_folder(&pass.state())?;
        Ok(pass)
    }
}

fn config(executor: &str, limits: &str) -> String {
    format!(
        "[execution]\nenabled = true\nplatform_isolation_acknowledged = true\nallow_stored_scripts = true\n\
         executor = \"{executor}\"\n{limits}\n\
         [interpreters]\npy = \"python\"\nsh = \"sh\"\nbash = \"bash\"\n"
    )
}

fn is_reachable(folder: &Path) -> bool {
    folder.ancestors().all(|folder| fs::metadata(folder).is_ok_and(|found| found.mode() & 0o001 != 0))
}

/// One pass.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) executor: &'static str,
    pub(crate) user: User,
    /// A word that every path of the pass contains.
    pub(crate) token: String,
    binary: PathBuf,
    folder: PathBuf,
    scenes: AtomicUsize,
}

impl Pass {
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.join("config.toml")
    }

    /// A configuration with no limit of its own.
    pub(crate) fn config_with_defaults(&self) -> PathBuf {
        self.folder.join("config-defaults.toml")
    }

    /// A new folder for a scene. Its name is short: the path of a socket has at most 107 bytes.
    pub(crate) fn scene_folder(&self) -> Result<PathBuf> {
        let folder = self.folder.join(self.scenes.fetch_add(1, Ordering::Relaxed).to_string());
        self.make_folder(&folder)?;
        Ok(folder)
    }

    /// A folder of the pass's user that everyone can read.
    pub(crate) fn make_folder(&self, path: &Path) -> Result<()> {
        fs::create_dir(path).with_context(|| path.display().to_string())?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        self.give(path)
    }

    /// A file of the pass's user that everyone can read.
    pub(crate) fn make_file(&self, path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
        fs::write(path, content).with_context(|| path.display().to_string())?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o644))?;
        self.give(path)
    }

    fn give(&self, path: &Path) -> Result<()> {
        if self.drops() {
            std::os::unix::fs::chown(path, Some(UID), Some(UID)).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// Whether the harness is root and the pass's user is not.
    fn drops(&self) -> bool {
        self.user == User::Ordinary && is_root()
    }

    /// The command line that starts a program as the pass's user.
    pub(crate) fn command_line(&self, program: &str) -> Vec<String> {
        let uid = UID.to_string();
        let prefix: &[&str] = match self.drops() {
            true => &["setpriv", "--reuid", &uid, "--regid", &uid, "--clear-groups", "--"],
            false => &[],
        };
        prefix.iter().copied().chain([program]).map(str::to_owned).collect()
    }

    /// The command line of the program under test.
    pub(crate) fn belljar(&self) -> Vec<String> {
        self.command_line(&self.binary.display().to_string())
    }
}

/// Where the program under test is: `BELLJAR_BINARY`, else beside the folder of this executable.
pub(crate) fn find_binary() -> Result<PathBuf> {
    let itself = std::env::current_exe()?;
    let built = itself.ancestors().nth(2).map(|folder| folder.join("belljar"));
    let path = std::env::var_os("BELLJAR_BINARY").map(PathBuf::from).or(built).context("no target folder")?;
    ensure!(
        path.is_file(),
        "the program under test is missing: {}\nbuild it with `cargo build -p belljar` (with --release if the tests \
         have it), or name another with BELLJAR_BINARY",
        path.display()
    );
    Ok(path)
}
