//! The protocol over a pair of streams, such as standard input and output.

use std::future::Future;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::Server;
use crate::lines::Lines;

/// Why serving ended otherwise than by its client or its operator.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client did not speak the protocol.
    #[error("the client does not speak the Model Context Protocol: {0}")]
    Handshake(String),
    /// The service ended of itself.
    #[error("the protocol's service ended: {0}")]
    Service(String),
}

/// Serves the client on standard input and output.
///
/// # Errors
/// Those of [`serve`].
pub async fn serve_stdio(server: Server, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    serve(server, input, output, stop).await
}

/// Serves one client until its end of input, or until `stop` is ready. Runs that are under way are cancelled then, and
/// it returns once each of them is on the record.
///
/// # Errors
/// When the client does not speak the protocol.
pub async fn serve<R, W>(server: Server, input: R, output: W, stop: impl Future<Output = ()>) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (end, closed) = (server.inner.end.clone(), CancellationToken::new());
    let transport = Lines::new(input, output, end.clone());
    let calls = server.inner.calls.clone();
    let mut served = std::pin::pin!(run(server, transport, closed.clone()));
    let ended = tokio::select! {
        ended = &mut served => Some(ended),
        () = stop => None,
    };
    end.cancel();
    calls.close();
    if let Some(ended) = ended {
        calls.wait().await;
        return ended;
    }
    // The client still hears how its runs ended.
    tokio::select! {
        () = calls.wait() => closed.cancel(),
        ended = &mut served => {
            calls.wait().await;
            return ended;
        }
    }
    served.await
}

async fn run<R, W>(server: Server, transport: Lines<R, W>, closed: CancellationToken) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match server.serve_with_ct(transport, closed).await {
        Ok(running) => running,
        // A client that asks nothing, and an operator that stops before it does, end in good order.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(ServerInitializeError::InitializeFailed(error)) => {
            return Err(ServeError::Handshake(error.message.into_owned()));
        }
        // What the client sent may hold what nobody else should read: it is not repeated.
        Err(ServerInitializeError::TransportError { error, .. }) => return Err(ServeError::Service(error.to_string())),
        Err(_) => return Err(ServeError::Handshake("its first message is none that opens a session".to_owned())),
    };
    match running.waiting().await {
        Ok(_) => Ok(()),
        Err(error) => Err(ServeError::Service(error.to_string())),
    }
}
