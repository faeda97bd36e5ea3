//! The knowledge that a client could have of clients with different settings, when it sent its
//! winning commands.
//!
//! Clients at odds report their settings to each other through the masters that they have in
//! common. Two without a list in common may both be valid only under a condition: neither of them,
//! when it sent, had a link up to a master of its lists that had the other's note. Where only the
//! numbers differ, the later client must have had no such link, and the earlier one must not have
//! sent to a master with the later one's note. What it had won by was lost with the memory of those
//! masters. Everything else is a violation.
//!
//! A link is up once nothing was wrong with it for a while: dialling and the report may take that
//! long. A client whose line breaks in silence finds that out by its next heartbeat.

use super::agenda::{Direction, LineId};
use super::client::{Client, name};
use super::clock::{Time, millis, nanos};
use super::invariants::{OwnerOnly, Verdict};
use super::setup::{DRIFT, Setup};
use super::world::World;
use quorumlock_core::quorum::{Instant, LONGEST_SILENCE, NodeSet};
use quorumlock_core::status::NodeStanding;
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest pause before a dial, the dial, a handshake.
const GRACE: Duration = millis(4_500);

/// The kinds of clients, by their seats.
type Kinds = NodeSet;

/// One command by which a lock is acquired or extended, as it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Time,
    /// The kinds whose notes were at masters to which a link was up.
    heard_of: Kinds,
    /// The kinds whose notes were at the masters that the commands of this round were sent to.
    beside: Kinds,
}

/// The ground of a valid hold.
#[derive(Clone, Copy, Debug)]
struct Ground {
    seat: usize,
    sent: Sent,
}

/// The grounds, by the tokens of the locks.
#[derive(Default)]
pub(super) struct Grounds(BTreeMap<String, Ground>);

impl World {
    pub(super) const fn is_at_odds(&self) -> bool {
        self.setup.story.is_some()
    }

    // Links.

    /// Notes what is wrong with the links at present.
    pub(super) fn note_disturbances(&mut self) {
        if !self.is_at_odds() {
            return;
        }
        for client in 0..self.clients.len() {
            for node in 0..self.masters.len() {
                if !self.is_undisturbed(client, node) {
                    self.clients[client].disturbed[node] = self.agenda.now;
                }
            }
        }
    }

    /// Notes that something has been wrong with one link just now.
    pub(super) fn disturb(&mut self, client: usize, node: usize) {
        self.clients[client].disturbed[node] = self.agenda.now;
    }

    /// Notes that the client has closed its end, or found it broken: it dials again. If it did so
    /// because it was notified of others, it knows.
    pub(super) fn note_break(&mut self, client: usize, node: usize) {
        if !self.is_at_odds() {
            return;
        }
        self.clients[client].unread.insert(node);
        let (own, local) = (self.clients[client].own(node), self.local(client));
        let status =
            self.clients[client].machine.as_ref().map(|machine| machine.masters().status(local));
        let standing = status.as_ref().map(|status| &status.nodes()[own].standing);
        let is_notified = matches!(standing, Some(NodeStanding::Disagrees(_)));
        if !is_notified {
            self.disturb(client, node);
        }
    }

    fn is_undisturbed(&self, client: usize, node: usize) -> bool {
        let is_cut = |direction| self.is_cut(client, node, direction);
        self.masters[node].reads()
            && ![Direction::ToMaster, Direction::ToClient].into_iter().any(is_cut)
            && !self.slowness.iter().any(|slow| slow.node == node)
    }

    fn is_up(&self, client: usize, node: usize) -> bool {
        let (since, line) =
            (self.clients[client].disturbed[node], self.clients[client].lines[node]);
        let is_broken = line.is_some_and(|id| self.lines[id.0].server.is_none());
        let grace = if is_broken { LONGEST_SILENCE } else { GRACE };
        self.is_undisturbed(client, node) && self.agenda.now >= since + nanos(grace)
    }

    /// Notes the faults that happened while a client was stopped: it finds out when it goes on.
    pub(super) fn note_resumed(&mut self, client: usize) {
        let (now, since) = (self.agenda.now, self.clients[client].paused_at);
        let late = self.clients[client].disturbed.iter_mut().filter(|at| **at >= since);
        late.for_each(|at| *at = now);
    }

    // Notes.

    /// Notes, after a master has executed something, since when each note has been there.
    pub(super) fn note_notes(&mut self, node: usize) {
        if !self.is_at_odds() {
            return;
        }
        for seat in 0..self.setup.seats() {
            let stands = self.stands(node, seat);
            let since = &mut self.noted[node][seat];
            *since = stands.then(|| since.unwrap_or(self.agenda.now));
        }
    }

    /// Returns whether the note of a seat's kind is at a master.
    pub(super) fn stands(&self, node: usize, seat: usize) -> bool {
        let master = &self.masters[node];
        let noted = master.noted(self.agenda.now);
        let wall = master.clock.at(self.agenda.now);
        self.setup.kind(seat).stands_in(noted, wall)
    }

    /// Checks that a refused client has taken back each note that a master confirmed to it, unless
    /// there was another client of its kind before it.
    pub(super) fn judge_withdrawal(&self, place: usize) -> Verdict {
        let kind = self.setup.kind(self.clients[place].seat);
        let is_alike = |client: &&Client| self.setup.kind(client.seat) == kind;
        let others = self.clients.iter().enumerate().filter(|(other, _)| *other != place);
        let mut others = others.map(|(_, client)| client).filter(is_alike);
        if others.any(|other| !other.is_refused || other.keys_expire) {
            return Ok(());
        }
        let alike = self.clients.iter().filter(is_alike).map(|client| client.unread);
        let unread = alike.fold(NodeSet::EMPTY, NodeSet::union);
        let mut nodes = kind.nodes().into_iter().filter(|node| !unread.contains(*node));
        match nodes.find(|node| self.stands(*node, self.clients[place].seat)) {
            None => Ok(()),
            Some(node) => {
                let client = name(place);
                Err(format!("{client} was refused, and what it has noted stands at n{}", node + 1))
            }
        }
    }

    /// Returns whether the note is there, and every client with a link to the master has been
    /// notified of it.
    fn is_notified_of(&self, node: usize, seat: usize) -> bool {
        // Of two kinds, the client that noted second was notified at once. With three, the third
        // may keep a note out, and the client that is kept out asks again in time.
        let at_once = self.setup.seats() < 3;
        let since = self.noted[node][seat];
        let late = |since| self.agenda.now >= since + nanos(LONGEST_SILENCE);
        self.stands(node, seat) && since.is_some_and(|since| at_once || late(since))
    }

    // What was sent.

    fn at_odds_with(&self, seat: usize) -> impl Iterator<Item = usize> {
        let others = 0..self.setup.seats();
        others.filter(move |other| self.setup.kind(seat).is_at_odds_with(self.setup.kind(*other)))
    }

    /// Notes that a client writes a command by which `token` is acquired or extended.
    pub(super) fn sends(&mut self, id: LineId, token: &str) {
        if !self.is_at_odds() {
            return;
        }
        let line = &self.lines[id.0];
        let (place, node, at) = (line.client, line.node, self.agenda.now);
        let (seat, alive) = (self.clients[place].seat, line.server.is_some());
        let nodes = self.setup.kind(seat).nodes();
        let up: Vec<usize> = nodes.into_iter().filter(|node| self.is_up(place, *node)).collect();
        let heard = |seat: &usize| up.iter().any(|node| self.is_notified_of(*node, *seat));
        let heard_of: Kinds = self.at_odds_with(seat).filter(heard).collect();
        let beside = |seat: &usize| alive && self.stands(node, *seat);
        let beside: Kinds = self.at_odds_with(seat).filter(beside).collect();
        self.sent.entry(token.to_owned()).or_default().push(Sent { at, heard_of, beside });
    }

    /// Notes the ground of a hold: from now on it is the round that brought `token` this deadline.
    pub(super) fn rests(&mut self, place: usize, token: &str, ttl: Duration, deadline: Instant) {
        if !self.is_at_odds() {
            return;
        }
        let client = &self.clients[place];
        let validity = nanos(ttl.saturating_sub(DRIFT.of(ttl)));
        let started = Instant::from_nanos(deadline.as_nanos().saturating_sub(validity));
        let started = client.clock.when(started).saturating_sub(1_000);
        let sent = self.sent.get(token).map(Vec::as_slice).unwrap_or_default();
        let mut round = sent.iter().filter(|sent| sent.at >= started);
        let Some(first) = round.next() else { return };
        let beside = round.fold(first.beside, |beside, sent| beside.union(sent.beside));
        let sent = Sent { beside, ..*first };
        self.grounds.0.insert(token.to_owned(), Ground { seat: client.seat, sent });
    }
}

impl Grounds {
    /// Returns whether a lock may be won while `other` is held: either was taken away by force, or both may be valid.
    pub(super) fn excuse_or_forced(
        &self,
        (setup, owners): (&Setup, &OwnerOnly),
        token: &str,
        other: &str,
    ) -> bool {
        owners.is_named(token) || owners.is_named(other) || self.excuse(setup, token, other)
    }

    /// Returns whether two locks may both be valid: their holders are at odds, and could not know.
    pub(super) fn excuse(&self, setup: &Setup, token: &str, other: &str) -> bool {
        let (Some(own), Some(other)) = (self.0.get(token), self.0.get(other)) else {
            return false;
        };
        let (ours, theirs) = (setup.kind(own.seat), setup.kind(other.seat));
        let neither_knew =
            !own.sent.heard_of.contains(other.seat) && !other.sent.heard_of.contains(own.seat);
        if !ours.shares_a_list(theirs) && neither_knew {
            return true;
        }
        let (earlier, later) =
            if own.sent.at <= other.sent.at { (own, other) } else { (other, own) };
        !ours.shares_numbers(theirs)
            && !later.sent.heard_of.contains(earlier.seat)
            && !earlier.sent.beside.contains(later.seat)
    }
}
