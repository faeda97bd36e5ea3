//! The conversation with one master, over a connection of its own.

use super::FindingKind;
use super::question::{Heard, Question, Subject, TimeSample};
use super::side_connection::SideConnection;
use crate::address::Address;
use crate::driver::clock::Clock;
use crate::driver::random::OsRandom;
use crate::options::Options;
use quorumlock_core::coordinator::wire::{self, Token};
use quorumlock_core::coordinator::{Random, RestartGuard};
use std::time::{Duration, UNIX_EPOCH};
use tokio::time::sleep;

/// The conversation that is held with each master.
#[derive(Clone)]
pub(super) struct Conversation {
    pub(super) clock: Clock,
    pub(super) options: Options,
    pub(super) subject: Subject,
}

/// The number of round trips; the shortest of them was not held up.
const SAMPLES: usize = 5;

/// The least time between the first question for the time and the last: ten times the constant of the default drift,
/// so that a clock at twice the speed of ours is not within it.
const APART: Duration = Duration::from_millis(20);

impl Conversation {
    pub(super) async fn hold(self, address: Address) -> Heard {
        let mut heard = Heard::default();
        heard.ended = self.ask(&address, &mut heard).await.err();
        heard
    }

    /// Asks everything. The error says why the conversation ended early.
    async fn ask(&self, address: &Address, heard: &mut Heard) -> Result<(), FindingKind> {
        let (mut connection, hello) = SideConnection::open(address, &self.options).await?;
        let hello = heard.hello.insert(hello);
        connection.enter(hello, &address.login).await?;
        let began = self.clock.now();
        for _ in 0..SAMPLES {
            heard.times.push(self.ask_time(&mut connection).await?);
        }
        let token = Token::new(OsRandom::new().bits().unwrap_or_default());
        let subject = self.subject.within(address.login.database);
        // A denied question is an entry in the server's ACL log, so ask no needless one.
        let trusts_persistence = self.options.restart_guard == RestartGuard::TrustPersistence;
        let is_needed = |question: &&Question| {
            (trusts_persistence || **question != Question::Replay)
                && (!self.options.inspect_only || question.only_reads())
        };
        let asked = || Question::ALL.iter().filter(is_needed);
        for question in asked() {
            connection.send(&question.command(&subject, &token));
        }
        for question in asked() {
            let reply = connection.next(&question.permission().to_string()).await?;
            heard.answers.insert(*question, reply);
        }
        sleep(APART.saturating_sub(self.clock.now().since(began))).await;
        heard.times.push(self.ask_time(&mut connection).await?);
        Ok(())
    }

    async fn ask_time(&self, connection: &mut SideConnection) -> Result<TimeSample, FindingKind> {
        let asked_at = self.clock.wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let asked = self.clock.now();
        let reply = connection.ask("TIME", &wire::pack(&["TIME"])).await?;
        Ok(TimeSample { asked, asked_at, round_trip: self.clock.now().since(asked), reply })
    }
}
