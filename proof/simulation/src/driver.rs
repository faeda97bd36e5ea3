//! The work that the driver does for a machine: the same, in the same order, and as late.

use super::agenda::{Direction, Happening, LineId};
use super::client::name;
use super::clock::{Time, nanos};
use super::commands::{Deed, token};
use super::line::Piece;
use super::unwanted::LISTS;
use super::world::World;
use quorumlock_core::coordinator::Action;

impl World {
    /// Handles a client after an event: does what the machine asks, writes what it sends, and
    /// sleeps until its next wake-up.
    pub(super) fn turn(&mut self, client: usize) {
        if self.clients[client].paused > 0 {
            return;
        }
        self.act_for(client);
        self.match_queued(client);
        let hesitates = self.setup.hesitates;
        let state = &mut self.clients[client];
        if state.machine.is_some() && state.rng.chance(hesitates) {
            let later = state.rng.within(1_000..1_000_000);
            self.agenda.at(self.agenda.now + later, Happening::Writes(client));
            // The client writes later, and reads and decides in the meantime.
            state.rng = state.rng.fork();
        } else {
            self.write(client);
            self.act_for(client);
            self.match_queued(client);
        }
        self.note_met(client);
        self.end_if_paid(client);
        self.sleep(client);
        let verdict = self.judge_load(client);
        self.find(verdict);
    }

    fn act_for(&mut self, client: usize) {
        loop {
            let Some(machine) = &mut self.clients[client].machine else { return };
            if let Some(action) = machine.poll_action() {
                match action {
                    Action::Dial { node: own, epoch } => {
                        let node = self.clients[client].nodes[own];
                        self.begin_dial(client, node, epoch);
                    }
                    // No client has a provider of credentials there.
                    Action::Renew { .. } => {}
                    Action::Close { node: own, epoch } => {
                        let node = self.clients[client].nodes[own];
                        let line = self.clients[client].lines[node];
                        if let Some(id) = line.filter(|id| self.lines[id.0].epoch == epoch) {
                            self.hang_up(id);
                            self.note_break(client, node);
                        }
                    }
                }
            } else if let Some(event) = machine.poll_event() {
                self.note(client, event);
            } else {
                return;
            }
        }
    }

    fn write(&mut self, client: usize) {
        for node in 0..self.masters.len() {
            let Some(id) = self.clients[client].lines[node] else { continue };
            self.write_to(client, node, id);
        }
    }

    fn write_to(&mut self, client: usize, node: usize, id: LineId) {
        let local = self.clients[client].clock.at(self.agenda.now);
        let own = self.clients[client].own(node);
        loop {
            let Some(machine) = &mut self.clients[client].machine else { return };
            let line = &mut self.lines[id.0];
            let (epoch, bytes) = machine.transmit(own);
            if bytes.is_empty() || epoch != line.epoch {
                return;
            }
            let room = line.room.saturating_sub(line.up.unread);
            let taken = bytes.len().min(room).min(line.portion());
            if taken == 0 {
                line.is_full = true;
                return;
            }
            line.owes_answer = true;
            let bytes = bytes[..taken].to_vec();
            machine.handle_written(local, own, epoch, taken);
            self.match_written((client, node, epoch), taken);
            let ends = [client as u8, node as u8];
            self.sum = ends.iter().chain(&bytes).fold(self.sum, |sum, byte| {
                (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
            self.look_at(id, &bytes);
            self.send(id, Direction::ToMaster, Piece::Bytes(bytes));
        }
    }

    /// Reads what a client writes, command by command.
    fn look_at(&mut self, id: LineId, bytes: &[u8]) {
        let client = self.lines[id.0].client;
        self.lines[id.0].written.receive(bytes);
        while let Some(words) = self.lines[id.0].written.next() {
            let about = Deed::of(&words);
            if self.is_at_odds() && matches!(about, Deed::Acquire | Deed::Extend) {
                self.sends(id, &token(&words));
            }
            if about == Deed::Acquire {
                let verdict = self.judge_fair_try(client, &words);
                self.find(verdict);
            }
            if self.setup.flaw.is_none() {
                let votes = matches!(about, Deed::Acquire | Deed::Extend);
                let verdict = self.note_written(id, &words, votes);
                let verdict = verdict.and_then(|()| self.judge_own(id, &words, about));
                self.find(verdict);
            }
            let line = &mut self.lines[id.0];
            if about == Deed::Extend {
                let token = token(&words);
                let verdict = self.invariants.keepers.extends(&token, line.opened, &line.released);
                self.find(verdict);
            } else if matches!(about, Deed::Release | Deed::Shorten) {
                let token = token(&words);
                // A forced release may delete another client's key: its holder does not know of it, and may
                // still give what was idle to its next guard.
                if !self.invariants.owners.is_named(&token) {
                    self.invariants.never_again.releases(&token);
                    line.released.insert(token);
                }
            } else if words.iter().any(|word| word.starts_with(LISTS.as_bytes())) {
                line.waiters.insert(token(&words));
            }
            if self.is_loud() {
                self.log_command(id, &words);
            }
        }
    }

    fn log_command(&mut self, id: LineId, words: &[Vec<u8>]) {
        let (from, to) = (name(self.lines[id.0].client), self.lines[id.0].node + 1);
        let verb = String::from_utf8_lossy(&words[0]);
        let (about, skips) = (Deed::of(words), Deed::skips(words));
        let called = match (about, skips) {
            (_, 1) => verb.into_owned(),
            (about, _) => format!("{verb} {about:?}"),
        };
        let rest = words.iter().skip(skips).take(8).map(|word| String::from_utf8_lossy(word));
        let rest: Vec<_> = rest.collect();
        let rest = match about {
            Deed::Agree => String::new(),
            _ if words[0] == b"SCRIPT" => String::new(),
            _ => rest.join(" "),
        };
        let line = id.0;
        self.say(|| format!("{from} > n{to} ({line})  {called} {rest}"));
    }

    // Time.

    fn sleep(&mut self, client: usize) {
        let (now, most) = (self.agenda.now, nanos(self.setup.lateness));
        let state = &mut self.clients[client];
        let Some(machine) = &state.machine else { return };
        let Some(due) = machine.due_at() else {
            state.wakes_at = None;
            return;
        };
        if state.wakes_at.is_some_and(|(planned, _)| planned == due) {
            return;
        }
        let late = if most == 0 { 0 } else { state.rng.within(0..most) };
        let at = state.clock.when(due).max(now) + late;
        state.wakes_at = Some((due, at));
        self.agenda.at(at, Happening::Wakes { client, at });
    }

    pub(super) fn wakes(&mut self, client: usize, at: Time) {
        let state = &mut self.clients[client];
        // The timer was set again since then; or the client is held up, and wakes when it goes on.
        if state.paused > 0 || state.wakes_at.is_none_or(|(_, planned)| planned != at) {
            return;
        }
        let now = state.clock.at(self.agenda.now);
        if let Some(machine) = &mut state.machine {
            machine.handle_caught_up(now);
        }
        self.expire(client);
    }

    /// Lets timers fire; bytes that have arrived may not have been read yet.
    pub(super) fn expire(&mut self, client: usize) {
        let now = self.agenda.now;
        let state = &mut self.clients[client];
        state.wakes_at = None;
        let local = state.clock.at(now);
        if let Some(machine) = &mut state.machine {
            machine.handle_timeout(local);
        }
        self.turn(client);
    }
}
