//! The records on the status channel. Fixed size, one per datagram, never text: a script cannot write
//! there, and nothing that it prints can look like one.

/// How many bytes each record has.
pub const RECORD_BYTES: usize = 40;

/// The one byte that the service sends: end the run now, and say what it used.
pub const END: u8 = 1;

/// What `init` tells the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// Pid 1 exists; its process descriptor comes with this record.
    Started,
    /// The main process of a run that nothing isolates was started, in a session of its own.
    Running {
        /// The number of that session on this host.
        session: i32,
    },
    /// Everything is placed and every right is given up; the job starts now.
    Ready,
    /// Something of ours failed.
    Failed {
        /// What was tried.
        stage: Stage,
        /// The kernel's answer.
        errno: i32,
    },
    /// The main process has ended, and whatever it left behind is killed.
    Ended(Ended),
}

/// The end of a run, as pid 1 saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How the main process ended.
    pub how: How,
    /// The largest resident memory of any process of the run, KiB.
    pub peak_kib: u64,
    /// Processor time of all processes, microseconds.
    pub cpu_micros: u64,
    /// Whether a watched file system was full.
    pub disk_full: bool,
    /// Whether pid 1 ended the run because it used too much memory.
    pub memory_hit: bool,
    /// Whether the main process had ended before anybody asked for the end.
    pub by_itself: bool,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

macro_rules! stages {
    ($($variant:ident = $code:literal, $meaning:literal;)*) => {
        /// What was tried when a record says that it failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stage {
            $(#[doc = $meaning] $variant,)*
        }

        impl Stage {
            /// Every stage.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The number on the wire.
            #[must_use]
            pub const fn code(self) -> u32 {
                match self { $(Self::$variant => $code),* }
            }

            /// What was tried, in words.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning),* }
            }
        }
    };
}

stages! {
    Order = 1, "reading the order";
    Descriptor = 2, "opening a process descriptor";
    Mount = 3, "mounting a sized file system";
    Folder = 4, "making a folder";
    Link = 5, "making a link";
    File = 6, "writing a file";
    Seal = 7, "making a mount read-only";
    Namespaces = 8, "turning nested user namespaces off";
    Capabilities = 9, "giving up capabilities";
    NoNewPrivileges = 10, "setting no_new_privs";
    Dumpable = 11, "closing its own memory to others";
    ParentDeath = 12, "arming the parent-death signal";
    Signals = 13, "setting up signals";
    Fork = 14, "starting a process";
    Session = 15, "starting a session";
    Streams = 16, "connecting the standard streams";
    StartFolder = 17, "entering the folder to start in";
    ResourceLimits = 18, "setting resource limits";
    Descriptors = 19, "closing descriptors";
    Seccomp = 20, "installing the system call filter";
    Exec = 21, "starting the interpreter";
    Supervise = 22, "watching the run";
    Subreaper = 23, "becoming the parent of orphans";
    Survivors = 24, "killing what the script left";
}

impl Record {
    /// The record as bytes.
    #[must_use]
    pub fn encode(self) -> [u8; RECORD_BYTES] {
        let (kind, first, second, third, fourth, flags) = match self {
            Self::Started => (1, 0, 0, 0, 0, [false; 3]),
            Self::Ready => (2, 0, 0, 0, 0, [false; 3]),
            Self::Failed { stage, errno } => (3, stage.code(), errno, 0, 0, [false; 3]),
            Self::Ended(Ended { how, peak_kib, cpu_micros, disk_full, memory_hit, by_itself }) => {
                let (signalled, value) = match how {
                    How::Exited(code) => (0, code),
                    How::Signalled(signal) => (1, signal),
                };
                (4, signalled, value, peak_kib, cpu_micros, [disk_full, memory_hit, by_itself])
            }
            Self::Running { session } => (5, 0, session, 0, 0, [false; 3]),
        };
        let mut bytes = [0; RECORD_BYTES];
        bytes[0..4].copy_from_slice(&u32::to_le_bytes(kind));
        bytes[4..8].copy_from_slice(&u32::to_le_bytes(first));
        bytes[8..12].copy_from_slice(&i32::to_le_bytes(second));
        bytes[16..24].copy_from_slice(&u64::to_le_bytes(third));
        bytes[24..32].copy_from_slice(&u64::to_le_bytes(fourth));
        bytes[32..35].copy_from_slice(&flags.map(u8::from));
        bytes
    }

    /// The record in these bytes, `None` when it is none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; RECORD_BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| bytes[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let long = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let first = word(4)?;
        let second = bytes[8..12].try_into().map(i32::from_le_bytes).ok()?;
        match word(0)? {
            1 => Some(Self::Started),
            2 => Some(Self::Ready),
            3 => {
                let stage = *Stage::ALL.iter().find(|stage| stage.code() == first)?;
                Some(Self::Failed { stage, errno: second })
            }
            4 => {
                let how = if first == 1 { How::Signalled(second) } else { How::Exited(second) };
                let (peak_kib, cpu_micros) = (long(16)?, long(24)?);
                let (disk_full, memory_hit, by_itself) = (bytes[32] != 0, bytes[33] != 0, bytes[34] != 0);
                Some(Self::Ended(Ended { how, peak_kib, cpu_micros, disk_full, memory_hit, by_itself }))
            }
            5 => Some(Self::Running { session: second }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_stage_survives_the_channel() {
        for stage in Stage::ALL {
            let record = Record::Failed { stage: *stage, errno: 13 };
            assert_eq!(Record::decode(&record.encode()), Some(record));
        }
        for record in [Record::Started, Record::Ready, Record::Running { session: 4711 }] {
            assert_eq!(Record::decode(&record.encode()), Some(record));
        }
    }

    proptest! {
        #[test]
        fn an_end_survives_the_channel(code: i32, signalled: bool, peak_kib: u64, cpu_micros: u64, disk_full: bool, memory_hit: bool, by_itself: bool) {
            let how = if signalled { How::Signalled(code) } else { How::Exited(code) };
            let record = Record::Ended(Ended { how, peak_kib, cpu_micros, disk_full, memory_hit, by_itself });
            prop_assert_eq!(Record::decode(&record.encode()), Some(record));
        }

        #[test]
        fn noise_is_never_a_panic(noise: Vec<u8>) {
            let _ = Record::decode(&noise);
        }
    }
}
