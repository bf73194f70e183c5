//! What a script gets of the service, and what it does not.

use std::collections::BTreeMap;

use belljar_executor::{Cancel, ErrorKind, Executor};

use crate::itself_under;
use crate::support::{bash, executor, python, script};

fn variables(text: &str) -> BTreeMap<&str, &str> {
    let shells_own = ["PWD", "OLDPWD", "_", "SHLVL", "LC_CTYPE"];
    text.lines().filter_map(|line| line.split_once('=')).filter(|(name, _)| !shells_own.contains(name)).collect()
}

#[tokio::test]
async fn the_environment_is_the_documented_one_and_nothing_of_the_service() {
    let text = script("sh", "env").output().await;
    let found = variables(&text);
    let root = found["BELLJAR_WORKSPACE"].strip_suffix("/workspace").unwrap();
    let (skill, temp) = (format!("{root}/skill"), format!("{root}/tmp"));
    let (workspace, path) = (format!("{root}/workspace"), format!("{root}/runtime/bin:/usr/local/bin:/usr/bin:/bin"));
    let expected = BTreeMap::from([
        ("BELLJAR_SKILL_DIR", skill.as_str()),
        ("BELLJAR_WORKSPACE", &workspace),
        ("HOME", &temp),
        ("LANG", "C.UTF-8"),
        ("PATH", &path),
        ("TRACON_SKILL_NAME", "demo"),
        ("TRACON_SKILL_TEMP", &temp),
    ]);
    assert_eq!(found, expected);
    let text = python("import os\nfor k, v in os.environ.items(): print(f'{k}={v}')").output().await;
    let found = variables(&text);
    assert_eq!(found["PYTHONPATH"], found["BELLJAR_SKILL_DIR"]);
    assert_eq!((found["PYTHONDONTWRITEBYTECODE"], found.len()), ("1", 9));
}

#[tokio::test]
async fn python_is_beside_python3() {
    assert_eq!(bash("python -c 'print(1)'").output().await, "1\n");
}

/// Also when the service was started with standard input closed, or holds descriptors that every program
/// it starts inherits.
#[tokio::test]
async fn it_holds_its_three_streams_and_nothing_else() {
    const NAME: &str = "surroundings::it_holds_its_three_streams_and_nothing_else";

    let inherited = rustix::io::dup(std::fs::File::open("/dev/null").unwrap()).unwrap();
    let text = bash("ls /proc/$$/fd; readlink /proc/$$/fd/0").input("{}").output().await;
    drop(inherited);
    let (numbers, input) = text.trim().rsplit_once('\n').unwrap();
    // The shell keeps the script itself open under a number that no script uses.
    assert_eq!(numbers.replace("\n255", ""), "0\n1\n2");
    assert!(input.starts_with("pipe:"), "{input}");
    if std::env::var_os("BELLJAR_TEST_CLOSED").is_none() {
        let mut closed = itself_under(&["sh", "-c", "exec \"$@\" <&- >/dev/null 2>&1", "sh"], NAME);
        let status = tokio::task::spawn_blocking(move || closed.env("BELLJAR_TEST_CLOSED", "1").status());
        assert!(status.await.unwrap().unwrap().success());
    }
}

#[tokio::test]
async fn an_interpreter_is_a_runtime_or_a_path_and_an_unknown_one_is_a_fault() {
    for name in executor().probe().await.unwrap().runtimes.unwrap().keys() {
        if name.as_str().starts_with("python") {
            assert_eq!(script(name.as_str(), "print(1)").output().await, "1\n", "{name}");
        }
    }
    assert_eq!(script("/usr/bin/python3", "print(2)").output().await, "2\n");
    for unknown in ["cobol", "/usr/bin/no-such-program", "/etc/passwd", "/usr/bin"] {
        let error = script(unknown, "").execute(Cancel::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FAULT, "{unknown}");
    }
}

/// What a service is like that was started in an odd way: it has to say so, before a script is run.
async fn says_so(test: &'static str, starter: &[&str], cause: &str) {
    if let Some(cause) = std::env::var_os("BELLJAR_TEST_ODD") {
        let folder = tempfile::tempdir().unwrap();
        let refused = crate::executor_in(folder.path()).probe().await.unwrap_err();
        assert!(refused.message.contains(cause.to_str().unwrap()), "{refused:?}");
        assert_eq!(crate::runs_in(folder.path()), 0);
        return;
    }
    let mut odd = itself_under(starter, test);
    odd.env("BELLJAR_TEST_ODD", cause);
    let status = tokio::task::spawn_blocking(move || odd.status());
    assert!(status.await.unwrap().unwrap().success());
}

/// There the numbers in `/proc` are those of other processes than signals reach.
#[tokio::test]
async fn a_process_namespace_without_its_own_process_file_system_is_refused() {
    const NAME: &str = "surroundings::a_process_namespace_without_its_own_process_file_system_is_refused";
    says_so(NAME, &["unshare", "--user", "--pid", "--fork"], "another namespace").await;
}

#[tokio::test]
async fn a_service_that_is_not_told_of_the_ends_of_its_children_is_refused() {
    const NAME: &str = "surroundings::a_service_that_is_not_told_of_the_ends_of_its_children_is_refused";
    says_so(NAME, &["env", "--ignore-signal=CHLD"], "SIGCHLD is ignored").await;
}
