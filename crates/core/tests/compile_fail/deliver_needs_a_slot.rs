use belljar_core::run::{Recorded, World, deliver};
use belljar_executor::Cancel;

async fn short_cut(world: &World, recorded: Recorded, cancel: &Cancel) {
    deliver(world, recorded, cancel).await;
}

fn main() {}
