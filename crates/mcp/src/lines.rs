//! Messages as lines. The protocol's library has such a transport, too; it passes over what it cannot read in silence, so
//! that whoever sent it waits for an answer for ever.

use std::borrow::Cow;
use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The longest message, bytes: a skill of the largest size, as base64 in a JSON text inside JSON, and room to spare.
pub(crate) const LONGEST_MESSAGE: usize = 64 * 1024 * 1024;

type Received = RxJsonRpcMessage<RoleServer>;
type Sent = TxJsonRpcMessage<RoleServer>;

/// The protocol over a pair of streams, a message a line.
pub(crate) struct Lines<R, W> {
    input: BufReader<R>,
    /// What of a line has been read; a receiving that is given up goes on from here.
    line: Vec<u8>,
    /// Whether the rest of the line is passed over, because it is too long.
    skips: bool,
    /// What has to be answered before anything else is read.
    refusal: Option<Sent>,
    /// The answer that is on its way.
    refusing: Option<JoinHandle<io::Result<()>>>,
    output: Arc<Mutex<Option<W>>>,
    end: CancellationToken,
}

/// What a message that cannot be read is still known by. What else is in it is passed over without being nested.
#[derive(Deserialize)]
struct Known<'m> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'m, str>>,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    /// `end` fires at the end of input.
    pub(crate) fn new(input: R, output: W, end: CancellationToken) -> Self {
        let (line, output) = (Vec::new(), Arc::new(Mutex::new(Some(output))));
        Self { input: BufReader::new(input), line, skips: false, refusal: None, refusing: None, output, end }
    }

    /// Reads on until a line is whole. What is read is kept when this is given up in between.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            if !self.skips && self.line.len() + taken > LONGEST_MESSAGE {
                self.skips = true;
                self.line = Vec::new();
                let message = format!("the message is longer than {LONGEST_MESSAGE} bytes");
                self.refusal = Some(Sent::error(ErrorData::invalid_request(message, None), None));
            }
            if !self.skips {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(taken);
            if newline.is_some() {
                let was_skipped = std::mem::take(&mut self.skips);
                if !was_skipped || self.refusal.is_some() {
                    return Ok(true);
                }
            }
        }
    }

    /// The message of the line that was read; none when it is answered or passed over here.
    fn parse(&mut self) -> Option<Received> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        let error = match serde_json::from_slice(line) {
            Ok(message) => return Some(message),
            Err(error) => error,
        };
        let known = serde_json::from_slice::<Known<'_>>(line);
        let (refusal, id) = match known {
            // Notifications of other protocols and of later revisions of this one.
            Ok(Known { id: None, method: Some(_) }) => return None,
            // The whole is JSON, and only what goes into its depth says no.
            Ok(Known { id, .. }) if error.is_syntax() => {
                (ErrorData::invalid_request("the message is nested by more than 127 levels", None), id)
            }
            Err(error) if !error.is_data() => (ErrorData::parse_error("the line is not JSON", None), None),
            known => {
                let message = "the message is no request, notification or answer of the protocol";
                (ErrorData::invalid_request(message, None), known.ok().and_then(|known| known.id))
            }
        };
        self.refusal = Some(Sent::error(refusal, id));
        None
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<Option<W>>, message: &Sent) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: Sent) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<Received> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                // One at a time: whoever reads no answers is read no further.
                drop(refusing.await);
                self.refusing = None;
            }
            if let Some(refusal) = self.refusal.take() {
                // In a task of its own: a receiving that is given up must not leave half a line.
                let output = Arc::clone(&self.output);
                self.refusing = Some(tokio::spawn(async move { write(&output, &refusal).await }));
            }
            match self.read_line().await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::error!(%error, "the input cannot be read");
                    break;
                }
            }
            if let Some(message) = self.parse() {
                return Some(message);
            }
        }
        // At once: the protocol's library would first wait for answers that nobody is going to read.
        self.end.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.lock().await.take());
        Ok(())
    }
}

impl<R, W> std::fmt::Debug for Lines<R, W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lines").field("read", &self.line.len()).finish_non_exhaustive()
    }
}
