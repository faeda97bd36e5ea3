//! One client and one master, as page `debts` sees them: the releases that the client owes there.
//!
//! The page says nothing of two tokens at once, so each token has a state of its own, for each
//! resource: what is there is its key. A reader's key is its entry among the readers. Of a token
//! that is handed to another client the page says nothing: only the client that has drawn it is
//! looked at.

use super::super::Counts;
use super::token::{By, Owes, Token};
use crate::clock::Clock;
use evaluator::Page;
use quorumlock_core::coordinator::Epoch;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A token and a resource, by its place.
pub(super) type Name = (String, usize);

/// All tokens of a client at one master.
pub(super) struct Debts {
    page: Arc<Page>,
    clock: Clock,
    pub(super) is_open: bool,
    has_ended: bool,
    tokens: BTreeMap<Name, Token>,
    /// The tokens of which another client has sent something: their keys may live for longer than the page knows.
    handed_over: BTreeSet<String>,
    /// The steps of tokens of which nothing is said any more.
    counts: Counts,
}

impl Debts {
    pub(super) fn new(page: Arc<Page>, clock: Clock) -> Self {
        let (tokens, handed_over, counts) = Default::default();
        Self { page, clock, is_open: false, has_ended: false, tokens, handed_over, counts }
    }

    pub(super) fn count(&self, counts: &mut Counts) {
        counts.add(&self.counts);
        self.tokens.values().for_each(|token| counts.add_steps(&token.steps));
    }

    pub(super) fn shown(&self) -> String {
        let shown = |((name, resource), token): (&Name, &Token)| {
            format!("{name} of {resource}\n{}", token.steps.shown())
        };
        self.tokens.iter().map(shown).collect::<Vec<_>>().join("\n")
    }

    /// A command is queued that may set or prolong a key. It begins here among the bytes of its
    /// connection.
    pub(super) fn sends(
        &mut self,
        now: i64,
        name: Name,
        begins: (Epoch, usize),
        life: Duration,
    ) -> Result<(), String> {
        if self.has_ended || self.handed_over.contains(&name.0) {
            return Ok(());
        }
        let (page, is_open) = (&self.page, self.is_open);
        let token = self.tokens.entry(name);
        let token = token.or_insert_with(|| Token::new(page, now, begins, is_open));
        token.sends(now, self.clock, (begins, life))
    }

    /// Returns whether a SET of a token may have left.
    pub(super) fn knows(&self, name: &Name) -> bool {
        self.tokens.get(name).is_some_and(Token::is_touched)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Returns the tokens of which there is a key.
    pub(super) fn there(&self) -> impl Iterator<Item = &Name> {
        self.tokens.iter().filter(|(_, token)| token.is_there()).map(|(name, _)| name)
    }

    /// The master has executed a command, and the key of the token ends then, if it is there.
    pub(super) fn finds(
        &mut self,
        now: i64,
        name: &Name,
        ends: Option<i64>,
        by: By,
    ) -> Result<(), String> {
        self.tokens.get_mut(name).map_or(Ok(()), |token| token.finds(now, ends, by))
    }

    /// The connection is open.
    pub(super) fn opens(
        &mut self,
        now: i64,
        owes: impl Fn(&str) -> Owes,
        touches: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        let mut tokens = self.tokens.iter_mut();
        tokens.try_for_each(|((name, _), token)| token.reopens(now, owes(name)))?;
        // What was detached, or stays closed, no client owes any more.
        self.forget(|name, token| !token.is_there() && owes(name).is_none() && !touches(name));
        Ok(())
    }

    /// Nothing more is sent on the connection.
    pub(super) fn closes(&mut self, now: i64) -> Result<(), String> {
        match std::mem::take(&mut self.is_open) {
            true => self.tokens.values_mut().try_for_each(|token| token.breaks(now)),
            false => Ok(()),
        }
    }

    /// The master comes back empty.
    pub(super) fn restarts(&mut self, now: i64) -> Result<(), String> {
        let is_open = self.is_open;
        self.tokens.values_mut().try_for_each(|token| token.restarts(now, is_open))
    }

    /// Compares what a client owes with what it owed. `is_over`: it owes something for a token
    /// anywhere. `left`: so many bytes were written on a connection that it has given up.
    pub(super) fn compares(
        &mut self,
        now: i64,
        owes: impl Fn(&str) -> Owes,
        is_over: impl Fn(&str) -> bool,
        (touches, left): (impl Fn(&str) -> bool, impl Fn(Epoch) -> Option<usize>),
    ) -> Result<(), String> {
        for ((name, _), token) in &mut self.tokens {
            let undone = || !touches(name);
            token.compares(now, owes(name), is_over(name), (undone, &left))?;
        }
        self.forget(|_, token| token.is_done());
        Ok(())
    }

    /// The client is gone, or the clock of the master was set back: then no life has an end that
    /// the page knows.
    pub(super) fn ends(&mut self) {
        self.has_ended = true;
        self.forget(|_, _| true);
    }

    /// Another client has sent something of these tokens, which was handed to it: they may be there for longer.
    pub(super) fn hands_over(&mut self, names: &[Name]) {
        let handed = |name: &str| names.iter().any(|(handed, _)| handed == name);
        self.forget(|name, _| handed(name));
        self.handed_over.extend(names.iter().map(|(name, _)| name.clone()));
    }

    /// Forgets tokens of which nothing is said any more.
    fn forget(&mut self, is_done: impl Fn(&str, &Token) -> bool) {
        let counts = &mut self.counts;
        self.tokens.retain(|(name, _), token| {
            let is_done = is_done(name, token);
            if is_done {
                counts.add_steps(&token.steps);
            }
            !is_done
        });
    }
}
