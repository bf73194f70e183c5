//! The order: what the service wants placed and run, in a sandbox or in a folder of the host.
//!
//! Plain length-prefixed framing with little-endian numbers, written by the service alone. Nothing of it
//! is interpreted beyond this frame, so content of a skill or a caller is only ever bytes. It is read as a
//! stream: `init` stays small, because its resident memory is the floor of every run's reported peak.

use std::io::{self, Read, Write};

const MAGIC: [u8; 8] = *b"BJORDER1";
/// More than any argument or filter needs; a damaged length must not become an allocation.
const LONGEST_FIELD: u64 = 16 * 1024 * 1024;
const LONGEST_LIST: u32 = 65_536;
const COPY_BYTES: usize = 32 * 1024;

/// One thing to do, in the order given. Paths are absolute where `init` runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Mount an empty file system in memory with a size and an inode limit.
    Mount {
        /// Where.
        path: Vec<u8>,
        /// Its size.
        bytes: u64,
        /// How many files, folders and links it holds.
        inodes: u64,
        /// The mode of its top folder.
        mode: u32,
    },
    /// Make a folder.
    Folder {
        /// Where.
        path: Vec<u8>,
        /// Its mode.
        mode: u32,
    },
    /// Make a symbolic link.
    Link {
        /// Where.
        path: Vec<u8>,
        /// What it points to.
        target: Vec<u8>,
    },
    /// Make a file; its content follows in the stream.
    File {
        /// Where.
        path: Vec<u8>,
        /// Its mode.
        mode: u32,
        /// How many bytes follow.
        length: u64,
    },
    /// Make a mount read-only.
    Seal {
        /// The mount point.
        path: Vec<u8>,
    },
    /// Give up all rights and run this. The last step.
    Run(Job),
}

/// What runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The program's path; empty for `init` itself as the self-probe.
    pub program: Vec<u8>,
    /// Its arguments, its own name first.
    pub argv: Vec<Vec<u8>>,
    /// Its environment, `NAME=value` each.
    pub environment: Vec<Vec<u8>>,
    /// The folder it starts in.
    pub folder: Vec<u8>,
    /// Its resource limits.
    pub rlimits: Vec<ResourceLimit>,
    /// BPF programs, installed in this order.
    pub filters: Vec<Vec<u8>>,
    /// The writable mount points: what is in them is memory of the run, and in the end, were they full?
    pub watched: Vec<Vec<u8>>,
    /// How much memory all processes of the run and its files may use together.
    pub memory_bytes: u64,
    /// The folder that is removed when the run is over; empty for none.
    pub removed: Vec<u8>,
}

/// One resource limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimit {
    /// The kernel's number of the resource.
    pub resource: u32,
    /// The limit in force.
    pub soft: u64,
    /// How far it may be raised.
    pub hard: u64,
}

/// Writes an order.
#[derive(Debug)]
pub struct Writer<W> {
    sink: W,
}

impl<W: Write> Writer<W> {
    /// Begins an order.
    ///
    /// # Errors
    /// What the sink says.
    pub fn new(mut sink: W) -> io::Result<Self> {
        sink.write_all(&MAGIC)?;
        Ok(Self { sink })
    }

    /// Adds a step. A file's content must follow through [`content`](Self::content).
    ///
    /// # Errors
    /// What the sink says, or that a field is too long.
    pub fn step(&mut self, step: &Step) -> io::Result<()> {
        match step {
            Step::Mount { path, bytes, inodes, mode } => {
                self.tag(1, path)?;
                self.long(*bytes)?;
                self.long(*inodes)?;
                self.word(*mode)
            }
            Step::Folder { path, mode } => {
                self.tag(2, path)?;
                self.word(*mode)
            }
            Step::Link { path, target } => {
                self.tag(3, path)?;
                self.field(target)
            }
            Step::File { path, mode, length } => {
                self.tag(4, path)?;
                self.word(*mode)?;
                self.long(*length)
            }
            Step::Seal { path } => self.tag(5, path),
            Step::Run(job) => self.job(job),
        }
    }

    /// Adds the bytes of a file just announced.
    ///
    /// # Errors
    /// What the sink says.
    pub fn content(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write_all(bytes)
    }

    /// Gives the sink back.
    pub fn finish(self) -> W {
        self.sink
    }

    fn job(&mut self, job: &Job) -> io::Result<()> {
        self.tag(6, &job.program)?;
        self.list(&job.argv)?;
        self.list(&job.environment)?;
        self.field(&job.folder)?;
        self.count(job.rlimits.len())?;
        for limit in &job.rlimits {
            self.word(limit.resource)?;
            self.long(limit.soft)?;
            self.long(limit.hard)?;
        }
        self.list(&job.filters)?;
        self.list(&job.watched)?;
        self.long(job.memory_bytes)?;
        self.field(&job.removed)
    }

    fn tag(&mut self, tag: u8, first: &[u8]) -> io::Result<()> {
        self.sink.write_all(&[tag])?;
        self.field(first)
    }

    fn list(&mut self, items: &[Vec<u8>]) -> io::Result<()> {
        self.count(items.len())?;
        items.iter().try_for_each(|item| self.field(item))
    }

    fn field(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = bytes.len() as u64;
        if length > LONGEST_FIELD {
            return Err(damaged("a field is too long"));
        }
        self.long(length)?;
        self.sink.write_all(bytes)
    }

    fn count(&mut self, count: usize) -> io::Result<()> {
        match u32::try_from(count) {
            Ok(count) if count <= LONGEST_LIST => self.word(count),
            _ => Err(damaged("a list is too long")),
        }
    }

    fn word(&mut self, value: u32) -> io::Result<()> {
        self.sink.write_all(&value.to_le_bytes())
    }

    fn long(&mut self, value: u64) -> io::Result<()> {
        self.sink.write_all(&value.to_le_bytes())
    }
}

/// Reads an order.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// What the source says, or that it is no order.
    pub fn new(mut source: R) -> io::Result<Self> {
        let mut magic = [0; MAGIC.len()];
        source.read_exact(&mut magic)?;
        if magic == MAGIC { Ok(Self { source }) } else { Err(damaged("not an order")) }
    }

    /// The next step. After [`Step::File`] its content must be taken with [`copy`](Self::copy).
    ///
    /// # Errors
    /// What the source says, or that it is damaged.
    pub fn step(&mut self) -> io::Result<Step> {
        let [tag] = self.array()?;
        let path = self.field()?;
        Ok(match tag {
            1 => Step::Mount { path, bytes: self.long()?, inodes: self.long()?, mode: self.word()? },
            2 => Step::Folder { path, mode: self.word()? },
            3 => Step::Link { path, target: self.field()? },
            4 => Step::File { path, mode: self.word()?, length: self.long()? },
            5 => Step::Seal { path },
            6 => Step::Run(self.job(path)?),
            _ => return Err(damaged("an unknown step")),
        })
    }

    /// Moves the content of a file into `sink`, a piece at a time.
    ///
    /// # Errors
    /// What either side says.
    pub fn copy(&mut self, length: u64, sink: &mut impl Write) -> io::Result<()> {
        let mut buffer = [0; COPY_BYTES];
        let mut left = length;
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(COPY_BYTES).min(COPY_BYTES);
            self.source.read_exact(&mut buffer[..wanted])?;
            sink.write_all(&buffer[..wanted])?;
            left -= wanted as u64;
        }
        Ok(())
    }

    fn job(&mut self, program: Vec<u8>) -> io::Result<Job> {
        let argv = self.list()?;
        let environment = self.list()?;
        let folder = self.field()?;
        let mut rlimits = Vec::new();
        for _ in 0..self.count()? {
            rlimits.push(ResourceLimit { resource: self.word()?, soft: self.long()?, hard: self.long()? });
        }
        let filters = self.list()?;
        let watched = self.list()?;
        let memory_bytes = self.long()?;
        let removed = self.field()?;
        Ok(Job { program, argv, environment, folder, rlimits, filters, watched, memory_bytes, removed })
    }

    fn list(&mut self) -> io::Result<Vec<Vec<u8>>> {
        (0..self.count()?).map(|_| self.field()).collect()
    }

    fn field(&mut self) -> io::Result<Vec<u8>> {
        let length = self.long()?;
        if length > LONGEST_FIELD {
            return Err(damaged("a field is too long"));
        }
        // Grown as bytes arrive: a length alone allocates nothing.
        let mut bytes = Vec::new();
        let read = self.source.by_ref().take(length).read_to_end(&mut bytes)?;
        if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn count(&mut self) -> io::Result<u32> {
        let count = self.word()?;
        if count <= LONGEST_LIST { Ok(count) } else { Err(damaged("a list is too long")) }
    }

    fn word(&mut self) -> io::Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn damaged(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
