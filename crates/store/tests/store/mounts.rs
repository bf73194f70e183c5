//! Faults of the file system, each in a mount namespace of its own, in a process of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use belljar_core::audit::Action;
use belljar_core::ids::OwnerId;
use belljar_core::ports::{Audit, StoreError};
use belljar_store::{OpenError, Store, StoreOptions};
use serde_json::json;

use crate::crashes::{FOLDER, child_folder};
use crate::world::{assert_valid, draft, draft_of, folder, fresh, open, tenant, trail};

/// The kind of namespace in which a user may mount.
const MOUNTS: &[&str] = &["--map-root-user", "--mount"];

/// Runs an ignored test of this binary after a shell command that prepares the folder `$1`.
#[expect(clippy::disallowed_methods, reason = "the fault needs a mount namespace, and so a process, of its own")]
fn in_namespace(kind: &[&str], prepare: &str, test: &str, folder: &Path) {
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(kind).args(["sh", "-c", script, "sh"]).arg(folder);
        command.arg(std::env::current_exe().unwrap()).env(FOLDER, folder);
        command
    };
    let permitted = namespace(prepare).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !permitted {
        println!("SKIPPED {test}: this host does not let this user have a namespace with {kind:?}");
        return;
    }
    let script = format!("{prepare} && exec \"$2\" {test} --exact --ignored --nocapture");
    let output = namespace(&script).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn a_full_disk_refuses_and_a_freed_one_goes_on() {
    let folder = folder();
    in_namespace(MOUNTS, "mount -t tmpfs -o size=2m none \"$1\"", "mounts::child_on_a_small_disk", folder.path());
}

#[tokio::test]
#[ignore = "started by another test as a process of its own"]
async fn child_on_a_small_disk() {
    let folder = child_folder();
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![1; 600_000]).unwrap();
    let store = open(&folder).await;
    let mut kept = Vec::new();
    let refused = loop {
        let facts = json!({"text": "x".repeat(30_000)});
        match store.append(draft_of(&tenant(), Action::AccessDenied, &facts)).await {
            Ok(receipt) => kept.push(receipt.audit_id),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    assert!(refused.to_string().contains("no space is left"), "{refused}");
    assert!(store.append(draft_of(&tenant(), Action::AccessDenied, &json!("y".repeat(60_000)))).await.is_err());
    fs::remove_file(&ballast).unwrap();
    kept.push(store.append(draft(Action::AccessDenied)).await.unwrap().audit_id);
    store.close().await;
    let store = open(&folder).await;
    assert_valid(&store, &tenant()).await;
    let there: Vec<_> = trail(&store, &tenant()).await.into_iter().map(|entry| entry.id).collect();
    assert_eq!(there, kept, "what was acknowledged is there, what was refused is not");
}

#[tokio::test]
async fn a_read_only_folder_is_refused_at_open() {
    let folder = folder();
    open(folder.path()).await.close().await;
    let mount = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
    in_namespace(MOUNTS, mount, "mounts::child_on_a_read_only_disk", folder.path());
}

#[tokio::test]
#[ignore = "started by another test as a process of its own"]
async fn child_on_a_read_only_disk() {
    for folder in [child_folder(), child_folder().join("new")] {
        let error = Store::open_as(StoreOptions::new(&folder), OwnerId::new(&fresh("owner"))).await.unwrap_err();
        assert!(matches!(error, OpenError::ReadOnly(_)), "{error}");
        assert!(error.to_string().contains("read-only"), "{error}");
    }
}

#[tokio::test]
async fn a_folder_that_the_user_may_not_write_is_refused_at_open() {
    let folder = folder();
    open(folder.path()).await.close().await;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    // Root, too, is a plain user there.
    in_namespace(&["--user"], "true", "mounts::child_without_permission", folder.path());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(folder.path().join("belljar.db"), fs::Permissions::from_mode(0o400)).unwrap();
    in_namespace(&["--user"], "true", "mounts::child_without_permission", folder.path());
}

#[tokio::test]
#[ignore = "started by another test as a process of its own"]
async fn child_without_permission() {
    let error = Store::open_as(StoreOptions::new(child_folder()), OwnerId::new(&fresh("owner"))).await.unwrap_err();
    assert!(matches!(error, OpenError::NotPermitted(_)), "{error}");
}
