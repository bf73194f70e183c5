//! What keeps a service from starting is told all at once.

use std::collections::BTreeMap;

use belljar_core::options::OptionsDraft;
use belljar_core::{Belljar, Builder};
use belljar_executor::{Control, Finding, Minimum, Report, Requirement, RuntimeName};
use tempfile::TempDir;

use crate::support::TestWorld;
use crate::support::{Scripted, call, caller, options, ports};

#[tokio::test]
async fn all_faults_are_reported_together() {
    let draft = OptionsDraft {
        enabled: true,
        interpreters: BTreeMap::from([("PY".into(), "python".into()), ("sh".into(), " ".into())]),
        timeout_default_seconds: 0,
        timeout_max_seconds: u64::MAX,
        slot_wait_seconds: 86_401,
        max_output_bytes: 0,
        max_concurrent_per_tenant: 9,
        runtime_limits: BTreeMap::from([("py".into(), "huge".into())]),
        ..OptionsDraft::default()
    };
    let error = Belljar::builder().options(draft).build().await.unwrap_err().to_string();
    for part in [
        "platform_isolation_acknowledged",
        "interpreters.PY",
        "interpreters.sh",
        "timeout.default",
        "timeout.max (18446744073709551615 s) must not be above 86400 s",
        "slot_wait_seconds (86401 s)",
        "max_output_bytes",
        "max_concurrent_per_tenant (9)",
        "huge",
        "no executor",
        "no store",
    ] {
        assert!(error.contains(part), "{part} is missing in {error}");
    }
}

#[tokio::test]
async fn nothing_is_checked_while_execution_is_off() {
    let folder = TempDir::new().unwrap();
    let (ports, _) = ports(folder.path()).await;
    let draft = OptionsDraft {
        timeout_default_seconds: 0,
        interpreters: BTreeMap::from([("PY".into(), String::new())]),
        limits_classes: BTreeMap::from([("x".into(), belljar_executor::Limits { tasks: 0, ..Default::default() })]),
        runtime_limits: BTreeMap::from([("py".into(), "huge".into())]),
        ..OptionsDraft::default()
    };
    Belljar::builder().options(draft).ports(ports).build().await.unwrap();
}

#[tokio::test]
async fn the_users_executor_wins_in_any_order_and_two_are_a_fault() {
    let folder = TempDir::new().unwrap();
    let (ports, _) = ports(folder.path()).await;
    let builder = || Belljar::builder().options(options()).ports(ports.clone());
    let (own, default) = (Scripted::exits(7), Scripted::exits(0));
    let step = |builder: Builder, step| match step {
        Step::Own => builder.executor(own.clone()),
        Step::Default => builder.default_executor(default.clone()),
        Step::Require => builder.require_custom_executor(),
    };
    for order in ORDERS {
        order.into_iter().fold(builder(), step).build().await.unwrap_or_else(|error| panic!("{order:?}: {error}"));
        // The same without the user's own: the requirement is broken, in whatever order it was said.
        let without = order.into_iter().filter(|step| *step != Step::Own).fold(builder(), step);
        let error = without.build().await.unwrap_err().to_string();
        for part in ["the seam `Executor`", "the default `scripted`", "`.executor(…)`"] {
            assert!(error.contains(part), "{order:?}: {part} is missing in {error}");
        }
        let twice = order.into_iter().fold(builder(), step).executor(own.clone()).build().await;
        assert!(twice.unwrap_err().to_string().contains("two executors"), "{order:?}");
    }
    let none = builder().require_custom_executor().build().await.unwrap_err().to_string();
    assert!(none.contains("no executor"), "{none}");
}

/// A step of a composition that says something of the executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Own,
    Default,
    Require,
}

/// Every order of the three.
const ORDERS: [[Step; 3]; 6] = [
    [Step::Own, Step::Default, Step::Require],
    [Step::Own, Step::Require, Step::Default],
    [Step::Default, Step::Own, Step::Require],
    [Step::Default, Step::Require, Step::Own],
    [Step::Require, Step::Own, Step::Default],
    [Step::Require, Step::Default, Step::Own],
];

#[tokio::test]
async fn in_any_order_it_is_the_users_executor_that_runs() {
    for own_first in [true, false] {
        let folder = TempDir::new().unwrap();
        let (ports, clock) = ports(folder.path()).await;
        let (own, default) = (Scripted::exits(7), Scripted::exits(0));
        let builder = Belljar::builder().options(options()).ports(ports.clone());
        let builder = if own_first {
            builder.executor(own.clone()).default_executor(default.clone())
        } else {
            builder.default_executor(default.clone()).executor(own.clone())
        };
        let belljar = builder.build().await.unwrap();
        let world = TestWorld { belljar, executor: own, clock, ports, folder };
        world.ready().await;
        let answer = world.belljar.execute(&caller(), call()).await.unwrap();
        assert_eq!((answer.record.exit_code, default.calls()), (Some(7), 0));
    }
}

#[tokio::test]
async fn a_runtime_that_the_executor_does_not_know_is_a_fault() {
    let folder = TempDir::new().unwrap();
    let (ports, _) = ports(folder.path()).await;
    let knows_sh = || {
        let runtimes = BTreeMap::from([(RuntimeName::parse("sh").unwrap(), "/usr/bin/sh".to_owned())]);
        Ok(Report { runtimes: Some(runtimes), ..Report::unknown() })
    };
    let draft = OptionsDraft { max_output_bytes: 0, ..options() };
    let builder = Belljar::builder().options(draft).ports(ports).executor(Scripted::exits(0).probing(knows_sh));
    let error = builder.build().await.unwrap_err().to_string();
    assert!(error.contains("interpreters.py") && error.contains("it knows sh"), "{error}");
    assert!(error.contains("max_output_bytes"), "all faults come together: {error}");
}

#[tokio::test]
async fn less_isolation_than_required_is_no_sandbox() {
    let weak = || {
        let mut report = Report::unknown();
        report.controls = Control::ALL.iter().map(|control| (*control, Finding::enforced("by test"))).collect();
        let weaker = Finding::weaker("per process").with_remedy("sudo something");
        report.controls.insert(Control::Memory, weaker);
        Ok(report)
    };
    let world = TestWorld::new(Scripted::exits(0).probing(weak)).await;
    world.ready().await;
    world.belljar.execute(&caller(), call()).await.unwrap();
    let require = Requirement::with(&BTreeMap::from([(Control::Memory, Minimum::Enforced)]));
    let world = world.reopened(OptionsDraft { require, ..options() }).await;
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert_eq!(refusal.code().as_str(), "SANDBOX_UNAVAILABLE");
    assert_eq!(refusal.details()["control"], "memory");
    assert!(refusal.message().contains("per process") && refusal.message().contains("sudo something"), "{refusal}");
    assert_eq!(world.executor.calls(), 1);
}
