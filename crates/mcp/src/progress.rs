//! Telling a client that asks for it that its run is still under way.

use std::future::Future;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

/// How often a client is told.
const INTERVAL: Duration = Duration::from_secs(1);

/// Waits for something, and tells the client the seconds so far if its request carries a progress token. Every
/// notification is on its way before the next one is made, and before the answer is.
pub(crate) async fn report<T>(context: &RequestContext<RoleServer>, what: &str, work: impl Future<Output = T>) -> T {
    let Some(token) = context.meta.get_progress_token() else { return work.await };
    let mut work = std::pin::pin!(work);
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut seconds = 0_u32;
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = ticks.tick() => {}
        }
        let progress =
            ProgressNotificationParam::new(token.clone(), seconds.into()).with_message(format!("{what}: {seconds} s"));
        if let Err(error) = context.peer.notify_progress(progress).await {
            tracing::debug!(%error, "progress cannot be told");
            return work.await;
        }
        seconds += 1;
    }
}
