//! The folder of a run on the host.

use std::os::unix::fs::PermissionsExt;

use belljar_executor::{Cancel, Ending, ErrorKind, ExecutionRequest, Executor, WorkingDirectory};

use crate::support::{bash, python, script, wait_until};
use crate::{executor_in, itself_under, runs_in, skip};

const EXITED_0: Ending = Ending::Exited { code: 0, signal: None };

#[tokio::test]
async fn whatever_a_script_makes_of_it_it_is_removed_and_links_are_not_followed() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("kept"), "").unwrap();
    let content = format!(
        "mkdir -p $HOME/a/b/c && touch $HOME/a/b/c/file && chmod 000 $HOME/a/b/c $HOME/a/b $HOME/a\n\
         ln -s {0} link; ln -s {0}/kept link-to-file; mkfifo pipe; mkdir -p x/y; chmod 500 x; touch ./-f\n\
         rm -rf $BELLJAR_SKILL_DIR; chmod 000 $BELLJAR_WORKSPACE ${{BELLJAR_WORKSPACE%/*}}",
        outside.path().display()
    );
    let request = ExecutionRequest::new(bash(&content).0);
    let outcome = executor_in(folder.path()).execute(request, Cancel::new()).await.unwrap();
    assert_eq!((outcome.ending(), outcome.stderr().text.as_str()), (EXITED_0, ""));
    assert_eq!(runs_in(folder.path()), 0);
    assert!(outside.path().join("kept").exists());
}

#[tokio::test]
async fn a_tree_deeper_than_any_path_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let content = "import os\nfor _ in range(1500):\n    os.mkdir('deep'); os.chdir('deep')\nopen('file', 'w').close()";
    let request = ExecutionRequest::new(python(content).0);
    let outcome = executor_in(folder.path()).execute(request, Cancel::new()).await.unwrap();
    assert_eq!(outcome.ending(), EXITED_0, "{outcome:?}");
    // On a slow disk it may take longer than an answer waits for it.
    wait_until("the folder is gone", || runs_in(folder.path()) == 0).await;
}

/// A script of root's may mount half the host in its folder. What is mounted there is not the run's.
#[tokio::test]
async fn a_mount_in_it_is_not_emptied() {
    const NAME: &str = "folders::a_mount_in_it_is_not_emptied";
    const OWN_MOUNTS: [&str; 2] = ["unshare", "--mount"];

    if let Some(outside) = std::env::var_os("BELLJAR_TEST_OUTSIDE") {
        let folder = tempfile::tempdir_in(&outside).unwrap();
        let content =
            format!("mkdir -p a/b; for m in a/b $HOME; do mount --bind {}/host $m; done; ls $HOME", outside.display());
        let request = ExecutionRequest::new(bash(&content).0);
        let outcome = executor_in(folder.path()).execute(request, Cancel::new()).await.unwrap();
        assert_eq!((outcome.ending(), outcome.stdout().text.as_str()), (EXITED_0, "kept\n"), "{outcome:?}");
        // The folder stays, because it cannot go, and nothing else of the run does.
        let mounted = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(mounted.contains("belljar-run-"), "{mounted}");
        assert_eq!(runs_in(folder.path()), 1);
        std::mem::forget(folder);
        return;
    }
    let mut allowed = itself_under(&OWN_MOUNTS, "no test has this name");
    if !allowed.output().is_ok_and(|answer| answer.status.success()) {
        return skip("this user can make no mount namespace");
    }
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("host")).unwrap();
    std::fs::write(outside.path().join("host/kept"), "").unwrap();
    let mut mounting = itself_under(&OWN_MOUNTS, NAME);
    mounting.env("BELLJAR_TEST_OUTSIDE", outside.path());
    let answer = tokio::task::spawn_blocking(move || mounting.output()).await.unwrap().unwrap();
    assert!(answer.status.success(), "{answer:?}");
    assert!(outside.path().join("host/kept").exists());
}

#[tokio::test]
async fn it_is_for_its_owner_alone_and_apart_from_every_other() {
    let text = bash("stat -c %a $BELLJAR_WORKSPACE/..; ls -A $BELLJAR_WORKSPACE $HOME | grep -v ^/; pwd -P").output();
    let (one, other) = tokio::join!(text, bash("pwd -P").output());
    let (mode, place) = one.trim().split_once('\n').unwrap();
    assert_eq!(mode, "700");
    assert_ne!(place.trim(), other.trim());
}

#[tokio::test]
async fn the_whole_revision_is_there_and_the_script_runs_by_path() {
    let text = bash(
        "cd $BELLJAR_SKILL_DIR; cat assets/a.txt; bin/tool; test -x assets/a.txt || echo plain; echo ${0#$PWD/} $@",
    )
    .file("assets/a.txt", b"text\n")
    .file("bin/tool", b"#!/bin/sh\necho tool\n");
    let mut text = text;
    text.0.argv = vec!["--a".into(), "b c".into()];
    assert_eq!(text.output().await, "text\ntool\nplain\nscripts/main.sh --a b c\n");
}

#[tokio::test]
async fn it_starts_in_the_folder_asked_for() {
    let mut wanted = script("sh", "pwd -P");
    for (cwd, end) in [
        (WorkingDirectory::Workspace, "/workspace\n"),
        (WorkingDirectory::Skill, "/skill\n"),
        (WorkingDirectory::Script, "/skill/scripts\n"),
    ] {
        wanted.0.cwd = cwd;
        let found = wanted.clone().output().await;
        assert!(found.ends_with(end), "{found}");
    }
}

#[tokio::test]
async fn content_that_is_not_that_of_its_file_does_not_run() {
    let mut differing = bash("echo approved");
    differing.0.content = "echo something else".into();
    let error = differing.execute(Cancel::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FAULT);
}

/// What a service that was killed left goes when a later one starts; what a living one holds stays.
#[tokio::test]
async fn the_folders_of_dead_services_are_removed_and_those_of_living_ones_stay() {
    let parent = tempfile::tempdir().unwrap();
    let made = |name: &str| {
        let folder = parent.path().join(name);
        std::fs::create_dir_all(folder.join("skill/closed")).unwrap();
        std::fs::set_permissions(folder.join("skill/closed"), std::fs::Permissions::from_mode(0o000)).unwrap();
        let held = std::fs::File::open(&folder).unwrap();
        held.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        (folder, held)
    };
    let (dead, _not_locked) = made("belljar-run-dead");
    let (living, held) = made("belljar-run-living");
    held.lock().unwrap();
    let (other, _) = made("something-else");
    let young = parent.path().join("belljar-run-young");
    std::fs::create_dir(&young).unwrap();
    executor_in(parent.path()).probe().await.unwrap();
    assert_eq!([&dead, &living, &other, &young].map(|folder| folder.exists()), [false, true, true, true]);
}
