use belljar_core::run::{Recorded, World, keep};

async fn short_cut(world: &World, recorded: Recorded) {
    let _ = keep(world, recorded).await;
}

fn main() {}
