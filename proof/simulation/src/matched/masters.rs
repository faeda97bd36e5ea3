//! What masters execute, and what they have then.

use super::fences::nanos_of_micros;
use super::lock::{Found, Kind, Seen};
use super::readers::Shared;
use super::several::Place;
use super::{Connection, Scope, counts, exact, of_resource, resources};
use crate::clock::{Time, WallClock};
use crate::commands::{Words, token};
use crate::judge::KEYS;
use crate::master::{FENCE, MARK};
use crate::world::World;
use evaluator::Element;
use quorumlock_core::coordinator::wire::DONE;
use std::time::Duration;

impl World {
    /// Matches what a master has executed.
    pub(in super::super) fn match_executed(
        &mut self,
        line: Connection,
        words: &Words,
        answer: &[u8],
    ) {
        let result = self.matched.connections.runs(self.agenda.now as i64, line, words);
        self.find_unmatched(result);
        self.match_found(line, words, answer);
        self.match_voted(line, words, answer);
        if !self.matched.is_on() {
            return;
        }
        let asked = self.matched.take_asked(line, words);
        let (node, now) = (line.1, self.agenda.now);
        let acting = token(words);
        // What a command does not name it does not change.
        let named = resources(words);
        let answered = |room: usize| (asked[room], counts(answer));
        if let Some(room) = self.matched.locks.iter().position(|lock| lock.kind == Kind::Several) {
            let places: Vec<Place> = named.iter().map(|key| self.place(node, key, now)).collect();
            let lock = &mut self.matched.locks[room];
            let result =
                lock.executes_all(now as i64, node as Element, answered(room), &acting, &places);
            let result = result.map_err(|wrong| of_resource(&named.join(", "), &wrong, lock));
            self.find_unmatched(result);
        }
        for key in named {
            let at = KEYS.iter().position(|known| *known == key).unwrap_or(0);
            let (found, shared) = (self.found(node, key, now), self.shared(node, key, now));
            let seen = Seen {
                found: found.as_ref(),
                fence: self.fence(node, key, now),
                shared: shared.as_ref(),
                acting: &acting,
            };
            for room in (at..asked.len()).step_by(KEYS.len()) {
                let lock = &mut self.matched.locks[room];
                if lock.kind == Kind::Several {
                    continue;
                }
                if lock.is_behind_end(node as Element, &acting) {
                    return self.matched.end(Scope::Forced);
                }
                let result = lock.executes(now as i64, node as Element, answered(room), &seen);
                let result = result.map_err(|wrong| of_resource(key, &wrong, lock));
                self.find_unmatched(result);
            }
        }
    }

    /// Returns what a master has of a resource.
    fn place(&self, node: usize, key: &str, now: Time) -> Place {
        let at = KEYS.iter().position(|known| *known == key).unwrap_or(0);
        let (found, fence) = (self.found(node, key, now), self.fence(node, key, now));
        Place { key: at as Element, found, fence }
    }

    /// Returns the mark of readers at a master, and those under it.
    fn shared(&self, node: usize, key: &str, now: Time) -> Option<Shared> {
        let master = &self.masters[node];
        let left = master.remaining(key, now).filter(|_| master.raw(key, now) == Some(MARK))?;
        let ends = |left: Duration| exact::ends(master.clock, now, left);
        let readers = master.readers(key, now).into_iter();
        Some(Shared {
            ends: ends(left),
            readers: readers.map(|(reader, left)| (reader, ends(left))).collect(),
        })
    }

    /// Returns the key of the page at a master, if there is one.
    fn found(&self, node: usize, key: &str, now: Time) -> Option<Found> {
        let master = &self.masters[node];
        let value = master.raw(key, now)?;
        let left = master.remaining(key, now).filter(|_| value != MARK)?;
        let clock: WallClock = master.clock;
        let token = value.strip_prefix(DONE);
        let (token, is_done) = (token.unwrap_or(value).to_owned(), token.is_some());
        Some(Found { token, ends: exact::ends(clock, now, left), is_done })
    }

    /// Returns the fence of a resource at a master, or nothing.
    fn fence(&self, node: usize, key: &str, now: Time) -> i64 {
        let fence = self.masters[node].raw(&format!("{FENCE}{key}"), now);
        fence.and_then(|text| text.parse().ok()).map_or(0, nanos_of_micros)
    }

    /// The clock of a master was set back: its keys live longer.
    pub(in super::super) fn match_set_back(&mut self, node: usize) {
        if !self.matched.is_on() {
            return;
        }
        let now = self.agenda.now;
        let found = KEYS.map(|key| self.found(node, key, now));
        let mut each = found.iter().cycle();
        let result = self.matched.each(&KEYS, |lock| match each.next() {
            _ if lock.kind == Kind::Several => {
                lock.all_live_longer(now as i64, node as Element, &found)
            }
            Some(Some(found)) => lock.lives_longer(now as i64, node as Element, found),
            _ => Ok(()),
        });
        self.find_unmatched(result);
    }

    pub(in super::super) fn match_restart(&mut self, node: usize) {
        let now = self.agenda.now as i64;
        self.match_forgotten(node);
        let result = self.matched.each(&KEYS, |lock| lock.restarts(now, node as Element));
        self.find_unmatched(result);
    }
}
