//! An executor that hands each script to a runner service over HTTP: `POST /runs`, in the form of
//! [`belljar_executor::wire`].

use belljar_executor::wire::{WireAnswer, WireRequest};
use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome, async_trait};
use reqwest::{Client, Response, StatusCode, Url};

/// What an answer may have beside two streams: names, numbers, and escapes of up to six bytes for one.
const OVERHEAD: usize = 64 * 1024;

/// Posts scripts to a runner service.
#[derive(Debug)]
pub struct RunnerServiceExecutor {
    client: Client,
    runs: Url,
}

impl RunnerServiceExecutor {
    /// An executor for the service under this address, such as `http://localhost:8085/`.
    ///
    /// # Errors
    /// When the text is no address.
    pub fn new(base: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let runs = Url::parse(base)?.join("runs")?;
        // A run that may have started is never sent again, nor to anybody else.
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Self { client, runs })
    }

    async fn post(&self, run: WireRequest, cap: usize) -> Result<Outcome, ExecutorError> {
        let body = serde_json::to_vec(&run).map_err(ExecutorError::fault)?;
        let post = self.client.post(self.runs.clone()).header("content-type", "application/json").body(body);
        let response = match post.send().await {
            Ok(response) => response,
            // Nobody took the request, so nothing ran.
            Err(error) if error.is_connect() => return Err(ExecutorError::unavailable(error)),
            Err(error) => return Err(ExecutorError::fault(error)),
        };
        match response.status() {
            StatusCode::OK => {}
            StatusCode::TOO_MANY_REQUESTS => return Err(ExecutorError::unavailable("the runner is busy")),
            status => return Err(ExecutorError::fault(format!("the runner answered {status}"))),
        }
        let answer = read(response, cap.saturating_mul(2 * 6).saturating_add(OVERHEAD)).await?;
        let answer: WireAnswer = serde_json::from_slice(&answer).map_err(ExecutorError::fault)?;
        Ok(answer.into_outcome(cap))
    }
}

/// Reads an answer that is no longer than this.
async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, ExecutorError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(ExecutorError::fault)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > most {
            return Err(ExecutorError::fault("the runner's answer is longer than the caps allow"));
        }
    }
    Ok(bytes)
}

#[async_trait]
impl Executor for RunnerServiceExecutor {
    fn name(&self) -> &'static str {
        "runner-service"
    }

    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        if cancel.has_fired() {
            return Err(ExecutorError::cancelled());
        }
        let run = WireRequest::of(&request).map_err(ExecutorError::fault)?;
        let answer = tokio::select! {
            biased;
            () = cancel.fired() => None,
            answer = self.post(run, request.parts().max_output_bytes) => Some(answer),
        };
        // Without an answer the post is dropped, and with it goes the connection: that tells the runner to end
        // the run. Whoever drives the connection gets its turn before this answers.
        match answer {
            Some(answer) => answer,
            None => {
                tokio::task::yield_now().await;
                Err(ExecutorError::cancelled())
            }
        }
    }
}
