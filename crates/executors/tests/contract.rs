//! The contract that strangers' executors are held to, on the executors that ship.

use std::sync::{Arc, OnceLock};

use belljar_contract::Subject;
use belljar_executors::{Bubblewrap, BubblewrapOptions, Local, LocalOptions};

/// One instance serves every clause, as it serves every run.
fn on_bubblewrap() -> Subject {
    static EXECUTOR: OnceLock<Arc<Bubblewrap>> = OnceLock::new();
    let executor = EXECUTOR.get_or_init(|| Arc::new(Bubblewrap::new(BubblewrapOptions::default())));
    Subject::new(executor.clone(), "sh")
}

/// It isolates nothing, and declines nothing.
fn on_local() -> Subject {
    static EXECUTOR: OnceLock<Arc<Local>> = OnceLock::new();
    let executor = EXECUTOR.get_or_init(|| Arc::new(Local::new(LocalOptions::default())));
    Subject::new(executor.clone(), "sh")
}

mod bubblewrap {
    belljar_contract::contract_tests! { strict, super::on_bubblewrap() }
}

mod local {
    belljar_contract::contract_tests! { strict, super::on_local() }
}
