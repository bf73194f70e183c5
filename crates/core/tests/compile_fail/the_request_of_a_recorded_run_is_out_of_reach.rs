use belljar_core::run::Recorded;
use belljar_executor::{Cancel, Executor};

async fn bypass(executor: &dyn Executor, recorded: Recorded) {
    let _ = executor.execute(recorded.request, Cancel::new()).await;
}

fn main() {}
