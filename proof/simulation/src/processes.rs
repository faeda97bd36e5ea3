//! Clients as processes: they go on after a pause, are killed, or end as they should.

use super::agenda::{End, Happening};
use super::client::name;
use super::clock::{millis, nanos};
use super::flaw::Flaw;
use super::history::How;
use super::setup::LATEST_RETURN;
use super::world::World;
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Admission;
use std::time::Duration;

impl World {
    /// Continues a client with what has arrived in the meantime: callers first, then bytes, then
    /// timers.
    pub(super) fn resume(&mut self, place: usize) {
        let now = self.agenda.now;
        let client = &mut self.clients[place];
        client.paused -= 1;
        if client.paused > 0 || client.machine.is_none() {
            return;
        }
        self.history.paused.push((name(place), client.paused_at, now));
        client.resumed_at = now;
        if self.setup.flaw == Some(Flaw::ClocksStop) {
            let stood_still = client.clock.at(now).since(client.clock.at(client.paused_at));
            client.clock.origin -= nanos(stood_still);
        }
        self.note_resumed(place);
        let client = &mut self.clients[place];
        let timers_first = client.rng.chance(25);
        let waiting = std::mem::take(&mut client.waiting);
        waiting.into_iter().for_each(|happening| self.agenda.at(now, happening));
        if timers_first {
            return self.expire(place);
        }
        // After everything that has arrived by now.
        self.release_held();
        let due = self.clients[place].machine.as_ref().and_then(Coordinator::due_at);
        self.clients[place].wakes_at = due.map(|due| (due, now));
        self.agenda.at(now, Happening::Wakes { client: place, at: now });
    }

    pub(super) fn kill_client(&mut self, seat: usize, back_after: Duration) {
        let place = self.seats[seat];
        if self.clients[place].machine.is_none() || self.clients[place].is_ending {
            return;
        }
        let holds: Vec<u64> = self.clients[place].holds.keys().copied().collect();
        holds.into_iter().for_each(|hold| self.ends(place, hold, How::Killed));
        self.is_gone(place, true);
        self.ends_after(back_after, End::Absence(seat));
    }

    /// Ends a client: its guards are dropped. It is gone once it owes nothing, or when it has tried
    /// long enough.
    pub(super) fn end_client(&mut self, seat: usize, back_after: Duration) {
        let place = self.seats[seat];
        let client = &self.clients[place];
        if client.machine.is_none() || client.is_ending || client.paused > 0 {
            return;
        }
        // A lock that is kept warm goes to the next guard here at once, which is dropped, too.
        while let Some((&hold, held)) = self.clients[place].holds.iter().next() {
            match held.is_given_up {
                true => self.hear(place, hold),
                false => self.give_up_hold(place, hold, Duration::ZERO, false),
            }
        }
        let local = self.local(place);
        let client = &mut self.clients[place];
        client.asked.clear();
        client.burst.clear();
        client.detaching.clear();
        client.adopting.clear();
        client.is_ending = true;
        if let Some(machine) = &mut client.machine {
            machine.handle_shutdown(local);
        }
        let linger = self.setup.linger();
        self.ends_after(linger, End::Linger(place));
        self.ends_after(linger + back_after, End::Absence(seat));
        self.turn(place);
    }

    /// Handles a client whose masters have all been tried, for callers that wait for that. If
    /// another client has different settings, this client withdraws and takes back what it has
    /// noted. A successor tries again later.
    pub(super) fn connected(&mut self, place: usize) {
        if !self.is_at_odds() {
            return;
        }
        let local = self.local(place);
        let client = &mut self.clients[place];
        let seat = client.seat;
        let Some(machine) = &mut client.machine else { return };
        if machine.masters().admission(local, false) != Admission::Disagreement {
            client.is_connected = true;
            return;
        }
        machine.handle_withdraw(local);
        client.is_refused = true;
        let later = client.rng.duration(millis(1_000)..LATEST_RETURN);
        self.say(|| format!("{} is refused", name(place)));
        // Not a fault: this goes on as long as the others are there.
        let calm_from = self.calm_from;
        self.end_client(seat, later);
        self.calm_from = calm_from;
    }

    pub(super) fn end_if_paid(&mut self, place: usize) {
        let client = &self.clients[place];
        if client.is_ending
            && client.machine.as_ref().is_some_and(|machine| machine.masters().is_drained())
        {
            self.is_gone(place, false);
        }
    }

    /// Removes a client. What it has written is still in flight; nothing else is left of it.
    pub(super) fn is_gone(&mut self, place: usize, keys_expire: bool) {
        let client = &mut self.clients[place];
        if client.machine.take().is_none() {
            return;
        }
        client.keys_expire = keys_expire;
        client.holds.clear();
        client.asked.clear();
        client.burst.clear();
        client.detaching.clear();
        client.adopting.clear();
        client.inspected.clear();
        client.awaited.clear();
        client.waiting.clear();
        let lines: Vec<_> = client.lines.iter().flatten().copied().collect();
        self.say(|| format!("{} is gone", name(place)));
        lines.into_iter().for_each(|id| self.hang_up(id));
        if self.clients[place].is_refused && !keys_expire {
            let verdict = self.judge_withdrawal(place);
            self.find(verdict);
        }
    }
}
