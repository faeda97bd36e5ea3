//! What only page `several` has: one state for all resources of a world, in which a command gets to all of its keys
//! in one step.

use super::lock::{Asked, Found, Kind, Lock};
use super::steps::Misfit;
use crate::judge::KEYS;
use evaluator::{Change, Element};

pub(super) const SEVERAL: &str = "several";

/// What a master has of one resource once it has executed a command.
pub(super) struct Place {
    pub(super) key: Element,
    pub(super) found: Option<Found>,
    pub(super) fence: i64,
}

/// The token under a key, and when its life ends.
type Under = Option<(Element, i64)>;

impl Lock {
    /// Returns the places at a master: the one, or that of each key.
    pub(super) fn places(kind: Kind, node: Element) -> Vec<Vec<Element>> {
        match kind {
            Kind::Several => (0..KEYS.len()).map(|key| vec![node, key as Element]).collect(),
            _ => vec![vec![node]],
        }
    }

    /// Returns whether a command on these keys is one on what this state is of: `key`, or all resources.
    pub(super) fn is_of(&self, key: &str, keys: &[&str]) -> bool {
        match self.kind {
            Kind::Several => !keys.is_empty(),
            _ => keys.contains(&key),
        }
    }

    /// Returns whether any key at a master is of this token.
    pub(super) fn is_under_any(&self, node: Element, token: Element) -> bool {
        match self.kind {
            Kind::Several => {
                (0..KEYS.len()).any(|key| self.is_under(&[node, key as Element], token))
            }
            _ => self.is_under(&[node], token),
        }
    }

    /// Notes which of the keys are a token's.
    pub(super) fn wants(&mut self, token: Element, keys: &[&str]) {
        if self.kind == Kind::Several {
            for (key, name) in KEYS.iter().enumerate() {
                let is_wanted = i64::from(keys.contains(name));
                self.steps.state.set("wants", &[token, key as Element], is_wanted);
            }
        }
    }

    fn under(&self, at: &[Element]) -> Under {
        let state = &self.steps.state;
        state.is("has", at).then(|| (state.value("key", at), state.value("ends", at)))
    }

    /// A master has executed a command on all of these.
    pub(super) fn executes_all(
        &mut self,
        now: i64,
        node: Element,
        (asked, answers): (Asked, bool),
        acting: &str,
        places: &[Place],
    ) -> Result<(), String> {
        let mut after = Vec::new();
        for Place { key, found, fence } in places {
            let at = [node, *key];
            if self.under(&at).is_some_and(|(_, ends)| now >= ends) {
                self.tick(now)?;
                let to = self.steps.state.to("has", &at, 0);
                self.steps.step("expire", &[("n0", node), ("k0", *key)], &[to])?;
            }
            self.fence_lapses(now, &at, *fence)?;
            let found = found.as_ref().filter(|found| !found.is_done);
            let under = found.map(|found| match self.token(&found.token) {
                Some(token) => Ok((token, found.ends)),
                None => Err(format!("{} is set, and was never begun", found.token)),
            });
            after.push((*key, under.transpose()?, *fence));
        }
        let token = self.token(acting);
        let of = |round: &Element| Some(self.steps.state.value("of", &[*round])) == token;
        let first = |token: Element| self.known[token as usize].rounds[0];
        // A SET may come late, behind a top-up of the client that the lock was handed to.
        let is_first = |token: &Element| !self.steps.state.is("ran", &[*token, node]);
        // What an answer says of all keys is so, whether it counts or not.
        let (round, actions) = match (asked, answers) {
            (Asked::Acquire, true) => (token.filter(is_first).map(first), &["grant"][..]),
            (Asked::Extend(round), true) => (round.filter(of), &["extend", "extend_late"][..]),
            (Asked::Extend(round), false) => (round.filter(of), &["lack"][..]),
            _ => (None, &[][..]),
        };
        if let Some(round) = round {
            let mut misfit = None;
            for action in actions {
                misfit = self.is_of_all(now, node, (action, round), &after)?;
                if misfit.is_none() {
                    return Ok(());
                }
            }
            if let Some((_, wrong)) = misfit.filter(|_| answers) {
                return Err(wrong);
            }
        }
        // What does not count may get to any of them.
        after.into_iter().try_for_each(|(key, under, fence)| {
            self.raises_fence(now, &[node, key], fence)?;
            self.becomes(now, [node, key], under)
        })
    }

    /// Takes a step of all keys at once, if it is one of this action; otherwise returns what does not fit.
    fn is_of_all(
        &mut self,
        now: i64,
        node: Element,
        (action, round): (&str, Element),
        after: &[(Element, Under, i64)],
    ) -> Result<Option<Misfit>, String> {
        self.tick(now)?;
        self.steps.state.set_live("Round", round, true);
        let token = self.steps.state.value("of", &[round]);
        let is_grant = action == "grant";
        let mut changes = Vec::new();
        for (key, under, fence) in after {
            changes.extend(self.differs([node, *key], *under));
            if is_grant {
                self.sets_fence(&[node, *key], token, *fence, &mut changes);
            }
        }
        let set = after.iter().filter(|(key, under, _)| *under != self.under(&[node, *key]));
        let own = |(_, under, _): &(Element, Under, i64)| {
            under.filter(|(other, _)| *other == token).map(|(_, ends)| ends)
        };
        // An extension leaves a longer life as it is.
        let ends = match is_grant {
            true => set.filter_map(own).min(),
            false => after.iter().filter_map(own).min(),
        };
        let state = &self.steps.state;
        match action {
            "grant" | "extend" => changes.push(state.to("ack", &[round, node], 1)),
            "lack" => changes.push(state.to("missing", &[round, node], 1)),
            _ => {}
        }
        if is_grant {
            changes.push(state.to("ran", &[token, node], 1));
        }
        let parameters = [("r0", round), ("n0", node), ("d0", ends.unwrap_or(now))];
        self.steps.takes(action, &parameters, &changes)
    }

    /// Returns what changes at a place.
    fn differs(&self, at: [Element; 2], under: Under) -> Vec<Change> {
        let state = &self.steps.state;
        match (self.under(&at), under) {
            (before, after) if before == after => Vec::new(),
            (_, None) => vec![state.to("has", &at, 0)],
            (_, Some((token, ends))) => {
                vec![
                    state.to("has", &at, 1),
                    state.to("key", &at, token),
                    state.to("ends", &at, ends),
                ]
            }
        }
    }

    /// A command that counts for nothing has got to one key.
    fn becomes(&mut self, now: i64, at: [Element; 2], under: Under) -> Result<(), String> {
        let mut changes = self.differs(at, under);
        if changes.is_empty() {
            self.steps.stutters += 1;
            return Ok(());
        }
        self.tick(now)?;
        let [node, key] = at;
        for (other, _) in KEYS.iter().enumerate() {
            let is_it = other as Element == key;
            self.steps.state.set("part", &[other as Element], i64::from(is_it));
        }
        let (action, token, ends) = match (self.under(&at), under) {
            (Some((token, _)), None) => ("release", token, 0),
            (Some((before, _)), Some((token, ends))) if before == token => {
                ("extend_uncounted", token, ends)
            }
            (_, Some((token, ends))) => {
                changes.push(self.steps.state.to("ran", &[token, node], 1));
                ("set_uncounted", token, ends)
            }
            (None, None) => return Ok(()),
        };
        self.steps.step(action, &[("n0", node), ("t0", token), ("d0", ends)], &changes)
    }

    /// Keys at a master live longer than they were to.
    pub(super) fn all_live_longer(
        &mut self,
        now: i64,
        node: Element,
        found: &[Option<Found>],
    ) -> Result<(), String> {
        for (key, found) in found.iter().enumerate() {
            let at = [node, key as Element];
            let Some(found) = found else { continue };
            let token = self.token(&found.token);
            if token.is_some() && self.under(&at).map(|(token, _)| token) == token {
                self.becomes(now, at, token.map(|token| (token, found.ends)))?;
            }
        }
        Ok(())
    }
}
