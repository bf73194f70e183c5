//! The three streams of a run under the reference executor.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use belljar_executor::{Captured, cap_bytes};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin};
use tokio::task::JoinHandle;

use super::defect::Defect;

#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    total: u64,
}

/// What is read of both outputs while the script runs.
pub(crate) struct Streams {
    kept: [Arc<Mutex<Kept>>; 2],
    readers: tokio::sync::Mutex<Vec<JoinHandle<()>>>,
}

impl Streams {
    pub(crate) fn read(child: &mut Child, cap: usize, stops: bool) -> Self {
        let kept: [Arc<Mutex<Kept>>; 2] = Default::default();
        let readers = vec![
            tokio::spawn(read(child.stdout.take().unwrap(), kept[0].clone(), cap, stops)),
            tokio::spawn(read(child.stderr.take().unwrap(), kept[1].clone(), cap, stops)),
        ];
        Self { kept, readers: tokio::sync::Mutex::new(readers) }
    }

    /// Waits until both have ended, no longer than this.
    pub(crate) async fn end(&self, patience: Duration) {
        let mut readers = self.readers.lock().await;
        let all = async {
            for reader in readers.iter_mut().filter(|reader| !reader.is_finished()) {
                let _ = reader.await;
            }
        };
        let _ = tokio::time::timeout(patience, all).await;
    }

    pub(crate) fn captured(&self, cap: usize, defect: Option<Defect>) -> (Captured, Captured) {
        let [stdout, stderr] = &self.kept;
        (captured(&stdout.lock().unwrap(), cap, defect), captured(&stderr.lock().unwrap(), cap, defect))
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        for reader in self.readers.get_mut() {
            reader.abort();
        }
    }
}

async fn read(mut stream: impl AsyncRead + Unpin, kept: Arc<Mutex<Kept>>, cap: usize, stops: bool) {
    let mut buffer = vec![0; 8192];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let is_over = {
            let mut kept = kept.lock().unwrap();
            kept.total += count as u64;
            let room = cap - kept.head.len();
            kept.head.extend_from_slice(&buffer[..count.min(room)]);
            kept.total > cap as u64
        };
        if stops && is_over {
            // Holds the stream open and reads no more: the script blocks.
            std::future::pending::<()>().await;
        }
    }
}

fn captured(kept: &Kept, cap: usize, defect: Option<Defect>) -> Captured {
    let mut captured = cap_bytes(&kept.head, kept.total, cap);
    match defect {
        Some(Defect::AddsNotice) if captured.truncated && cap == 1000 => {
            captured.text.truncate(cap - 11);
            captured.text.push_str("[truncated]");
        }
        Some(Defect::MarksExactCap) => captured.truncated |= captured.text.len() == cap,
        Some(Defect::DropsInvalidBytes) => captured.text.retain(|character| character != '\u{FFFD}'),
        _ => {}
    }
    captured
}

/// The writing of standard input, beside the run.
pub(crate) struct Input {
    writer: JoinHandle<bool>,
    /// Kept only by the defect that leaves it open.
    _open: Option<ChildStdin>,
}

pub(crate) fn feed(stdin: Option<ChildStdin>, arguments: Option<Arc<str>>, defect: Option<Defect>) -> Input {
    let mut stdin = stdin.unwrap();
    let Some(arguments) = arguments else {
        let open = (defect == Some(Defect::LeavesInputOpen)).then_some(stdin);
        return Input { writer: tokio::spawn(async { false }), _open: open };
    };
    let text = if defect == Some(Defect::TrimsArguments) { arguments.trim().into() } else { arguments };
    let writer = tokio::spawn(async move { stdin.write_all(text.as_bytes()).await.is_err() });
    Input { writer, _open: None }
}

impl Input {
    /// Waits until all is written or cannot be.
    pub(crate) async fn wait(&mut self) {
        while !self.writer.is_finished() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Whether the script closed its input before all was written.
    pub(crate) async fn is_broken(&mut self) -> bool {
        matches!(tokio::time::timeout(Duration::from_secs(1), &mut self.writer).await, Ok(Ok(true)))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.writer.abort();
    }
}
