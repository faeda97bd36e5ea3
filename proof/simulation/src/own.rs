//! What a client writes on its own: checked against what its callers want.

use super::agenda::LineId;
use super::client::name;
use super::clock::{Time, millis, nanos};
use super::commands::{Deed, Script, Words, split, token};
use super::invariants::Verdict;
use super::network::ROOMY;
use super::plan::Mode;
use super::world::World;
use std::time::Duration;

/// How long what was asked for is still written after its caller has gone: a client may write later.
const WRITTEN_BY: Duration = millis(400);

impl World {
    /// Checks a command that a client writes.
    pub(super) fn judge_own(&mut self, id: LineId, words: &Words, deed: Deed) -> Verdict {
        let line = &self.lines[id.0];
        let (client, node) = (line.client, line.node);
        let may_hurry = self.is_calm || self.setup.jam.is_some();
        if !may_hurry && (deed == Deed::Acquire || Deed::waiter(words).is_some()) {
            let longest_pause = self.setup.longest_pause;
            let open = self.clients[client].open();
            self.invariants.paced.writes((client, node), self.agenda.now, (open, longest_pause))?;
        }
        let token = token(words);
        match deed {
            Deed::Acquire => {
                self.invariants.given_back.tries(&token, (node, id.0), self.agenda.now);
                let tried = self.invariants.own.tries(&token, node);
                self.judge_try(id, words, &token, tried)
            }
            Deed::Extend => {
                self.note_downgrade(client, words, &token);
                Ok(())
            }
            Deed::Release => {
                let (now, idle) = (self.agenda.now, self.idle_since(id));
                self.invariants.given_back.gives_back(&token, (node, id.0), now, idle)
            }
            _ => Ok(()),
        }
    }

    /// Returns since when no caller has wanted anything of the client of a line that takes all at
    /// once.
    fn idle_since(&self, id: LineId) -> Option<Time> {
        let line = &self.lines[id.0];
        let client = &self.clients[line.client];
        let is_idle = client.open() == 0 && !client.is_ending && client.machine.is_some();
        (is_idle && !self.is_calm && line.room >= ROOMY)
            .then(|| client.asked_until.max(client.resumed_at))
    }

    fn judge_try(
        &self,
        id: LineId,
        words: &Words,
        token: &str,
        (was_tried, was_tried_there): (bool, bool),
    ) -> Verdict {
        let line = &self.lines[id.0];
        let place = line.client;
        let client = &self.clients[place];
        let reads = Script::of(words) == Some(Script::Acquire);
        let local = client.clock.at(self.agenda.now);
        let held = client.holds.values().find(|held| held.token == token);
        let is_late = held.is_some_and(|held| was_tried_there || line.opened > held.won_at);
        if reads && is_late && held.is_some_and(|held| held.is_valid(local)) {
            let is_top_up = split(words).1.get(2).is_some_and(|word| word == b"1");
            return match is_top_up {
                true => Ok(()),
                false => Err(format!("{token} reads, and asks as if it were not in")),
            };
        }
        if was_tried || reads || client.is_ending || client.machine.is_none() {
            return Ok(());
        }
        let since: Time = client.asked_until.max(client.resumed_at);
        // A line that is narrow, or was until all is well, takes late what was asked for long ago, and its
        // caller may have won with another token since.
        if line.room < ROOMY || self.is_calm {
            return Ok(());
        }
        if client.asked.is_empty()
            && client.burst.is_empty()
            && self.agenda.now > since + nanos(WRITTEN_BY)
        {
            return Err(format!("{} tries {token}, and no caller wants it", name(place)));
        }
        let (keys, _) = split(words);
        let concerns = |key: &&str| keys.iter().any(|word| word == key.as_bytes());
        let mine = client.holds.values().find(|held| {
            held.is_valid(local)
                && !held.is_given_up
                && !self.adopters.contains_key(&held.token)
                && held.asked.mode != Mode::Read
                && held.asked.keys.iter().any(concerns)
        });
        match mine {
            Some(held) => Err(format!("{token} is tried beside {}, by one client", held.token)),
            None => Ok(()),
        }
    }

    /// Notes that a writer has asked a master to make it a reader.
    fn note_downgrade(&mut self, place: usize, words: &Words, token: &str) {
        if Script::of(words) == Some(Script::Extend) {
            let mut holds = self.clients[place].holds.values_mut();
            if let Some(held) = holds.find(|held| held.token == token && held.downgrades.is_some())
            {
                held.downgrades = Some(true);
            }
        }
    }

    /// Checks that no master has made a reader of a writer whose caller hears that it writes still.
    pub(super) fn judge_writer(&self, token: &str) -> Verdict {
        let now = self.agenda.now;
        for (node, master) in self.masters.iter().enumerate() {
            for key in super::judge::KEYS {
                if master.readers(key, now).iter().any(|(reader, _)| reader == token) {
                    let at = node + 1;
                    return Err(format!("{token} writes still, and reads {key} on n{at}"));
                }
            }
        }
        Ok(())
    }
}
