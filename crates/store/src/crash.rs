//! Named places where a crash test ends the process: after this instruction and before the next, with
//! nothing cleaned up. Without the feature `crash-points` a place compiles to nothing.

#[cfg(all(feature = "crash-points", not(debug_assertions)))]
compile_error!("the feature `crash-points` is for tests; a release must not have it");

/// Ends the process when `BELLJAR_CRASH_AT` is this name, or `name:n` and this is the n-th time.
#[cfg(feature = "crash-points")]
pub fn point(name: &str) {
    use std::sync::atomic::{AtomicU64, Ordering};

    static PASSED: AtomicU64 = AtomicU64::new(0);
    let Ok(wanted) = std::env::var("BELLJAR_CRASH_AT") else { return };
    let (wanted, turn) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    if wanted == name && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == turn.parse().unwrap_or(1) {
        std::process::abort();
    }
}

/// Does nothing: the feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline]
pub const fn point(_name: &str) {}
