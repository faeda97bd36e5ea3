//! The end of a world: everything ends, and the checks of what must be true then.

use super::client::{Client, name, owner};
use super::clock::{Time, millis, nanos};
use super::history::How;
use super::invariants::{Left, Load};
use super::judge::KEYS;
use super::master::MARK;
use super::plan::{Asked, Mode, RESOURCES};
use super::world::World;
use std::time::Duration;

/// The interval of the checks whether everything has come to rest.
const PACE: Duration = millis(50);

impl World {
    /// Settles the world: faults end by themselves, every client goes, then every lock must be
    /// available again.
    pub(super) fn settle(&mut self) {
        while self.violation.is_none() && self.agenda.now < self.calm_from {
            self.pass(self.calm_from);
        }
        self.say(|| "all is well, and every client goes".into());
        self.widen_lines();
        self.every_client_goes();
        self.only_one_kind_stays();
        self.come_to_rest();
        self.find_orphans();
        self.obtain_everything();
        self.come_to_rest();
        self.find_orphans();
        self.end_history();
    }

    fn end_history(&mut self) {
        for place in 0..self.clients.len() {
            let holds: Vec<u64> = self.clients[place].holds.keys().copied().collect();
            holds.into_iter().for_each(|hold| self.ends(place, hold, How::Open));
        }
        self.history.end(self.agenda.now);
    }

    fn every_client_goes(&mut self) {
        self.every_client_goes = true;
        for place in 0..self.clients.len() {
            self.cancel_adoptions(place);
            self.end_bursts(place);
            let asked: Vec<u64> = self.clients[place].asked.keys().copied().collect();
            asked.into_iter().for_each(|request| self.cancel_request(place, request));
            let holds = self.clients[place].holds.iter();
            let holds = holds.filter(|(_, held)| !held.is_given_up).map(|(hold, _)| *hold);
            for hold in holds.collect::<Vec<_>>() {
                self.give_up_hold(place, hold, Duration::ZERO, false);
            }
        }
    }

    fn recovered_by(&self) -> Time {
        let back = self.masters.iter().map(|master| master.clock.stepped.unsigned_abs()).max();
        self.agenda.now + nanos(self.setup.recovery()) + back.unwrap_or(0)
    }

    /// Waits until nothing is asked, owed or in flight.
    fn come_to_rest(&mut self) {
        let until = self.recovered_by();
        while self.violation.is_none() && self.agenda.now < until {
            self.pass(self.agenda.now + nanos(PACE));
            let under_way = self.lines.iter().any(|line| line.up.next_at().is_some());
            let rests = self.clients.iter().all(|client| client.load() == Load::default());
            let open = self.clients.iter().any(|client| client.open() > 0);
            if rests && !under_way && !open {
                return;
            }
        }
        for place in 0..self.clients.len() {
            let verdict = self.clients[place].load().judge_aftermath(&name(place));
            self.find(verdict);
        }
        self.find(Err("everything is over, and something is still waited for".into()));
    }

    fn find_orphans(&mut self) {
        let now = self.agenda.now;
        for node in 0..self.masters.len() {
            for key in self.masters[node].locks(now) {
                let Some(value) = self.masters[node].value(&key, now) else { continue };
                if value == MARK {
                    continue;
                }
                let remaining = self.masters[node].remaining(&key, now);
                let left = Left { node, key: &key, value, remaining };
                let verdict = left.judge_aftermath(self.expires(node, value));
                self.find(verdict);
            }
            for key in KEYS {
                for (reader, remaining) in self.masters[node].readers(key, now) {
                    let left = Left { node, key, value: &reader, remaining: Some(remaining) };
                    let verdict = left.judge_aftermath(self.expires(node, &reader));
                    self.find(verdict);
                }
            }
        }
    }

    /// Returns whether a value is meant to expire by itself. Where a clock was set back, it lives for
    /// longer than its owner owes the deletion.
    fn expires(&self, node: usize, value: &str) -> bool {
        let owner = owner(value).map(|owner| &self.clients[owner]);
        let ended = owner.is_some_and(|owner| owner.keys_expire);
        let is_set_back = self.masters[node].clock.stepped < 0;
        ended || is_set_back || self.kept.contains(value) || self.setup.may_strand()
    }

    /// Ends the clients that are at odds with a client that stays: their notes lapse, or are taken
    /// back.
    fn only_one_kind_stays(&mut self) {
        if !self.is_at_odds() || self.violation.is_some() {
            return;
        }
        let mut seats: Vec<usize> = (0..self.setup.seats()).collect();
        self.rng.shuffle(&mut seats);
        let mut stay: Vec<usize> = Vec::new();
        for seat in seats {
            let kind = self.setup.kind(seat);
            if !stay.iter().any(|other| kind.is_at_odds_with(self.setup.kind(*other))) {
                stay.push(seat);
            } else {
                self.say(|| format!("seat {seat} stays empty"));
                self.empty.insert(seat);
                self.end_client(seat, Duration::ZERO);
            }
        }
        let until = self.recovered_by();
        while self.violation.is_none()
            && self.agenda.now < until
            && !(0..self.setup.seats()).all(|seat| self.is_settled(seat))
        {
            self.pass(self.agenda.now + nanos(PACE));
        }
        let refused = (0..self.setup.seats()).find(|seat| !self.is_settled(*seat));
        if let Some(seat) = refused {
            self.find(Err(format!("all is well, and {} is refused", name(self.seats[seat]))));
        }
    }

    /// Returns whether the seat's client is there for good, or gone for good.
    fn is_settled(&self, seat: usize) -> bool {
        let client = &self.clients[self.seats[seat]];
        match client.machine {
            Some(_) => client.is_connected && !client.is_ending,
            None => self.empty.contains(seat),
        }
    }

    /// Lets every client acquire every lock, and give it back at once.
    fn obtain_everything(&mut self) {
        if self.violation.is_some() {
            return;
        }
        let until = self.recovered_by();
        let wait = Duration::from_nanos(until - self.agenda.now);
        for place in 0..self.clients.len() {
            if self.clients[place].machine.is_none() {
                continue;
            }
            if self.setup.kind(self.clients[place].seat).only_looks {
                continue;
            }
            self.clients[place].is_leaving = true;
            for (turn, keys) in RESOURCES.into_iter().enumerate() {
                let mode = match keys {
                    [_] => {
                        let modes = [Mode::Alone, Mode::Write, Mode::Read, Mode::Fair];
                        modes[(place / 2 + turn) % 4]
                    }
                    _ => Mode::Alone,
                };
                let fenced = self.setup.can_fence() && (place + turn) % 2 == 0;
                let asked = Asked {
                    keys,
                    fenced: fenced && mode != Mode::Read,
                    ttl: self.setup.kind(self.clients[place].seat).max_ttl,
                    lock_delay: Duration::ZERO,
                    wait,
                    keep_alive: None,
                    warm: Duration::ZERO,
                    at_least: Duration::ZERO,
                    is_permit: false,
                    mode,
                };
                self.acquire(place, asked);
            }
        }
        let all = |world: &Self| {
            let looks = |client: &Client| world.setup.kind(client.seat).only_looks;
            let has_all = |client: &Client| client.won == RESOURCES.len() || looks(client);
            world.clients.iter().all(|client| client.machine.is_none() || has_all(client))
        };
        while self.violation.is_none() && self.agenda.now < until && !all(self) {
            self.pass(self.agenda.now + nanos(PACE));
        }
        if self.violation.is_none() && !all(self) {
            self.find(Err("all is well, and a lock cannot be had in time".into()));
        }
    }
}
