//! One client: the machine, its end of each connection, and what it thinks it holds.

use super::super::super::{AttemptId, Event, RequestId};
use super::super::stage::Stage;
use super::master::Master;
use crate::quorum::{Instant, Membership};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// What an acquire has asked for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) keys: Vec<String>,
    pub(super) fenced: bool,
    pub(super) lock_delay: Duration,
}

/// A lock that was won, until its guard is gone.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) asked: Asked,
    pub(super) token: String,
    pub(super) deadline: Instant,
    /// The guard says so itself, or the machine has.
    pub(super) over: bool,
}

impl Held {
    pub(super) fn is_valid(&self, now: Instant) -> bool {
        !self.over && now < self.deadline
    }
}

/// The client's end of one connection.
#[derive(Default)]
pub(super) struct Line {
    pub(super) dialling: bool,
    /// The server's id of the connection; none while there is no connection.
    pub(super) id: Option<i64>,
    /// Replies on their way back.
    pub(super) replies: VecDeque<u8>,
}

pub(super) struct Client {
    pub(super) stage: Stage,
    pub(super) membership: Membership,
    pub(super) lines: Vec<Line>,
    pub(super) last_request: u64,
    pub(super) asked: BTreeMap<u64, Asked>,
    /// By the number of the acquire.
    pub(super) held: BTreeMap<u64, Held>,
    /// Who holds what, as an inspection has told: key and value.
    pub(super) seen: Option<(String, String)>,
    pub(super) inspected: BTreeMap<u64, String>,
    /// What the wall clock showed at the origin of time.
    pub(super) wall_us: u64,
}

impl Client {
    pub(super) fn new(stage: Stage, membership: Membership, wall_us: u64) -> Self {
        let lines = stage.wires.iter().map(|_| Line::default()).collect();
        Self {
            stage,
            membership,
            lines,
            last_request: 0,
            asked: BTreeMap::new(),
            held: BTreeMap::new(),
            seen: None,
            inspected: BTreeMap::new(),
            wall_us,
        }
    }

    /// A request begins, and as with the driver the wall clock is read.
    pub(super) fn next_request(&mut self) -> RequestId {
        let now = self.stage.now;
        self.stage.machine.handle_wall_clock(now, self.wall_us + now.as_nanos() / 1_000);
        self.last_request += 1;
        RequestId(self.last_request)
    }

    /// Takes what the machine has written to the masters. Returns what it has decided.
    pub(super) fn carry(&mut self, masters: &mut [Master]) -> Vec<Event> {
        self.stage.pump();
        for (node, line) in self.lines.iter_mut().enumerate() {
            while let Some(word) = self.stage.wires[node].unseen.pop_front() {
                match word.as_str() {
                    "DIAL" => line.dialling = true,
                    "CLOSE" => {
                        line.id = None;
                        line.replies.clear();
                    }
                    _ => {
                        let id = line.id.expect("a connection to send over");
                        if let Some(connection) = masters[node].connection(id) {
                            connection.commands.push_back(word);
                        }
                    }
                }
            }
        }
        std::mem::take(&mut self.stage.events)
    }

    /// The number of the acquire that has won `attempt`, while its guard is there.
    pub(super) fn won(&self, attempt: AttemptId) -> Option<u64> {
        let mut holds = self.stage.holds.iter();
        holds.find_map(|(won, one)| (*one == attempt).then_some(*won))
    }

    pub(super) fn answer_dial(&mut self, node: usize, master: &mut Master, reachable: bool) {
        if !std::mem::take(&mut self.lines[node].dialling) {
            return;
        }
        if reachable {
            self.lines[node].id = Some(master.accept());
            self.stage.connects(node);
        } else {
            let epoch = self.stage.wires[node].epoch;
            self.stage.machine.handle_dial_failed(self.stage.now, node, epoch, "refused");
        }
    }

    /// The server is gone; the client finds out by silence, or when it happens to lose the
    /// connection.
    pub(super) fn server_restarts(&mut self, node: usize) {
        let line = &mut self.lines[node];
        line.replies.clear();
        line.id = line.id.map(|_| -1);
    }

    pub(super) fn loses_connection(&mut self, node: usize) {
        if self.lines[node].id.take().is_some() {
            self.lines[node].replies.clear();
            self.stage.breaks(node);
        }
    }
}
