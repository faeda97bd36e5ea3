//! What must happen, looked at every few milliseconds: `wanted` and `unwanted` look at what is at the masters, and this
//! page at what clients do besides: each request is answered, a master that could be reached is, and one that is silent
//! is dialled again, and a client without callers rests.

use super::agenda::LineId;
use super::client::{Client, name};
use super::clock::{millis, nanos};
use super::commands::Words;
use super::invariants::Verdict;
use super::network::ROOMY;
use super::world::World;
use quorumlock_core::quorum::agreement::HEARTBEAT;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// After a fault, a client is well again once its connection is as old as this.
pub(super) const WELL_AFTER: Duration = millis(1_500);

/// How often all that must happen is looked at.
const LOOKS_EVERY: Duration = millis(10);

/// A connection that answers at all has answered a vote of the client so long after that was sent.
const HAS_VOTED_AFTER: Duration = millis(500);

impl World {
    /// Checks what must happen, now and then.
    pub(super) fn judge_liveness(&mut self) -> Verdict {
        let now = self.agenda.now;
        let is_about_others = self.setup.flaw.is_some() && self.setup.jam.is_none();
        if now < self.looks_at || is_about_others || self.is_at_odds() {
            return Ok(());
        }
        self.looks_at = now + nanos(LOOKS_EVERY);
        self.judge_wanted()?;
        self.judge_unwanted()?;
        self.judge_answered()?;
        self.judge_reached()?;
        self.judge_silence()?;
        self.judge_subscribed()
    }

    /// Returns whether nothing has been wrong for so long.
    pub(super) fn is_untroubled(&self, grace: Duration) -> bool {
        let stepped = self.masters.iter().any(|master| master.clock.stepped != 0);
        let lame = self.clients.iter().any(|client| client.machine.is_some() && client.paused > 0);
        let down = self.masters.iter().any(|master| !master.reads());
        let recent = self.troubled_at.is_some_and(|at| self.agenda.now < at + nanos(grace));
        let disturbed = !self.cuts.is_empty() || !self.slowness.is_empty();
        !(stepped
            || lame
            || down
            || recent
            || disturbed
            || self.denials > 0
            || self.setup.may_strand())
    }

    /// Returns whether a client runs, and goes on.
    fn goes_on(client: &Client) -> bool {
        client.machine.is_some() && client.paused == 0 && !client.is_ending
    }

    /// Checks that each request is answered within its timeout, and the round that is under way then: once more from
    /// when a client that was stopped goes on.
    fn judge_answered(&mut self) -> Verdict {
        let mut lasting = BTreeMap::new();
        for (place, client) in self.clients.iter().enumerate().filter(|(_, at)| Self::goes_on(at)) {
            for (request, asked) in &client.asked {
                let within = self.setup.answered_within(asked.wait, asked.is_permit);
                lasting.insert((place, *request, client.resumed_at), within);
            }
        }
        self.invariants.unanswered.judge(self.agenda.now, lasting, |(place, request, _)| {
            format!("{} has had no answer to {request}", name(*place))
        })
    }

    /// Checks that each client reaches a master that it could, and one to which it has just lost a connection that was
    /// well at the first try.
    fn judge_reached(&mut self) -> Verdict {
        let (now, mut lasting, mut linked) = (self.agenda.now, BTreeMap::new(), BTreeSet::new());
        let (long, short) = (self.setup.reached_within(), self.setup.reached_again_within());
        for (place, client) in self.clients.iter().enumerate().filter(|(_, at)| Self::goes_on(at)) {
            for node in client.nodes.iter().copied() {
                let is_cut = self.cuts.iter().any(|cut| cut.is_between(client.seat, node));
                let is_slow = self.slowness.iter().any(|slow| slow.node == node);
                let master = &self.masters[node];
                // A handshake may need what it denies.
                let is_barred = master.is_replica || master.denials > 0;
                if is_cut || is_slow || !master.reads() || is_barred {
                    continue;
                }
                match client.lines[node].map(|id| &self.lines[id.0]) {
                    Some(line) => {
                        let has_voted = |at| now > at + nanos(HAS_VOTED_AFTER);
                        let is_well = line.has_answered && line.voted_at.is_some_and(has_voted);
                        if is_well && line.room >= ROOMY {
                            linked.insert((place, node));
                        }
                    }
                    None => {
                        let was_well = self.linked.contains(&(place, node));
                        if was_well {
                            linked.insert((place, node));
                        }
                        let longest = if was_well { short } else { long };
                        lasting.insert((place, node, was_well), longest);
                    }
                }
            }
        }
        self.linked = linked;
        // It may have lost the connection again.
        let opened = std::mem::take(&mut self.opened);
        lasting.retain(|(place, node, _), _| !opened.contains(&(*place, *node)));
        self.invariants.unreached.judge(now, lasting, |(place, node, _)| {
            format!("{} could reach n{}, and has not", name(*place), node + 1)
        })
    }

    /// Checks that a connection on which a master owes an answer is given up, once more from when a client that was
    /// stopped goes on.
    fn judge_silence(&mut self) -> Verdict {
        let (longest, mut lasting) = (self.setup.silent_within(), BTreeMap::new());
        for client in self.clients.iter().filter(|client| Self::goes_on(client)) {
            let lines = client.lines.iter().flatten();
            let silent = lines.filter(|id| self.lines[id.0].owes_answer);
            lasting.extend(silent.map(|id| ((*id, client.resumed_at), longest)));
        }
        // Each answer begins the time anew.
        let heard = std::mem::take(&mut self.heard);
        lasting.retain(|(id, _), _| !heard.contains(id));
        self.invariants
            .silent
            .judge(self.agenda.now, lasting, |(id, _)| format!("line {} is silent", id.0))
    }

    /// Checks that a client without callers listens to nothing but its mailbox.
    fn judge_subscribed(&mut self) -> Verdict {
        let (longest, mut lasting) = (self.setup.unsubscribed_within(), BTreeMap::new());
        for client in self.clients.iter().filter(|client| Self::goes_on(client)) {
            if client.open() > 0 {
                continue;
            }
            for (node, id) in client.lines.iter().enumerate() {
                let Some(id) = id.filter(|_| self.masters[node].reads()) else { continue };
                let channels = self.lines[id.0].channels.iter();
                let unwanted = channels.filter(|channel| !channel.contains('@'));
                lasting.extend(unwanted.map(|channel| ((id, channel.clone()), longest)));
            }
        }
        let lines = &self.lines;
        self.invariants.subscribed.judge(self.agenda.now, lasting, |(id, channel)| {
            format!("{} listens to {channel}, and wants nothing", name(lines[id.0].client))
        })
    }

    /// Notes what a client writes, and checks that one without callers writes little.
    pub(super) fn note_written(&mut self, id: LineId, words: &Words, votes: bool) -> Verdict {
        let now = self.agenda.now;
        let line = &mut self.lines[id.0];
        if votes {
            line.voted_at.get_or_insert(now);
        }
        let channel =
            |words: &Words| words.get(1).map(|word| String::from_utf8_lossy(word).into_owned());
        match &words[0][..] {
            b"SUBSCRIBE" => line.channels.extend(channel(words)),
            b"UNSUBSCRIBE" => {
                _ = channel(words).is_some_and(|channel| line.channels.remove(&channel))
            }
            _ => {}
        }
        let (place, node, opened) = (line.client, line.node, line.opened);
        let client = &self.clients[place];
        let is_idle = Self::goes_on(client)
            && client.open() == 0
            && client.load().debts == 0
            && now > client.asked_until.max(client.resumed_at).max(opened) + nanos(WELL_AFTER);
        if !is_idle || self.is_at_odds() {
            return Ok(());
        }
        self.invariants.rests.writes((place, node), now)
    }
}

/// How long a client without callers is subscribed to what it no longer wants: until its next heartbeat.
pub(super) const fn heartbeat(rest: Duration) -> Duration {
    let pace = if rest.as_nanos() > HEARTBEAT.as_nanos() { rest } else { HEARTBEAT };
    Duration::from_nanos((pace.as_nanos() as u64) / 5 * 6)
}
