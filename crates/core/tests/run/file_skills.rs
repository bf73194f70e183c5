//! Skills that are not in the store: folders under a root, and those that the program registers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use belljar_core::Belljar;
use belljar_core::audit::Action;
use belljar_core::caller::{Caller, Scope};
use belljar_core::code::Code;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::options::OptionsDraft;
use belljar_core::run::{Call, SkillSelector};
use belljar_core::service::{GrantRequest, ListedSkill, Revocation};
use belljar_core::skill::{SkillFolder, Strictness, from_files};
use belljar_executor::{Digest, ExecutionRequest, Origin, SkillName};
use tempfile::TempDir;

use crate::support::{Scripted, TestWorld, call, caller, options, outcome, ports, tenant};

/// A root with the skill `demo`.
struct Root(TempDir);

impl Root {
    fn new() -> Self {
        let root = Self(TempDir::new().unwrap());
        root.write("demo/SKILL.md", "---\nname: demo\ndescription: In a folder.\n---\n");
        root.write("demo/scripts/a.sh", "echo hello");
        root
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }
}

fn with_root(root: &Root, pinned: bool) -> OptionsDraft {
    let skill_roots = vec![root.0.path().to_owned()];
    OptionsDraft { skill_roots, pin_file_scripts: pinned, allow_stored_scripts: false, ..options() }
}

fn demo() -> SkillSelector {
    SkillSelector::Slug(SkillName::parse("demo").unwrap())
}

async fn grant(belljar: &Belljar, caller: &Caller) {
    let pins = belljar.pins(caller, &demo(), None).await.unwrap();
    let expected_pin = pins.scripts.values().next().unwrap().pin;
    let target = "scripts/a.sh".to_owned();
    let request =
        GrantRequest { skill: demo(), revision: None, target, expected_pin, expires_at: None, replace: false };
    belljar.grant(caller, request).await.unwrap();
}

/// An executor that keeps the last request.
fn keeping() -> (Scripted, Arc<Mutex<Option<ExecutionRequest>>>) {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let executor = Scripted::new(move |request, _| {
        *keep.lock().unwrap() = Some(request);
        async { Ok(outcome(0)) }
    });
    (executor, kept)
}

#[tokio::test]
async fn a_file_script_needs_a_grant_and_runs_from_memory_under_its_path() {
    let root = Root::new();
    let (executor, kept) = keeping();
    let world = TestWorld::with(executor, with_root(&root, true)).await;
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert_eq!(refusal.reason(), Some("grant_missing"));
    grant(&world.belljar, &caller()).await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    assert_eq!((answer.record.skill_id, answer.record.revision_id), (None, None));
    assert_eq!(answer.record.origin, Origin::File);
    let request = kept.lock().unwrap().take().unwrap();
    let parts = request.parts();
    assert_eq!((parts.origin, parts.script_name.as_str()), (Origin::File, "scripts/a.sh"));
    assert_eq!(parts.source_path.as_deref(), Some(&*root.path("demo/scripts/a.sh")));
    assert_eq!(&*parts.content, "echo hello");
    let run = &world.entries_of(Action::ScriptRun).await[0];
    let facts = run.facts();
    assert_eq!((&facts["origin"], &facts["skill_id"]), (&"file".into(), &serde_json::Value::Null));
    assert_eq!(facts["pin"], answer.record.pin.to_string());
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn the_envelope_has_neither_skill_id_nor_revision_id() {
    let root = Root::new();
    let world = TestWorld::with(Scripted::exits(0), with_root(&root, true)).await;
    grant(&world.belljar, &caller()).await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    let envelope = belljar_core::envelope::execution(&answer);
    let data = envelope["data"].as_object().unwrap();
    assert!(!data.contains_key("skill_id") && !data.contains_key("revision_id") && data.contains_key("receipt"));
    let kept = world.belljar.execution(&caller(), &answer.record.execution_id).await.unwrap();
    assert_eq!(kept, answer.record);
}

#[tokio::test]
async fn pinned_one_byte_in_any_file_closes_the_gate_and_unpinned_it_does_not() {
    for pinned in [true, false] {
        let root = Root::new();
        let world = TestWorld::with(Scripted::exits(0), with_root(&root, pinned)).await;
        grant(&world.belljar, &caller()).await;
        root.write("demo/data.txt", "x");
        let answer = world.belljar.execute(&caller(), call()).await;
        let reason = answer.as_ref().err().and_then(|refusal| refusal.reason());
        assert_eq!(reason, pinned.then_some("content_changed"));
    }
}

#[tokio::test]
async fn unpinned_a_grant_is_still_needed_and_a_revoked_one_does_not_count() {
    let root = Root::new();
    let world = TestWorld::with(Scripted::exits(0), with_root(&root, false)).await;
    assert_eq!(world.belljar.execute(&caller(), call()).await.unwrap_err().reason(), Some("grant_missing"));
    grant(&world.belljar, &caller()).await;
    world.belljar.execute(&caller(), call()).await.unwrap();
    // It can be revoked by name though the folder is gone.
    fs::remove_dir_all(root.path("demo")).unwrap();
    world.belljar.revoke(&caller(), Revocation::Target(demo(), None)).await.unwrap();
    root.write("demo/SKILL.md", "---\nname: demo\ndescription: Again.\n---\n");
    root.write("demo/scripts/a.sh", "echo hello");
    assert_eq!(world.belljar.execute(&caller(), call()).await.unwrap_err().reason(), Some("grant_missing"));
}

/// A file that changes between the check and the run: here, while the run is being recorded.
#[tokio::test]
async fn a_file_that_changes_after_the_check_does_not_change_what_runs() {
    let root = Root::new();
    let changed = root.path("demo/scripts/a.sh");
    let (executor, kept) = keeping();
    let world = TestWorld::with(executor, with_root(&root, true)).await;
    grant(&world.belljar, &caller()).await;
    let TestWorld { executor, clock, ports, folder, .. } = world;
    let ports = crate::faults::with_harm_when_opened(ports, move || fs::write(&changed, "echo evil").unwrap());
    let world = TestWorld::over(executor, with_root(&root, true), ports, clock, folder).await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    assert_eq!(fs::read_to_string(root.path("demo/scripts/a.sh")).unwrap(), "echo evil");
    let request = kept.lock().unwrap().take().unwrap();
    assert_eq!(&*request.parts().content, "echo hello");
    assert_eq!(request.content_sha256(), Digest::of(b"echo hello"));
    let path = belljar_executor::LogicalPath::parse("scripts/a.sh").unwrap();
    assert_eq!(request.parts().files.get(&path).map(|bytes| &**bytes), Some(&b"echo hello"[..]));
    assert_eq!(world.entries_of(Action::ScriptRun).await[0].facts()["pin"], answer.record.pin.to_string());
    assert_eq!(world.belljar.execute(&caller(), call()).await.unwrap_err().reason(), Some("content_changed"));
}

#[tokio::test]
async fn a_revision_is_not_found_and_an_id_is_out_of_scope() {
    let root = Root::new();
    let world = TestWorld::with(Scripted::exits(0), with_root(&root, true)).await;
    let with_revision = Call { revision: Some(RevisionId::new("1")), ..call() };
    assert_eq!(world.belljar.execute(&caller(), with_revision).await.unwrap_err().code(), Code::RevisionNotFound);
    let by_key = Call { skill: SkillSelector::Id(SkillId::new("file:demo")), ..call() };
    assert_eq!(world.belljar.execute(&caller(), by_key).await.unwrap_err().code(), Code::AccessDenied);
}

#[tokio::test]
async fn of_one_name_the_stored_skill_runs() {
    let root = Root::new();
    let draft = OptionsDraft { allow_stored_scripts: true, ..with_root(&root, true) };
    let (executor, kept) = keeping();
    let world = TestWorld::with(executor, draft).await;
    grant(&world.belljar, &caller()).await;
    let saved = world.save(&[("scripts/a.sh", "echo stored")]).await;
    // The grant of the folder is not one of the stored skill.
    assert_eq!(world.belljar.execute(&caller(), call()).await.unwrap_err().reason(), Some("grant_missing"));
    world.grant(&saved, "scripts/a.sh").await;
    world.belljar.execute(&caller(), call()).await.unwrap();
    assert_eq!(&*kept.lock().unwrap().take().unwrap().parts().content, "echo stored");
    let listed = world.belljar.skills(&caller()).await.unwrap();
    assert!(matches!(&listed[..], [ListedSkill::Stored(_)]), "{listed:?}");
}

#[tokio::test]
async fn folders_that_are_no_usable_skill_are_told_and_not_listed() {
    let root = Root::new();
    let skill = |name: &str| format!("---\nname: {name}\ndescription: D.\n---\n");
    root.write("group/other/SKILL.md", &skill("other"));
    root.write("group/demo/SKILL.md", &skill("demo"));
    root.write("misnamed/SKILL.md", &skill("another"));
    root.write("broken/SKILL.md", "no front matter");
    root.write("group/deep/below/SKILL.md", &skill("below"));
    root.write(".hidden/SKILL.md", &skill("hidden"));
    let world = TestWorld::with(Scripted::exits(0), with_root(&root, true)).await;
    let names: Vec<_> =
        world.belljar.skills(&caller()).await.unwrap().iter().map(|skill| skill.slug().to_string()).collect();
    assert_eq!(names, ["demo", "other"]);
    let (_, problems) = world.belljar.file_skills(&caller()).await.unwrap();
    let told: Vec<_> = problems.iter().map(|problem| problem.folder.strip_prefix(root.0.path()).unwrap()).collect();
    assert_eq!(told, ["broken", "misnamed", "group/demo"].map(Path::new));
    let broken = Call { skill: SkillSelector::Slug(SkillName::parse("broken").unwrap()), ..call() };
    let refusal = world.belljar.execute(&caller(), broken.clone()).await.unwrap_err();
    assert_eq!(refusal.code(), Code::SkillNotFound);
    assert!(refusal.details().contains_key("problem"), "{refusal:?}");
    let agent = Caller::authenticated(tenant(), "agent", [], [Scope::MemoryRead, Scope::MemoryWrite]);
    let refusal = world.belljar.execute(&agent, broken).await.unwrap_err();
    assert!(refusal.code() == Code::SkillNotFound && !refusal.details().contains_key("problem"), "{refusal:?}");
}

/// What is listed is what runs: a folder inside another skill is neither, and a broken one keeps its name.
#[tokio::test]
async fn a_folder_inside_a_skill_is_no_skill_and_a_broken_one_hides_the_next_of_its_name() {
    let root = Root::new();
    let skill = |name: &str| format!("---\nname: {name}\ndescription: D.\n---\n");
    root.write("group/beta/SKILL.md", &skill("beta"));
    root.write("group/beta/scripts/a.sh", "echo beta");
    let (executor, kept) = keeping();
    let world = TestWorld::with(executor, with_root(&root, false)).await;
    let beta = Call { skill: SkillSelector::Slug(SkillName::parse("beta").unwrap()), ..call() };
    let pins = world.belljar.pins(&caller(), &beta.skill, None).await.unwrap();
    let pin = pins.scripts.values().next().unwrap().pin;
    world.belljar.grant(&caller(), GrantRequest::new(beta.skill.clone(), "scripts/a.sh", pin)).await.unwrap();
    // Whoever writes the skill `demo` cannot take over the grant of `beta`.
    root.write("demo/beta/SKILL.md", &skill("beta"));
    root.write("demo/beta/scripts/a.sh", "echo evil");
    world.belljar.execute(&caller(), beta.clone()).await.unwrap();
    assert_eq!(&*kept.lock().unwrap().take().unwrap().parts().content, "echo beta");
    root.write("beta/SKILL.md", "no front matter");
    assert_eq!(world.belljar.execute(&caller(), beta).await.unwrap_err().code(), Code::SkillNotFound);
    let names: Vec<_> =
        world.belljar.skills(&caller()).await.unwrap().iter().map(|skill| skill.slug().to_string()).collect();
    assert_eq!(names, ["demo"]);
}

#[tokio::test]
async fn a_link_to_a_folder_above_and_a_root_that_is_a_skill_are_told_once() {
    let root = Root::new();
    std::os::unix::fs::symlink(".", root.path("loop")).unwrap();
    root.write("SKILL.md", "---\nname: root\ndescription: D.\n---\n");
    let world = TestWorld::with(Scripted::exits(0), with_root(&root, true)).await;
    let (skills, problems) = world.belljar.file_skills(&caller()).await.unwrap();
    assert_eq!(skills.len(), 1);
    let told: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert!(matches!(told[..], [first, ..] if first.contains("is a skill itself")), "{told:?}");
    let agent = Caller::authenticated(tenant(), "agent", [], [Scope::MemoryRead, Scope::MemoryWrite]);
    assert_eq!(world.belljar.file_skills(&agent).await.unwrap_err().code(), Code::AccessDenied);
}

#[tokio::test]
async fn a_root_that_cannot_be_read_refuses_the_start_and_later_the_call() {
    let folder = TempDir::new().unwrap();
    let (ports, _) = ports(folder.path()).await;
    let builder = |root: &str| Belljar::builder().options(options()).ports(ports.clone()).skill_root(root);
    for root in ["relative", "/does/not/exist"] {
        let error = builder(root).executor(Scripted::exits(0)).build().await.unwrap_err().to_string();
        assert!(error.contains("skills.roots") && error.contains(root), "{error}");
    }
    let root = Root::new();
    let world = TestWorld::with(Scripted::exits(0), with_root(&root, true)).await;
    drop(root);
    assert_eq!(world.belljar.execute(&caller(), call()).await.unwrap_err().code(), Code::StoreUnavailable);
}

fn registered(content: &str) -> SkillFolder {
    let index: &[u8] = b"---\nname: demo\ndescription: Registered.\n---\n";
    from_files([("SKILL.md", index), ("scripts/a.sh", content.as_bytes())], Strictness::Strict).unwrap()
}

#[tokio::test]
async fn a_registered_skill_is_stored_for_the_gates_and_comes_before_all_others() {
    let root = Root::new();
    let folder = TempDir::new().unwrap();
    let (ports, _) = ports(folder.path()).await;
    let (executor, kept) = keeping();
    let builder = |draft| Belljar::builder().options(draft).ports(ports.clone()).executor(executor.clone());
    let draft = OptionsDraft { allow_stored_scripts: true, ..with_root(&root, true) };
    let belljar = builder(draft.clone()).register_skill(registered("echo registered")).build().await.unwrap();
    grant(&belljar, &caller()).await;
    let answer = belljar.execute(&caller(), call()).await.unwrap();
    assert_eq!((answer.record.origin, answer.record.skill_id), (Origin::Stored, None));
    let request = kept.lock().unwrap().take().unwrap();
    assert_eq!((&*request.parts().content, request.parts().script_name.as_str()), ("echo registered", "a.sh"));
    assert_eq!(request.parts().source_path, None);
    let listed = belljar.skills(&caller()).await.unwrap();
    assert!(matches!(&listed[..], [ListedSkill::Registered { .. }]), "{listed:?}");
    // Another version of the program: the old grant does not open it.
    let belljar = builder(draft).register_skill(registered("echo changed")).build().await.unwrap();
    assert_eq!(belljar.execute(&caller(), call()).await.unwrap_err().reason(), Some("content_changed"));
    let off = OptionsDraft { allow_stored_scripts: false, ..options() };
    let belljar = builder(off).register_skill(registered("echo registered")).build().await.unwrap();
    assert_eq!(belljar.execute(&caller(), call()).await.unwrap_err().reason(), Some("stored_scripts_disabled"));
    let twice = builder(options()).register_skill(registered("echo a")).register_skill(registered("echo b"));
    let error = twice.build().await.unwrap_err().to_string();
    assert!(error.contains("two registered skills have the name demo"), "{error}");
}

#[tokio::test]
async fn between_tenants_a_file_script_is_granted_without_platform_authority() {
    let root = Root::new();
    let draft = OptionsDraft { multi_tenant: true, ..with_root(&root, true) };
    let world = TestWorld::with(Scripted::exits(0), draft).await;
    let operator = Caller::authenticated(tenant(), "op", [], [Scope::MemoryWrite, Scope::SkillsGrant]);
    grant(&world.belljar, &operator).await;
    world.belljar.execute(&operator, call()).await.unwrap();
}
