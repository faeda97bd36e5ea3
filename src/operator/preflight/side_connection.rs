//! A connection to one master beside those of the driver, for questions that no lock has to wait
//! behind.

use super::FindingKind;
use crate::address::{Address, Brought};
use crate::driver::link::Link;
use crate::options::Options;
use quorumlock_core::coordinator::wire::{self, Login, Replies, Reply};
use quorumlock_core::coordinator::{CLUSTER, Epoch, Fault, FaultKind, SENTINEL, TOO_MANY_CLIENTS};
use std::future::{Future, poll_fn};
use std::io;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The number of operation timeouts that an answer may take: as long as a session waits for one.
const TIMEOUTS_PER_ANSWER: u32 = 3;

/// Returns the time that each answer may take.
pub(crate) fn patience(options: &Options) -> Duration {
    options.operation_timeout.saturating_mul(TIMEOUTS_PER_ANSWER)
}

/// Talks with each master on a task of its own, and returns the results in their order. A panic ends one
/// conversation.
pub(crate) async fn with_each<M, T: Send + 'static, Talk>(
    masters: impl Iterator<Item = M>,
    talk: impl Fn(M) -> Talk,
) -> Vec<Result<T, FindingKind>>
where
    Talk: Future<Output = T> + Send + 'static,
{
    let talking: Vec<_> = masters.map(|master| JoinSet::from_iter([talk(master)])).collect();
    let mut results = Vec::new();
    for mut talking in talking {
        let talked = talking.join_next().await.and_then(Result::ok);
        results.push(talked.ok_or_else(|| FindingKind::Unreachable("the dial panicked".into())));
    }
    results
}

/// A connection on which commands go out and their answers come in, in order.
pub(crate) struct SideConnection {
    link: Link,
    unsent: Vec<u8>,
    replies: Replies,
    buffer: Box<[u8]>,
    /// The time that each answer may take.
    patience: Duration,
}

impl SideConnection {
    /// Dials the master and logs in; returns its answer to HELLO, too.
    pub(crate) async fn open(
        address: &Address,
        options: &Options,
    ) -> Result<(Self, Reply), FindingKind> {
        let Brought { credentials, stream } = address.bring(Some(options.connect_timeout)).await;
        let login = match credentials.transpose().map_err(FindingKind::NoCredentials)? {
            Some(given) => address.login.with(&given),
            None => address.login.clone(),
        };
        let stream = stream.unwrap_or_else(|| Err(io::ErrorKind::NotConnected.into()));
        let stream = stream.map_err(|error| FindingKind::Unreachable(error.to_string().into()))?;
        let mut connection = Self {
            link: Link::new(Epoch::default(), stream, address.transport.hint()),
            unsent: Vec::new(),
            replies: Replies::default(),
            buffer: vec![0; 4096].into(),
            patience: patience(options),
        };
        let hello = connection.ask("HELLO", &wire::hello(&login)).await?;
        if hello.hello_id().is_none() {
            return Err(refused(Fault::from_hello(&hello), &login));
        }
        Ok((connection, hello))
    }

    /// Goes on after HELLO, unless the server is no master at all: selects the database.
    pub(crate) async fn enter(&mut self, hello: &Reply, login: &Login) -> Result<(), FindingKind> {
        match hello.field("mode") {
            Some(CLUSTER) => return Err(FindingKind::Cluster),
            Some(SENTINEL) => return Err(FindingKind::Sentinel),
            _ => {}
        }
        if login.database != 0 {
            let reply = self.ask("SELECT", &wire::select(login.database)).await?;
            if let Some(error) = reply.error() {
                return Err(refused(Fault::from_select(error, login.database), login));
            }
        }
        Ok(())
    }

    pub(crate) async fn ask(&mut self, name: &str, command: &[u8]) -> Result<Reply, FindingKind> {
        self.send(command);
        self.next(name).await
    }

    /// Queues a command, which is sent while the next answer is awaited.
    pub(crate) fn send(&mut self, command: &[u8]) {
        self.unsent.extend_from_slice(command);
    }

    /// Returns the next answer, which is to the command of this name.
    pub(crate) async fn next(&mut self, name: &str) -> Result<Reply, FindingKind> {
        let patience = self.patience;
        let answer = timeout(patience, poll_fn(|cx| self.poll_next(cx))).await;
        answer.map_err(|_| {
            let patience = humantime::format_duration(patience);
            FindingKind::Silent(format!("no answer to {name} within {patience}").into())
        })?
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Reply, FindingKind>> {
        let epoch = self.link.epoch;
        while let Poll::Ready(written) = self.link.poll_write(cx, epoch, &self.unsent) {
            self.unsent.drain(..written.map_err(FindingKind::Silent)?);
        }
        loop {
            match self.replies.next().map_err(FindingKind::NotRedis)? {
                // Not an answer, except the one to a SUBSCRIBE.
                Some(push @ Reply::Push(_)) if push.push_kind() != Some("subscribe") => {}
                Some(answer) => return Poll::Ready(Ok(answer)),
                None => {
                    let read = ready!(self.link.poll_read(cx, &mut self.buffer));
                    self.replies.receive(read.map_err(FindingKind::Silent)?);
                }
            }
        }
    }
}

fn refused(fault: Fault, login: &Login) -> FindingKind {
    let cause = match &login.password {
        // Servers that do not know a command repeat what followed it.
        Some(secret) if !secret.is_empty() => fault.cause.replace(secret.as_str(), "***").into(),
        _ => fault.cause,
    };
    if cause.contains(TOO_MANY_CLIENTS) {
        FindingKind::TooManyClients(cause)
    } else if fault.kind == FaultKind::Down {
        FindingKind::Unreachable(cause)
    } else {
        FindingKind::Rejected(cause)
    }
}
