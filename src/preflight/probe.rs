//! The conversation with one master, over a connection of its own.

use super::FindingKind;
use super::question::{Heard, Question, Subject, TimeSample, time};
use crate::address::Address;
use crate::driver::dial::BoxStream;
use crate::driver::link::Link;
use crate::driver::random::OsRandom;
use quorumlock_core::coordinator::wire::Login;
use quorumlock_core::coordinator::wire::{self, Replies, Reply, Token};
use quorumlock_core::coordinator::{Epoch, Fault, FaultKind, Random, TOO_MANY_CLIENTS};
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::timeout;

/// The settings for asking a master.
#[derive(Clone)]
pub(super) struct Probe {
    pub(super) connect_timeout: Duration,
    /// The time that each answer may take.
    pub(super) patience: Duration,
    pub(super) subject: Subject,
}

/// The number of round trips; the shortest of them is the one that nothing has held up.
const SAMPLES: usize = 5;

impl Probe {
    pub(super) async fn ask(self, address: Address) -> Heard {
        let mut heard = Heard::default();
        if let Err(ended) = self.converse(&address, &mut heard).await {
            heard.ended = Some(ended);
        }
        heard
    }

    /// Holds the conversation. The error says why it ended early.
    async fn converse(&self, address: &Address, heard: &mut Heard) -> Result<(), FindingKind> {
        let stream = address.transport.dial(self.connect_timeout).await;
        let stream = stream.map_err(|error| FindingKind::Unreachable(error.to_string().into()))?;
        let mut talk = Talk::new(stream, address.transport.hint(), self.patience);
        let login = &address.login;
        let hello = talk.ask("HELLO", &wire::hello(login)).await?;
        if hello.hello_id().is_none() {
            return Err(refused(Fault::from_hello(&hello), login));
        }
        let mode = hello.field("mode").and_then(FindingKind::of_mode);
        heard.hello = Some(hello);
        if let Some(no_master) = mode {
            return Err(no_master);
        }
        if login.database != 0 {
            let reply = talk.ask("SELECT", &wire::select(login.database)).await?;
            if let Some(error) = reply.error() {
                return Err(refused(Fault::from_select(error, login.database), login));
            }
        }
        for _ in 0..SAMPLES {
            let asked_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let began = Instant::now();
            let reply = talk.ask("TIME", &time()).await?;
            heard.note_time(TimeSample { asked_at, round_trip: began.elapsed(), reply });
        }
        let token = Token::new(OsRandom::new().bits().unwrap_or_default());
        let subject = self.subject.within(login.database);
        for question in Question::ALL {
            talk.send(&question.command(&subject, &token));
        }
        for question in Question::ALL {
            let reply = talk.next(&question.right().to_string()).await?;
            heard.answers.insert(question, reply);
        }
        Ok(())
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

/// A connection on which commands go out and their answers come in, in order.
struct Talk {
    link: Link,
    unsent: Vec<u8>,
    replies: Replies,
    buffer: Box<[u8]>,
    patience: Duration,
}

impl Talk {
    fn new(stream: BoxStream, hint: Option<&'static str>, patience: Duration) -> Self {
        Self {
            link: Link::new(Epoch::default(), stream, hint),
            unsent: Vec::new(),
            replies: Replies::new(),
            buffer: vec![0; 4096].into(),
            patience,
        }
    }

    async fn ask(&mut self, name: &str, command: &[u8]) -> Result<Reply, FindingKind> {
        self.send(command);
        self.next(name).await
    }

    /// Queues a command, which is sent while the next answer is awaited.
    fn send(&mut self, command: &[u8]) {
        self.unsent.extend_from_slice(command);
    }

    /// Returns the next answer, which is to the command of this name.
    async fn next(&mut self, name: &str) -> Result<Reply, FindingKind> {
        let patience = self.patience;
        match timeout(patience, poll_fn(|cx| self.poll_next(cx))).await {
            Ok(answer) => answer,
            Err(_elapsed) => {
                let patience = humantime::format_duration(patience);
                Err(FindingKind::Silent(format!("no answer to {name} within {patience}").into()))
            }
        }
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
