//! The state of one acquire that waits in turn.

use super::pace::{LOOKS_EVERY, Pace};
use crate::quorum::turns::{Does, Event, Phase, ticket, turn};
use crate::quorum::{Backoff, Instant, Membership, NodeSet};
use crate::shared::RoundId;
use crate::wire::{PLACE_LIVES, Place, Token};
use std::time::Duration;

/// A place lives for as many looks as this.
const LOOKS_IN_A_LIFE: u32 = 3;

/// The time between two looks of the first waiter: the message that calls it may have named another, or none.
const FIRST_LOOKS_EVERY: Duration = Duration::from_millis(250);

/// How long one that was called tries without looking: for less long than the key is kept, so that it is
/// in the way of no holder that comes back.
const CALLED_FOR: Duration = Duration::from_secs(2);

/// A server tells a life in whole milliseconds, and its key is there for up to one more. Without it, the
/// first waiter would look without a pause in the last one.
const ROUNDED_DOWN: Duration = Duration::from_millis(1);

/// A place in the queues, and what its waiter knows of it.
pub(crate) struct Turn {
    pub(crate) place: Place,
    phase: Phase,
    /// A try is due once the round under way is over.
    pub(super) wants: bool,
    /// The same for a look.
    pub(super) looks: bool,
    /// The look under way.
    pub(super) looking: Option<RoundId>,
    /// The next look.
    due_at: Instant,
    /// How fast it comes nearer.
    pace: Pace,
    /// When the latest round began, and the end of the place that a quorum has stored at its latest answer.
    asked_at: Instant,
    stored_until: Instant,
    /// The end of the lives that a quorum has reported.
    life_at: Option<Instant>,
    /// Until when it tries, since it was called.
    kept_until: Option<Instant>,
    /// The next try, after a lost one.
    pause_until: Option<Instant>,
    /// The number of tries that were lost since a message has named it.
    lost: u32,
    /// What each node has reported of its place, in the latest round.
    reported: Vec<Option<ReportedPlace>>,
    /// It listens on the channel of the key, too, since it has been first for a while.
    pub(super) listens: bool,
    /// A look was repeated, since the masters had forgotten its script.
    pub(super) reloaded: bool,
    /// The nodes where its place may be.
    touched: NodeSet,
    /// Those of them to which its latest try has left.
    tried: NodeSet,
    /// How many are ahead of it, as its caller was last notified.
    pub(super) last_ahead: Option<usize>,
}

/// What a node tells of a place in its queue.
#[derive(Clone, Copy)]
pub(crate) struct ReportedPlace {
    /// `None`: the queue is full.
    pub(super) stamp: Option<u64>,
    pub(super) ahead: usize,
}

impl Turn {
    pub(super) fn new(now: Instant, waiter: Token) -> Self {
        Self {
            place: Place { waiter, ticket: None, lives: PLACE_LIVES },
            phase: Phase::Behind,
            wants: false,
            looks: true,
            looking: None,
            due_at: now.after(LOOKS_EVERY),
            pace: Pace::default(),
            asked_at: now,
            stored_until: now.after(PLACE_LIVES),
            life_at: None,
            kept_until: None,
            pause_until: None,
            lost: 0,
            reported: Vec::new(),
            listens: false,
            reloaded: false,
            touched: NodeSet::EMPTY,
            tried: NodeSet::EMPTY,
            last_ahead: None,
        }
    }

    /// Lets an event happen, and returns what the waiter does.
    pub(super) fn happens(&mut self, now: Instant, event: Event) -> Does {
        let (does, phase) = turn(self.phase, event);
        self.phase = phase;
        match (phase, event) {
            (Phase::Called, Event::Named | Event::Would) => {
                self.kept_until = Some(now.after(CALLED_FOR));
            }
            (Phase::Called, _) => {}
            _ => (self.kept_until, self.pause_until) = (None, None),
        }
        if event == Event::Named || phase != Phase::Called {
            self.lost = 0;
        }
        match does {
            Does::Look => self.looks = true,
            Does::Try => self.wants = true,
            Does::Sleep | Does::Enter | Does::Withdraw => {}
        }
        does
    }

    /// Returns what is due by now, one after the other.
    pub(super) fn due(&mut self, now: Instant) -> Option<Event> {
        let due = |at: &mut Option<Instant>| at.take_if(|at| *at <= now).is_some();
        if due(&mut self.kept_until) {
            return Some(Event::Kept);
        }
        if due(&mut self.life_at) {
            return Some(Event::Life);
        }
        if due(&mut self.pause_until) {
            return Some(Event::Pause);
        }
        (self.due_at <= now).then(|| {
            self.due_at = now.after(LOOKS_EVERY);
            Event::Due
        })
    }

    /// Returns when something is next due.
    pub(super) fn next_at(&self) -> Instant {
        let others = [self.life_at, self.kept_until, self.pause_until].into_iter().flatten();
        others.fold(self.due_at, Instant::min)
    }

    /// Chooses when the next look is due after one that begins now. A waiter that no message reaches does
    /// not learn that the queue has become faster.
    pub(super) fn choose_pace(&mut self, now: Instant, is_reached: bool) {
        let next = if is_reached { self.pace.next_look(now) } else { LOOKS_EVERY };
        self.place.lives = next * LOOKS_IN_A_LIFE;
    }

    /// Notes that a look begins.
    pub(super) fn begin_look(&mut self, now: Instant, nodes: usize) {
        self.begin_round(now, nodes);
        self.due_at = now.after(self.place.lives / LOOKS_IN_A_LIFE);
    }

    /// Notes that a try begins: behind it, the place lives for no longer than its shortest life.
    pub(super) fn begin_try(&mut self, now: Instant, nodes: usize) {
        self.place.lives = PLACE_LIVES;
        self.begin_round(now, nodes);
        self.due_at = now.after(LOOKS_EVERY);
    }

    fn begin_round(&mut self, now: Instant, nodes: usize) {
        self.looks = false;
        self.asked_at = now;
        self.reported.clear();
        self.reported.resize(nodes, None);
    }

    /// Notes whether a quorum has answered, and returns what follows if none has for too long.
    pub(super) fn hears(&mut self, now: Instant, event: Event) -> Event {
        match event {
            Event::Silent if now >= self.stored_until => return Event::Unheard,
            Event::Silent => {}
            _ => self.stored_until = self.asked_at.after(self.place.lives),
        }
        event
    }

    /// Notes how many were ahead of it when its latest look began. If the queue has become faster, the next
    /// look is due sooner.
    pub(super) fn note_ahead(&mut self, ahead: Option<usize>) {
        self.pace.note(self.asked_at, ahead);
        self.due_at = self.due_at.min(self.asked_at.after(self.pace.next_look(self.asked_at)));
    }

    /// Lets it look since it comes nearer faster than it knows.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.pace.hurry(now);
    }

    /// Notes that a try begins.
    pub(super) fn try_now(&mut self) {
        (self.wants, self.pause_until) = (false, None);
    }

    /// Notes that the commands of a round have left for these nodes.
    pub(crate) fn stands_at(&mut self, nodes: NodeSet) {
        self.touched = self.touched.union(nodes);
    }

    /// Notes that a try has left for these nodes.
    pub(crate) fn tries_at(&mut self, nodes: NodeSet) {
        self.tried = nodes;
        self.stands_at(nodes);
    }

    /// Notes that the place goes with the try, wherever that has left for.
    pub(super) fn leave_to_try(&mut self) {
        self.touched = self.touched.difference(self.tried);
    }

    pub(super) const fn touched(&self) -> NodeSet {
        self.touched
    }

    /// Notes what a node has reported in the round under way.
    pub(super) fn note(&mut self, node: usize, place: ReportedPlace) {
        if let Some(slot) = self.reported.get_mut(node) {
            *slot = Some(place);
        }
    }

    /// Notes that a try was lost: while it is called, the next one follows after a pause.
    pub(super) fn lose(&mut self, now: Instant, backoff: Backoff, random: u64) {
        if self.phase == Phase::Called {
            self.pause_until = Some(now.after(backoff.delay(self.lost, None, random)));
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Notes the time until a quorum is free, as far as it has answered. Only the first waiter waits for that,
    /// and looks more often.
    pub(super) fn expect(&mut self, now: Instant, free_in: Option<Duration>) {
        let is_first = self.phase == Phase::First;
        let over = |left: Duration| now.after(left.saturating_add(ROUNDED_DOWN));
        self.life_at = free_in.filter(|_| is_first).map(over);
        if is_first {
            self.due_at = self.due_at.min(now.after(FIRST_LOOKS_EVERY));
        }
    }

    pub(super) fn is_first(&self) -> bool {
        self.phase == Phase::First
    }

    /// Takes its ticket from the stamps of a quorum. Returns `false` if there are too few.
    pub(super) fn take_ticket(&mut self, membership: Membership) -> bool {
        let stamp = |place: &Option<ReportedPlace>| place.as_ref().and_then(|place| place.stamp);
        let stamps: Vec<Option<u64>> = self.reported.iter().map(stamp).collect();
        self.place.ticket = ticket(membership, &stamps);
        self.place.ticket.is_some()
    }

    /// Returns the most that are ahead of it at a quorum.
    pub(super) fn ahead(&self, membership: Membership) -> Option<usize> {
        let ahead = |place: &Option<ReportedPlace>| u64::try_from(place.as_ref()?.ahead).ok();
        let ahead: Vec<Option<u64>> = self.reported.iter().map(ahead).collect();
        ticket(membership, &ahead).and_then(|ahead| usize::try_from(ahead).ok())
    }

    /// Returns whether `node` has reported that none is before it.
    pub(super) fn is_first_at(&self, node: usize) -> bool {
        self.reported.get(node).copied().flatten().is_some_and(|place| place.ahead == 0)
    }
}
