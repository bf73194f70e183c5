//! Giving up every right, for pid 1 and, by inheritance, for the job.

use belljar_init::status::Stage;
use rustix::process::{DumpableBehavior, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::channel::{At, Failure};

/// Drops all five capability sets and closes this process to others. Nothing can be regained.
pub(crate) fn give_up() -> Result<(), Failure> {
    rustix::thread::clear_ambient_capability_set().at(Stage::Capabilities)?;
    drop_bounding_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).at(Stage::Capabilities)?;
    rustix::thread::set_no_new_privs(true).at(Stage::NoNewPrivileges)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Stage::Dumpable)?;
    arm_parent_death()
}

/// Every change of credentials clears the parent-death signal, so this comes after the last one, and is
/// read back. (Pid 1's parent is outside and has no number here: that it still lives is seen on the status
/// channel, which the service alone holds open.)
pub(crate) fn arm_parent_death() -> Result<(), Failure> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(Stage::ParentDeath)?;
    match rustix::process::parent_process_death_signal().at(Stage::ParentDeath)? {
        Some(Signal::KILL) => Ok(()),
        _ => Err(Failure { stage: Stage::ParentDeath, errno: libc::EPERM }),
    }
}

fn drop_bounding_set() -> Result<(), Failure> {
    // By number, up to the first that the kernel does not know: a newer kernel has more than a list here.
    for number in 0..64 {
        // A set with one bit is how a single capability is named.
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::capability_is_in_bounding_set(capability) {
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(error).at(Stage::Capabilities),
            Ok(true) => rustix::thread::remove_capability_from_bounding_set(capability).at(Stage::Capabilities)?,
            Ok(false) => {}
        }
    }
    Ok(())
}
