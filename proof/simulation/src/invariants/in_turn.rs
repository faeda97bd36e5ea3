//! First come, first served: a waiter that stands at a quorum with its ticket before another client
//! comes wins before that client does, for as long as its place lives there.
//!
//! A client with a plain SET may win what it finds vacant. So a place counts against it only where the
//! key was shut when it came, and has been since: held by a waiter in turn, or kept. A key that expires
//! is open, and so is a key that a plain client sets.

use super::Verdict;
use crate::clock::Time;
use quorumlock_core::coordinator::wire::NEXT;
use quorumlock_core::quorum::{Membership, NodeSet};
use std::collections::{BTreeMap, BTreeSet};

/// A place in a queue.
struct Place {
    /// When any master had it first.
    first: Time,
    /// The ticket, or the stamp, at each master, and since when it has been there.
    at: BTreeMap<usize, (u64, Time)>,
}

/// How a token was tried.
struct Tried {
    first: Time,
    /// The name of the place from which it was tried, if it was not by a plain SET.
    waiter: Option<String>,
}

#[derive(Default)]
pub(crate) struct InTurn {
    /// By resource and waiter.
    places: BTreeMap<(String, String), Place>,
    tried: BTreeMap<String, Tried>,
    /// The tokens of waiters in turn, as far as they are known.
    fair: BTreeSet<String>,
    /// Of them, the tokens that are plain now.
    plain: BTreeSet<String>,
    /// Each resource at each master.
    keys: BTreeMap<(usize, String), Door>,
    /// When a master last lost the token of a plain one of them, by resource.
    opened: BTreeMap<String, Time>,
}

#[derive(Default)]
struct Door {
    /// The last value.
    value: Option<String>,
    /// Since when it has been shut.
    shut: Option<Time>,
    /// Until this token was set: whether it came by a plain client or not is known once it wins.
    until: Option<(String, Time)>,
}

impl Door {
    /// Returns since when it had been shut when a token was set.
    fn shut_to(&self, token: &str) -> Option<Time> {
        let until = self.until.as_ref().filter(|(other, _)| other == token);
        until.map(|(_, since)| *since).or(self.shut)
    }
}

/// A win, as it is reported.
pub(crate) struct Won<'a> {
    pub(crate) token: &'a str,
    pub(crate) key: &'a str,
    pub(crate) client: usize,
    pub(crate) membership: Membership,
}

impl InTurn {
    /// Notes the places that live in the queue of a resource at a master.
    pub(crate) fn sees(&mut self, node: usize, key: &str, now: Time, living: &[(String, u64)]) {
        let of_key = self.places.iter_mut().filter(|((resource, _), _)| resource == key);
        for ((_, waiter), place) in of_key {
            if !living.iter().any(|(name, _)| name == waiter) {
                place.at.remove(&node);
            }
        }
        for (waiter, ticket) in living {
            let named = (key.to_owned(), waiter.clone());
            let new = || Place { first: now, at: BTreeMap::new() };
            let at = &mut self.places.entry(named).or_insert_with(new).at;
            if at.get(&node).is_none_or(|(stored, _)| stored != ticket) {
                at.insert(node, (*ticket, now));
            }
        }
    }

    /// Notes what one client's commands have made of a resource at a master. A value that
    /// `hands_nothing_on` leaves it open: a lock that was taken away by force, or a key that the
    /// master cannot keep for the next waiter.
    pub(crate) fn changes(
        &mut self,
        (node, key): (usize, &str),
        now: Time,
        (before, after): (Option<&str>, Option<&str>),
        hands_nothing_on: impl Fn(&str) -> bool,
    ) {
        let in_turn = |value: &str| self.fair.contains(value) && !self.plain.contains(value);
        let shuts = |value: &str| value.starts_with(NEXT) || in_turn(value);
        let before_it = |place: &Place| place.at.get(&node).is_some_and(|(_, since)| *since < now);
        let of_key = self.places.iter().filter(|((resource, _), _)| resource == key);
        let one_stands = || of_key.clone().any(|(_, place)| before_it(place));
        if before != after && before.is_some_and(|token| self.plain.contains(token)) {
            self.opened.insert(key.to_owned(), now);
        }
        let door = self.keys.entry((node, key.to_owned())).or_default();
        let was_open = before.is_some_and(|value| !shuts(value) || hands_nothing_on(value));
        if door.value.as_deref() != before || (before != after && was_open) {
            door.shut = None;
        }
        match after {
            Some(value) if shuts(value) => _ = door.shut.get_or_insert(now),
            Some(value) if before != after => {
                door.until = door.shut.take().map(|since| (value.to_owned(), since));
            }
            // What is deleted in turn is kept for a waiter: it stays shut.
            None if before.is_some() && !one_stands() => door.shut = None,
            Some(_) | None => {}
        }
        if door.value.as_deref() != after {
            door.value = after.map(str::to_owned);
        }
    }

    /// Notes that a client writes a command by which it tries a token, from its place if it has one.
    pub(crate) fn tries(&mut self, token: &str, now: Time, waiter: Option<String>) {
        if waiter.is_some() {
            self.fair.insert(token.to_owned());
        }
        let new = || Tried { first: now, waiter: None };
        let tried = self.tried.entry(token.to_owned()).or_insert_with(new);
        tried.waiter = waiter.or_else(|| tried.waiter.take());
    }

    /// Notes that a lock is plain from now on: it is detached, or its client may not wait in turn. What it
    /// releases is kept for no other.
    pub(crate) fn is_plain(&mut self, token: &str) {
        self.plain.insert(token.to_owned());
    }

    /// Checks the win of a caller that waited in turn, or would have. `other` returns the client that a
    /// name belongs to, and its lists.
    pub(crate) fn won(
        &mut self,
        won: &Won<'_>,
        now: Time,
        other: impl Fn(&str) -> Option<(usize, Membership)>,
    ) -> Verdict {
        let Won { token, key, client, membership } = *won;
        self.fair.insert(token.to_owned());
        let Some(tried) = self.tried.get(token) else { return Ok(()) };
        let place = tried.waiter.as_ref().and_then(|waiter| self.place(key, waiter));
        let stood = |node: usize, since: Time| match (&tried.waiter, place) {
            (Some(_), Some(place)) => since < place.first,
            (Some(_), None) => false,
            (None, _) => {
                let door = self.keys.get(&(node, key.to_owned()));
                let shut = door.and_then(|door| door.shut_to(token));
                since < tried.first && shut.is_some_and(|shut| shut < tried.first)
            }
        };
        for ((_, waiter), place) in self.places.iter().filter(|((resource, _), _)| resource == key)
        {
            let Some((_, lists)) = other(waiter).filter(|(theirs, _)| *theirs != client) else {
                continue;
            };
            let at = place.at.iter().filter(|(node, (_, since))| stood(**node, *since));
            let at: Vec<(usize, u64)> = at.map(|(node, (ticket, _))| (*node, *ticket)).collect();
            if passes(&at, &[membership, lists]) {
                let words = "which stood at a quorum when it came";
                return Err(format!("{token} has {key} before {waiter}, {words}"));
            }
        }
        for ((_, resource), door) in &mut self.keys {
            if resource == key && door.value.as_deref() == Some(token) {
                door.shut.get_or_insert(now);
            }
        }
        Ok(())
    }

    /// Returns when a plain release last reached a master.
    pub(crate) fn opened_at(&self, key: &str) -> Option<Time> {
        self.opened.get(key).copied()
    }

    /// Returns whether a token was tried from a place.
    pub(crate) fn had_a_place(&self, token: &str) -> bool {
        self.tried.get(token).is_some_and(|tried| tried.waiter.is_some())
    }

    fn place(&self, key: &str, waiter: &str) -> Option<&Place> {
        self.places.get(&(key.to_owned(), waiter.to_owned()))
    }

    /// Returns the names that stand at a quorum of masters that `vote` with one ticket.
    pub(crate) fn standing(
        &self,
        key: &str,
        votes: impl Fn(usize) -> bool,
        lists: impl Fn(&str) -> Option<Membership>,
    ) -> Vec<&str> {
        let stands = |waiter: &str, place: &Place| {
            let at = place.at.iter().filter(|(node, _)| votes(**node));
            let at: Vec<(usize, u64)> = at.map(|(node, (ticket, _))| (*node, *ticket)).collect();
            lists(waiter).is_some_and(|membership| passes(&at, &[membership]))
        };
        let of_key = self.places.iter().filter(|((resource, _), _)| resource == key);
        let found = of_key.filter(|((_, waiter), place)| stands(waiter, place));
        found.map(|((_, waiter), _)| &**waiter).collect()
    }
}

/// Returns whether one ticket is at a quorum by each of the lists.
fn passes(at: &[(usize, u64)], memberships: &[Membership]) -> bool {
    at.iter().any(|(_, ticket)| {
        let same = at.iter().filter(|(_, other)| other == ticket);
        let nodes: NodeSet = same.map(|(node, _)| *node).collect();
        memberships.iter().all(|lists| lists.is_quorum(nodes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> Membership {
        Membership::of(3).expect("three masters")
    }

    /// Names and tokens of client 0 begin with `a`, and so on.
    fn client(name: &str) -> Option<(usize, Membership)> {
        Some(((name.as_bytes()[0] - b'a').into(), lists()))
    }

    fn wins(turns: &mut InTurn, token: &str) -> Verdict {
        let (client, membership) = client(token).expect("a client");
        turns.won(&Won { token, key: "k", client, membership }, 50, self::client)
    }

    fn stands(turns: &mut InTurn, nodes: &[usize], now: Time, names: &[(&str, u64)]) {
        let living: Vec<_> = names.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect();
        nodes.iter().for_each(|node| turns.sees(*node, "k", now, &living));
    }

    #[test]
    fn a_win_before_a_place_that_stood_is_found() {
        let mut turns = InTurn::default();
        stands(&mut turns, &[0, 1], 10, &[("aw", 5)]);
        stands(&mut turns, &[0, 1], 20, &[("aw", 5), ("bw", 6)]);
        turns.tries("bt", 30, Some("bw".to_owned()));
        turns.tries("at", 30, Some("aw".to_owned()));
        assert_eq!(wins(&mut turns, "at"), Ok(()));
        assert!(wins(&mut turns, "bt").is_err());
        // One of its places has died.
        stands(&mut turns, &[1], 40, &[("bw", 6)]);
        assert_eq!(wins(&mut turns, "bt"), Ok(()));
    }

    #[test]
    fn other_tickets_and_waiters_that_came_together_are_in_no_order() {
        let mut turns = InTurn::default();
        stands(&mut turns, &[0], 10, &[("aw", 5)]);
        stands(&mut turns, &[1], 10, &[("aw", 7)]);
        stands(&mut turns, &[2], 15, &[("bw", 6)]);
        turns.tries("bt", 30, Some("bw".to_owned()));
        assert_eq!(wins(&mut turns, "bt"), Ok(()), "two stamps are no ticket");
        stands(&mut turns, &[0, 1], 20, &[("aw", 7)]);
        assert_eq!(wins(&mut turns, "bt"), Ok(()), "it came before");
    }

    #[test]
    fn a_set_passes_only_where_the_key_was_open() {
        let never = |_: &str| false;
        let kept = format!("{NEXT}aw");
        for (expired, forced, passes) in
            [(false, false, false), (true, false, true), (false, true, true)]
        {
            let mut turns = InTurn::default();
            turns.tries("ct", 1, Some("cw".to_owned()));
            for node in 0..3 {
                turns.changes((node, "k"), 5, (None, Some("ct")), never);
            }
            stands(&mut turns, &[0, 1], 10, &[("aw", 5)]);
            turns.tries("bt", 30, None);
            for node in 0..2 {
                turns.changes((node, "k"), 32, (Some("ct"), Some(&kept)), |_| forced);
                let before = Some(&*kept).filter(|_| !expired);
                turns.changes((node, "k"), 34, (before, Some("bt")), never);
            }
            let verdict = wins(&mut turns, "bt");
            assert_eq!(verdict.is_ok(), passes, "{expired} {forced} {verdict:?}");
        }
    }

    #[test]
    fn what_a_plain_client_releases_is_open() {
        let never = |_: &str| false;
        for is_plain in [false, true] {
            let mut turns = InTurn::default();
            turns.tries("ct", 1, Some("cw".to_owned()));
            for node in 0..3 {
                turns.changes((node, "k"), 5, (None, Some("ct")), never);
            }
            stands(&mut turns, &[0, 1], 10, &[("aw", 5)]);
            if is_plain {
                turns.is_plain("ct");
            }
            turns.tries("bt", 30, None);
            for node in 0..2 {
                turns.changes((node, "k"), 32, (Some("ct"), None), never);
                turns.changes((node, "k"), 34, (None, Some("bt")), never);
            }
            assert_eq!(wins(&mut turns, "bt").is_ok(), is_plain);
            assert_eq!(turns.opened_at("k"), is_plain.then_some(32));
        }
    }

    #[test]
    fn to_stand_is_to_have_one_ticket_at_a_quorum_that_votes() {
        let mut turns = InTurn::default();
        stands(&mut turns, &[0, 1], 10, &[("aw", 5), ("bw", 6)]);
        stands(&mut turns, &[1], 11, &[("aw", 5), ("bw", 7)]);
        let standing = |votes: fn(usize) -> bool| {
            turns.standing("k", votes, |name| client(name).map(|(_, lists)| lists))
        };
        assert_eq!(standing(|_| true), ["aw"]);
        assert!(standing(|node| node > 0).is_empty());
    }
}
