use belljar_core::run::{Recorded, World, admit};
use belljar_executor::Cancel;

async fn twice(world: &World, recorded: Recorded, cancel: &Cancel) {
    let _ = admit(world, recorded, cancel).await;
    let _ = admit(world, recorded, cancel).await;
}

fn main() {}
