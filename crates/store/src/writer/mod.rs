//! The one task of this process that writes.
//!
//! Changes come over a channel. The task begins a transaction, makes every change that waits (up to
//! [`MOST`]), commits once, copies the heads, and only then answers: the cost of reaching the disk is
//! shared by all that waited.
//!
//! A commit that failed says nothing about the disk: its frames may be in the log. So the connection is
//! poisoned. A fresh one looks for the batch's entries (there: the batch is done; not there: refused) and
//! commits a fence over the place where its frames would be.

mod job;
mod recovery;
mod transaction;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use belljar_core::ports::{StoreError, Stored};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

pub(crate) use self::job::Change;
use self::job::{Job, Waiting};
pub(crate) use self::transaction::{Appended, Transaction, same_tenant};
use crate::cause::store_error;
use crate::crash;
use crate::heads::{Heads, HeadsCopy};
use crate::store::Ground;

/// The most changes in one commit.
const MOST: usize = 64;

/// The most changes that wait in the channel; further callers wait for a place.
const QUEUE: usize = 1024;

/// What the writer counts.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) commits: AtomicU64,
    pub(crate) heads_not_copied: AtomicU64,
}

enum Message {
    Job(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

/// The way to the writer task.
#[derive(Clone)]
pub(crate) struct Writer {
    messages: mpsc::Sender<Message>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Writer").field("free_places", &self.messages.capacity()).finish()
    }
}

impl Writer {
    /// Starts the task. It ends, and closes its connection, when it is told to or nobody can ask any more.
    pub(crate) fn start(ground: Arc<Ground>, connection: SqliteConnection, heads: HeadsCopy) -> Self {
        let (messages, inbox) = mpsc::channel(QUEUE);
        let task = Task { ground, connection, heads, inbox, poisoned: false, closing: None };
        tokio::spawn(task.run());
        Self { messages }
    }

    /// Hands a change over and waits until it is durable or refused.
    pub(crate) async fn submit<C: Change>(&self, change: C) -> Stored<C::Answer> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Waiting { change: Some(change), result: None, reply });
        let closed = || StoreError::unavailable("the store was closed");
        self.messages.send(Message::Job(job)).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Waits until everything that was handed over before is done and the connection is closed.
    pub(crate) async fn close(&self) {
        let (done, answer) = oneshot::channel();
        if self.messages.send(Message::Close(done)).await.is_ok() {
            // An error means that the task ended already.
            let _ = answer.await;
        }
    }
}

struct Task {
    ground: Arc<Ground>,
    connection: SqliteConnection,
    heads: HeadsCopy,
    inbox: mpsc::Receiver<Message>,
    poisoned: bool,
    closing: Option<oneshot::Sender<()>>,
}

impl Task {
    async fn run(mut self) {
        while self.closing.is_none() {
            match self.inbox.recv().await {
                Some(Message::Job(first)) => self.batch(first).await,
                Some(Message::Close(done)) => self.closing = Some(done),
                None => break,
            }
        }
        self.inbox.close();
        while let Ok(message) = self.inbox.try_recv() {
            if let Message::Job(job) = message {
                job.refuse(StoreError::unavailable("the store was closed"));
            }
        }
        if self.ground.identity.check().is_err() {
            // Closing the last connection moves the log into the database, with an index that is no longer
            // the one of others: what they acknowledged would be lost. The kernel closes it with the process.
            std::mem::forget(self.connection);
        } else if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the writing connection did not close cleanly");
        }
        if let Some(done) = self.closing {
            let _ = done.send(());
        }
    }

    /// One batch: all of it durable and answered, or none of it there and refused.
    async fn batch(&mut self, first: Box<dyn Job>) {
        let mut jobs = vec![first];
        if let Err(error) = self.begin().await {
            jobs.extend(std::iter::from_fn(|| self.next_waiting()));
            return refuse_all(jobs, &error);
        }
        match self.apply_and_commit(&mut jobs).await {
            Ok(appended) => {
                self.copy_heads(&appended).await;
                crash::point("after_heads");
                jobs.into_iter().for_each(Job::answer);
            }
            Err(error) => refuse_all(jobs, &error),
        }
    }

    async fn begin(&mut self) -> Stored<()> {
        self.ground.identity.check().map_err(StoreError::unavailable)?;
        if self.poisoned {
            self.reopen(&[]).await?;
        }
        sqlx::query("begin immediate").execute(&mut self.connection).await.map(drop).map_err(|error| {
            self.poisoned = crate::cause::code_of(&error) != crate::cause::Code::Busy;
            store_error(error)
        })
    }

    async fn apply_and_commit(&mut self, jobs: &mut Vec<Box<dyn Job>>) -> Stored<Vec<Appended>> {
        let appended = match self.apply(jobs).await {
            Ok(appended) => appended,
            Err(error) => {
                // An idle connection must not keep the write lock of a transaction that came to nothing.
                self.roll_back().await;
                self.poisoned = true;
                return Err(error);
            }
        };
        if let Err(gone) = self.ground.identity.check() {
            self.roll_back().await;
            return Err(StoreError::unavailable(gone));
        }
        crash::point("before_commit");
        let committed = sqlx::query("commit").execute(&mut self.connection).await;
        crash::point("after_commit");
        if let Err(error) = committed {
            let error = store_error(error);
            tracing::error!(%error, "a commit failed; the connection is opened again");
            self.poisoned = true;
            return if self.reopen(&appended).await? { Ok(appended) } else { Err(error) };
        }
        self.ground.counts.commits.fetch_add(1, Ordering::Relaxed);
        // A file that went during the commit took it along, or may have: it is not acknowledged.
        self.ground.identity.check().map_err(StoreError::unavailable)?;
        Ok(appended)
    }

    /// Makes the changes that wait. `jobs` ends up with all that were begun.
    async fn apply(&mut self, jobs: &mut Vec<Box<dyn Job>>) -> Stored<Vec<Appended>> {
        let mut transaction = Transaction::new(&mut self.connection);
        let mut at = 0;
        while let Some(job) = jobs.get_mut(at) {
            transaction.apply(job.as_mut()).await?;
            at += 1;
            if at < MOST {
                jobs.extend(next_waiting(&mut self.inbox, &mut self.closing));
            }
        }
        Ok(transaction.into_appended())
    }

    fn next_waiting(&mut self) -> Option<Box<dyn Job>> {
        next_waiting(&mut self.inbox, &mut self.closing)
    }

    async fn roll_back(&mut self) {
        if let Err(error) = sqlx::query("rollback").execute(&mut self.connection).await {
            tracing::debug!(%error, "nothing to roll back");
            self.poisoned = true;
        }
    }

    async fn copy_heads(&self, appended: &[Appended]) {
        if appended.is_empty() {
            return;
        }
        let newer: Heads = appended.iter().map(|entry| (entry.tenant.clone(), entry.head)).collect();
        let heads = self.heads.clone();
        let copied = tokio::task::spawn_blocking(move || heads.merge(&newer)).await;
        let failure = match copied {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.ground.counts.heads_not_copied.fetch_add(1, Ordering::Relaxed);
        tracing::error!(error = failure, "the audit heads could not be copied; the entries stand");
    }
}

fn next_waiting(
    inbox: &mut mpsc::Receiver<Message>,
    closing: &mut Option<oneshot::Sender<()>>,
) -> Option<Box<dyn Job>> {
    if closing.is_some() {
        return None;
    }
    match inbox.try_recv() {
        Ok(Message::Job(job)) => Some(job),
        Ok(Message::Close(done)) => {
            *closing = Some(done);
            None
        }
        Err(_) => None,
    }
}

fn refuse_all(jobs: Vec<Box<dyn Job>>, error: &StoreError) {
    for job in jobs {
        job.refuse(match error {
            StoreError::Unavailable(cause) => StoreError::unavailable(cause.to_string()),
            StoreError::Damaged(what) => StoreError::Damaged(what.clone()),
        });
    }
}
