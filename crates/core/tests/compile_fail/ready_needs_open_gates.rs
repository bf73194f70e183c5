use belljar_core::run::{Resolved, World, ready};

fn short_cut(world: &World, resolved: Resolved) {
    let _ = ready(world, resolved);
}

fn main() {}
