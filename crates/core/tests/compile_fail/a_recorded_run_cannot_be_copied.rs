use belljar_core::run::Recorded;

fn copy(recorded: &Recorded) -> Recorded {
    recorded.clone()
}

fn main() {}
