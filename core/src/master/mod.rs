//! The masters, as this client sees them: their sessions, what they are owed, and which of them count.
//!
//! It knows commands, votes and connections, and neither locks nor waiters.

pub(crate) mod agreement;
pub(crate) mod barrier;
mod departure;
mod fault;
pub(crate) mod fencing;

pub(crate) mod ledger;
pub mod restart_guard;
pub(crate) mod session;
#[cfg(any(test, feature = "testing"))]
mod taken_back;
mod voting;

pub use agreement::{Agreement, SharedSettings};
pub use fault::{CLUSTER, Fault, FaultKind, SENTINEL, TOO_MANY_CLIENTS};
pub(crate) use ledger::{Debt, Deletion};
pub use restart_guard::RestartGuard;
#[cfg(any(test, feature = "testing"))]
pub use session::Judged;
pub use session::{Epoch, Persistence, Role, ServerFacts};
pub(crate) use session::{Incoming, PendingReply, Session, Stranded, Wake};
#[cfg(any(test, feature = "testing"))]
pub use taken_back::Rule;

use crate::master::barrier::Barrier;
use crate::pace::Window;
use crate::quorum::{Ballots, Instant, Membership, NodeSet};
use crate::shared::{Action, Random, Settings};
use crate::wire::{Login, Mailbox, Packer, Token};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The masters of this client.
pub struct Masters {
    pub(crate) settings: Arc<Settings>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) barrier: Barrier,
    /// The rounds that ask for votes, and how many may do so at a time.
    pub(crate) window: Window,
    /// Those that are slow to answer.
    pub(crate) laggards: NodeSet,
    /// How long a master that has started does not vote: for longer than the settings say while
    /// other clients have other numbers.
    pub(crate) quarantine: Duration,
    /// This client withdraws: no round begins any more, and nothing more will be asked of it.
    pub(crate) departs: bool,
    /// When the last of the keys and fences expire that this client does not delete.
    stays_until: Instant,
    pub(crate) packer: Packer,
    pub(crate) random: Box<dyn Random>,
    /// Where messages reach this process, once it has drawn its first token.
    pub mailbox: Option<Mailbox>,
    pub(crate) actions: VecDeque<Action>,
    /// Every node has been reached or has failed once.
    pub(crate) connected: bool,
    /// When the last round was about to begin, or this client was created.
    pub(crate) round_at: Instant,
    /// The greatest fence and the clocks that this client knows of.
    pub(crate) ballots: Ballots,
    /// The wall clock when it was last read, in microseconds since 1970.
    pub(crate) wall: (Instant, u64),
}

impl Masters {
    pub(crate) fn new(
        now: Instant,
        settings: Settings,
        nodes: impl IntoIterator<Item = (Arc<str>, Login)>,
        mut random: Box<dyn Random>,
    ) -> Self {
        let settings = Arc::new(settings);
        let client: Arc<str> =
            random.bits().map(|bits| bits.to_string()).unwrap_or_default().into();
        let session =
            |(name, login)| Session::new(name, login, client.clone(), now, settings.clone());
        Self {
            sessions: nodes.into_iter().map(session).collect(),
            barrier: Barrier::default(),
            window: Window::new(now),
            laggards: NodeSet::EMPTY,
            quarantine: settings.quarantine,
            departs: false,
            stays_until: Instant::default(),
            packer: Packer::new(settings.label.clone()),
            random,
            mailbox: None,
            actions: VecDeque::new(),
            connected: false,
            round_at: now,
            ballots: Ballots::new(settings.window),
            wall: (now, 0),
            settings,
        }
    }

    /// Draws a token, which was never used before and never is again; `None` if there are no random bits.
    pub(crate) fn token(&mut self) -> Option<Token> {
        let random = self.random.bits()?;
        let mailbox = *self.mailbox.get_or_insert(Mailbox::new(random));
        Some(Token::drawn(mailbox, random))
    }

    /// Returns the mailbox of this process, in which all of its tokens begin; `None` if there are no random
    /// bits.
    pub(crate) fn mailbox(&mut self) -> Option<Mailbox> {
        if self.mailbox.is_none() {
            self.mailbox = Some(Mailbox::new(self.random.bits()?));
        }
        self.mailbox
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.sessions.iter().map(|session| &session.name)
    }

    /// Returns which masters are enough.
    pub fn membership(&self) -> Membership {
        self.settings.membership
    }

    /// Returns the number of releases and rollbacks without an integer, counted once per node.
    pub fn debts(&self) -> usize {
        self.sessions.iter().map(Session::debts).sum()
    }

    /// Returns the longest life of a key that is being deleted.
    pub(crate) fn longest_life(&self) -> Duration {
        let debts = self.sessions.iter().flat_map(Session::all_debts);
        debts.map(|debt| debt.deletion.ttl()).max().unwrap_or_default()
    }

    /// Returns whether nothing is owed any more.
    pub fn is_drained(&self) -> bool {
        self.debts() == 0 && !self.sessions.iter().any(Session::may_yet_withdraw)
    }

    /// Returns the session of `node`, if an event of this connection still means anything.
    #[inline]
    pub(crate) fn current(&mut self, node: usize, epoch: Epoch) -> Option<&mut Session> {
        self.sessions.get_mut(node).filter(|session| session.is_current(epoch))
    }

    /// Returns whether a round that asks for votes may begin: neither do so many others wait for theirs, nor
    /// is so much on its way to masters which keep up with it.
    pub(crate) fn have_room(&self, now: Instant) -> bool {
        if !self.window.has_room() {
            return false;
        }
        let busy = NodeSet::places(&self.sessions, |session| session.is_busy(now));
        if busy == NodeSet::EMPTY {
            return true;
        }
        let down = NodeSet::places(&self.sessions, |session| session.fault.is_some());
        let membership = self.settings.membership;
        // Without these, it would learn at once that there is no quorum.
        membership.can_spare(busy.union(down)) || !membership.can_spare(down)
    }

    /// Returns when a session is next due.
    pub(crate) fn wake_at(&self) -> Instant {
        self.sessions.iter().map(Session::wake_at).fold(Instant::NEVER, Instant::min)
    }

    /// Wakes the session of `node`, and dials if it is time. It rests if this client `is_idle`, and has been
    /// for long enough.
    pub(crate) fn wake(&mut self, now: Instant, node: usize, is_idle: bool) -> Wake {
        let may_rest = is_idle && now.since(self.round_at) >= self.settings.rest.after;
        let Self { sessions, random, packer, actions, .. } = self;
        let wake = sessions[node].wake(now, may_rest, &mut **random, packer);
        if matches!(wake, Wake::Dial) {
            let epoch = sessions[node].dial(now);
            actions.push_back(Action::Dial { node, epoch });
        } else if matches!(wake, Wake::Renew) {
            actions.push_back(Action::Renew { node, epoch: sessions[node].epoch });
        }
        wake
    }

    /// Opens a session for votes: what its predecessor left is sent first.
    pub(crate) fn open(&mut self, now: Instant, node: usize) {
        self.barrier.stir();
        let Self { sessions, random, packer, .. } = self;
        sessions[node].open(now, &mut **random, packer);
        sessions[node].take_back(now);
    }

    /// Closes a session, and returns the commands of rounds that were under way on it.
    pub(crate) fn close(&mut self, now: Instant, node: usize, fault: Fault) -> Vec<Stranded> {
        self.barrier.stir();
        let others = self.voting(now).difference([node].into_iter().collect());
        let is_spare = self.settings.membership.is_quorum(others);
        let session = &mut self.sessions[node];
        if session.has_connection() {
            self.actions.push_back(Action::Close { node, epoch: session.epoch });
        }
        let stranded = session.close(now, fault, is_spare, &mut *self.random);
        if !is_spare {
            self.sessions.iter_mut().for_each(|session| session.end_spread(now));
        }
        stranded
    }

    /// Returns why this node may not be used, if it may not.
    pub(crate) fn unfit(&self, node: usize) -> Option<Fault> {
        let session = &self.sessions[node];
        let identity = session.identity()?;
        let by_itself = identity.unfit().map(Fault::unfit);
        let fault = by_itself.or_else(|| session.distrust()).or_else(|| self.twin(node));
        fault.or_else(|| identity.unconfirmed.clone())
    }

    /// Returns a fault if another address leads to the same server.
    fn twin(&self, node: usize) -> Option<Fault> {
        let run_id = self.sessions[node].identity()?.facts.run_id.as_ref()?;
        let twin = self.sessions.iter().enumerate().find_map(|(other, session)| {
            let theirs = session.identity()?.facts.run_id.as_ref()?;
            (other != node && theirs == run_id).then_some(&session.name)
        })?;
        let alike = match self.settings.membership.also() {
            Some(_) => ", and one that is in both lists is spelled alike in both",
            None => "",
        };
        Some(Fault::unfit(format!("the same server as {twin}: each master counts once{alike}")))
    }
}
