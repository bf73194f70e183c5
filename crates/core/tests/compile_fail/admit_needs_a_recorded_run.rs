use belljar_core::run::{Cleared, World, admit};
use belljar_executor::Cancel;

async fn short_cut(world: &World, cleared: Cleared, cancel: &Cancel) {
    let _ = admit(world, cleared, cancel).await;
}

fn main() {}
