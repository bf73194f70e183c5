//! The contract that strangers' executors are held to, on the executor that ships.

use std::sync::{Arc, OnceLock};

use belljar_contract::Subject;
use belljar_executors::{Bubblewrap, BubblewrapOptions};

/// One instance serves every clause, as it serves every run.
fn subject() -> Subject {
    static EXECUTOR: OnceLock<Arc<Bubblewrap>> = OnceLock::new();
    let executor = EXECUTOR.get_or_init(|| Arc::new(Bubblewrap::new(BubblewrapOptions::default())));
    Subject::new(executor.clone(), "sh")
}

belljar_contract::contract_tests! { strict, subject() }
