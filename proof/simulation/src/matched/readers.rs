//! What only page `readers` has: the mark, the readers under it, and writers that become readers.

use super::lock::{Asked, Kind, Lock, Seen};
use evaluator::{Change, Element};

/// The mark under a key, and the readers that live.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) ends: i64,
    pub(super) readers: Vec<(String, i64)>,
}

impl Lock {
    /// A caller makes its writer a reader: its leases end here.
    pub(super) fn downgrades(&mut self, now: i64, name: &str) -> Result<(), String> {
        // One that was taken away by force asks in vain.
        let Some(token) = self.covered(name).filter(|_| self.kind == Kind::Readers) else {
            return Ok(());
        };
        let state = &self.steps.state;
        // One that has lapsed asks no master.
        if state.is("asked", &[token]) || now >= state.value("deadline", &[token]) {
            return Ok(());
        }
        self.tick(now)?;
        let to = self.steps.state.to("asked", &[token], 1);
        self.steps.step("downgrade", &[("t0", token)], &[to])
    }

    /// A caller hears that it is a writer still.
    pub(super) fn writes_again(&mut self, now: i64, name: &str) -> Result<(), String> {
        let Some(token) = self.covered(name).filter(|_| self.kind == Kind::Readers) else {
            return Ok(());
        };
        self.tick(now)?;
        let to = self.steps.state.to("asked", &[token], 0);
        self.steps.step("downgrade_undone", &[("t0", token)], &[to])
    }

    /// Returns whether a master has the key of a token that was taken away by force: which may become
    /// a reader's (seed 0x18b94144b9f2d634).
    pub(super) fn is_left_somewhere(&mut self, name: &str) -> bool {
        let token = self.token(name).filter(|token| self.known[*token as usize].has_left);
        self.kind == Kind::Readers
            && token.is_some_and(|token| {
                self.steps.state.live("Node").iter().any(|node| self.is_under(&[*node], token))
            })
    }

    pub(super) fn is_reader_somewhere(&self, token: Element) -> bool {
        let state = &self.steps.state;
        let mut nodes = state.live("Node").iter();
        self.kind == Kind::Readers && nodes.any(|node| state.is("among", &[*node, token]))
    }

    /// Returns what changes where a master has come back empty.
    pub(super) fn has_no_readers(&mut self, node: Element) -> Vec<Change> {
        let readers = self.readers(node);
        let state = &self.steps.state;
        let gone = readers.iter().map(|reader| state.to("among", &[node, *reader], 0));
        gone.chain([state.to("mark", &[node], 0)]).collect()
    }

    /// A master has executed a command.
    pub(super) fn executes_readers(
        &mut self,
        now: i64,
        node: Element,
        asked: (Asked, bool),
        seen: &Seen<'_>,
    ) -> Result<(), String> {
        self.expires(now, node)?;
        let found = seen.found.filter(|found| !found.is_done);
        match (seen.shared, found) {
            (Some(shared), _) => self.is_shared(now, node, asked, (shared, seen.acting)),
            (None, Some(found)) => {
                let token = self.token(&found.token);
                let token = token.ok_or_else(|| format!("{} was never begun", found.token))?;
                match self.is_under(&[node], token) {
                    true => {
                        let ends = self.steps.state.value("ends", &[node]);
                        self.prolongs(now, node, asked, (token, ends, found.ends))
                    }
                    false => {
                        self.tick(now)?;
                        self.sets(now, node, asked.0, (token, found.ends), 0)
                    }
                }
            }
            (None, None) if self.steps.state.is("has", &[node]) => {
                self.tick(now)?;
                let key = self.steps.state.value("key", &[node]);
                let to = self.steps.state.to("has", &[node], 0);
                self.steps.step("release_write", &[("n0", node), ("t0", key)], &[to])
            }
            (None, None) if self.steps.state.is("mark", &[node]) => {
                let Some(token) = self.token(seen.acting) else { return Ok(()) };
                self.tick(now)?;
                let state = &self.steps.state;
                let to = [state.to("among", &[node, token], 0), state.to("mark", &[node], 0)];
                self.steps.step("release_last", &[("n0", node), ("t0", token)], &to)
            }
            (None, None) => {
                self.steps.stutters += 1;
                Ok(())
            }
        }
    }

    /// Keys, marks and readers are over whose lives are.
    fn expires(&mut self, now: i64, node: Element) -> Result<(), String> {
        for (what, ends, action) in
            [("has", "ends", "expire"), ("mark", "mark_ends", "mark_expires")]
        {
            let state = &self.steps.state;
            if state.is(what, &[node]) && now >= state.value(ends, &[node]) {
                self.tick(now)?;
                let to = self.steps.state.to(what, &[node], 0);
                self.steps.step(action, &[("n0", node)], &[to])?;
            }
        }
        for token in self.readers(node) {
            if now >= self.steps.state.value("reads_until", &[node, token]) {
                self.tick(now)?;
                let to = self.steps.state.to("among", &[node, token], 0);
                self.steps.step("purge", &[("n0", node), ("t0", token)], &[to])?;
            }
        }
        Ok(())
    }

    /// Returns the readers at a master, and lets the page see all of them.
    fn readers(&mut self, node: Element) -> Vec<Element> {
        let all = 0..self.known.len() as Element;
        let among = all.filter(|token| self.steps.state.is("among", &[node, *token]));
        let among: Vec<Element> = among.collect();
        among.iter().for_each(|token| self.steps.state.set_live("Token", *token, true));
        among
    }

    /// There is the mark now, with these readers.
    fn is_shared(
        &mut self,
        now: i64,
        node: Element,
        asked: (Asked, bool),
        (shared, acting): (&Shared, &str),
    ) -> Result<(), String> {
        let mut gone = self.readers(node);
        let had_mark = self.steps.state.is("mark", &[node]);
        for (reader, until) in &shared.readers {
            let token = self.token(reader);
            let token = token.ok_or_else(|| format!("{reader} reads, and was never begun"))?;
            let state = &self.steps.state;
            let is_known = had_mark && gone.contains(&token);
            let same = state.value("reads_until", &[node, token]) == *until;
            gone.retain(|other| *other != token);
            let is_answer = reader == acting && matches!(asked, (Asked::Extend(Some(_)), true));
            if !is_known || !same || is_answer {
                self.tick(now)?;
                self.reads(node, asked.0, token, (*until, shared.ends))?;
            }
        }
        match gone[..] {
            _ if !had_mark => Ok(()),
            [] => Ok(()),
            [token] => {
                self.tick(now)?;
                let state = &self.steps.state;
                let to = [
                    state.to("among", &[node, token], 0),
                    state.to("mark_ends", &[node], shared.ends),
                ];
                let parameters = [("n0", node), ("t0", token), ("d1", shared.ends)];
                self.steps.step("release_some", &parameters, &to)
            }
            _ => Err(format!("several readers are gone at once: {gone:?}")),
        }
    }

    /// A reader is let in, prolonged, or was a writer before.
    fn reads(
        &mut self,
        node: Element,
        asked: Asked,
        token: Element,
        (until, mark_ends): (i64, i64),
    ) -> Result<(), String> {
        let state = &self.steps.state;
        let was_alone = self.is_under(&[node], token);
        let was_among = state.is("mark", &[node]) && state.is("among", &[node, token]);
        let action = match () {
            () if was_alone => "become_reader",
            () if was_among && asked != Asked::Acquire => "extend_read",
            () => "read",
        };
        let mut changes = vec![
            state.to("mark", &[node], 1),
            state.to("mark_ends", &[node], mark_ends),
            state.to("reads_until", &[node, token], until),
        ];
        if action != "extend_read" {
            changes.push(state.to("has", &[node], 0));
            changes.push(state.to("among", &[node, token], 1));
            let stay = action == "read" && state.is("mark", &[node]);
            let others = self.readers(node).into_iter().filter(|other| *other != token && !stay);
            let others: Vec<Element> = others.collect();
            let state = &self.steps.state;
            changes.extend(others.iter().map(|other| state.to("among", &[node, *other], 0)));
        }
        if action == "become_reader" {
            changes.push(self.steps.state.to("done", &[token], 1));
        }
        let round = match asked {
            Asked::Extend(round) => {
                round.filter(|round| self.steps.state.value("of", &[*round]) == token)
            }
            Asked::Acquire => Some(self.known[token as usize].rounds[0]),
            Asked::Nothing => None,
        };
        let parameters = |round| [("r0", round), ("n0", node), ("d0", until), ("d1", mark_ends)];
        if let Some(round) = round {
            let mut counted: Vec<Change> = changes.clone();
            counted.push(self.steps.state.to("ack", &[round, node], 1));
            self.steps.state.set_live("Round", round, true);
            if self.steps.takes(action, &parameters(round), &counted)?.is_none() {
                return Ok(());
            }
        }
        let reading = self.known[token as usize].rounds.iter().rev();
        let reading = reading.copied().find(|round| self.steps.state.is("reads", &[*round]));
        let round = round.or(reading).unwrap_or(self.known[token as usize].rounds[0]);
        let uncounted = format!("{action}_uncounted");
        self.steps.state.set_live("Round", round, true);
        self.steps.step(&uncounted, &parameters(round), &changes)
    }
}
