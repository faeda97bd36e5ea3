//! One command to every node, its votes and its stragglers.
//!
//! A round belongs to the coordinator, not to the caller's future. A round that was won ends when
//! every node has answered or the operation timeout has passed, however early its verdict came.

use super::attempt::HeldBack;
use super::{Around, Locks, Purpose, acquire, extend, release};
#[cfg(any(test, feature = "testing"))]
use crate::master::Rule;
use crate::obstacle::Obstacle;
use crate::questions::Question;
use crate::questions::remaining::Holders;
use crate::quorum::{Extension, Instant, NodeSet, Report, Tally, Vote};
use crate::report::{Answer, NodeReport, Refusal, UnknownCause};
use crate::shared::{AttemptId, Cx, Invariant, NotExtended, RequestId, RoundId, Table, Timer};
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of rooms of closed rounds that are kept.
const MOST_ROOMS: usize = 256;

/// The question that the votes of a round decide.
pub(crate) enum RoundKind {
    /// An attempt at a lock.
    Acquire { request: RequestId, attempt: AttemptId, tally: Tally },
    /// `purpose` is absent once it is won or lost: what comes in from then on is a straggler.
    Extend { attempt: AttemptId, extension: Extension, purpose: Option<Purpose> },
    /// Our key has not expired at any node before the `deadline`. It was `gone` before that at these nodes.
    Release { request: RequestId, tally: Tally, deadline: Option<Instant>, gone: NodeSet },
    /// What decides nothing.
    Question(Box<Question>),
}

/// What follows from the answers of a round so far.
pub(super) enum Course {
    /// It ends with its last answer.
    GoesOn,
    /// It is over, whatever is still answered.
    IsOver,
    /// So is its attempt: this client does not have the lock any more.
    EndsAttempt(AttemptId),
    /// An acquire has lost. `too_late`: a quorum has granted.
    IsLost { too_late: bool },
    /// The nodes are asked that were not asked first.
    AsksOthers,
}

/// Each node's answer, and when it came.
type Answers = Vec<(Answer, Instant)>;

/// The rooms of closed rounds' answers, for later rounds.
pub(crate) type Rooms = Vec<Answers>;

pub(crate) struct Round {
    pub(crate) kind: RoundKind,
    pub(crate) started: Instant,
    pub(crate) timeout_at: Instant,
    /// The nodes that are asked unless the first one refuses.
    pub(crate) held_back: Option<HeldBack>,
    /// It is one of those that the window counts, until it is decided.
    pub(crate) is_counted: bool,
    answers: Answers,
    /// A node has answered, which does not count.
    pub(crate) is_uncounted: bool,
    /// The nodes that were asked and have not answered.
    pub(crate) outstanding: NodeSet,
    /// The keys that may be about to refuse us, as the nodes have reported them.
    pub(crate) named: Holders,
}

impl Locks {
    /// Judges a round by the answers so far.
    pub(crate) fn judge(&mut self, at: &mut Around, id: RoundId) {
        let Some(round) = self.rounds.get_mut(id.0) else { return };
        let course = match round.kind {
            RoundKind::Acquire { .. } if round.held_back.is_some() => round.judge_first(at.cx.now),
            RoundKind::Acquire { request, attempt: id, ref tally } => {
                let verdict = tally.verdict();
                self.attempts.get_mut(id.0).map_or(Course::GoesOn, |attempt| {
                    attempt.judge_acquire(at, request, round, verdict)
                })
            }
            RoundKind::Extend { attempt: id, purpose, .. } => {
                match self.attempts.get_mut(id.0).filter(|attempt| attempt.awaits(purpose)) {
                    Some(attempt) => attempt.judge_extension(at, round),
                    // Released, lost or cancelled in the meantime: no answer counts any more.
                    None => {
                        extend::answer_not_extended(&mut at.cx, id, purpose, NotExtended::Lost);
                        Course::IsOver
                    }
                }
            }
            RoundKind::Release { .. } => round.judge_release(&mut at.cx),
            RoundKind::Question(_) => return self.judge_question(&mut at.cx, id),
        };
        match course {
            Course::GoesOn if !round.is_complete() => {}
            Course::GoesOn | Course::IsOver => self.close_round(&mut at.cx, id),
            Course::EndsAttempt(attempt) => {
                self.attempts.remove(attempt.0);
                self.close_round(&mut at.cx, id);
            }
            Course::IsLost { too_late } => self.lose(at, id, too_late),
            Course::AsksOthers => self.ask_the_others(at, id),
        }
    }

    pub(crate) fn close_round(&mut self, cx: &mut Cx, id: RoundId) {
        if let Some(round) = self.rounds.take(cx, id)
            && self.rooms.len() < MOST_ROOMS
        {
            self.rooms.push(round.answers);
        }
    }
}

impl Table<Round> {
    /// Lets a round run, whose commands have left: until it is closed, or its time is over.
    pub(crate) fn open(&mut self, cx: &mut Cx, id: RoundId, round: Round) {
        cx.timers.set(round.timeout_at, Timer::Round(id));
        self.insert(id.0, round);
    }

    /// Closes a round, and returns it to report the answers.
    pub(crate) fn take(&mut self, cx: &mut Cx, id: RoundId) -> Option<Round> {
        let mut round = self.remove(id.0)?;
        round.leave_window(cx);
        cx.timers.cancel(round.timeout_at, Timer::Round(id));
        Some(round)
    }
}

impl Round {
    /// Creates a round in the room that the answers of an earlier one have left.
    pub(crate) fn new(cx: &Cx, kind: RoundKind, timeout: Duration, rooms: &mut Rooms) -> Self {
        let (started, nodes) = (cx.now, cx.masters.sessions.len());
        let mut answers = rooms.pop().unwrap_or_default();
        answers.clear();
        answers.resize(nodes, (Answer::Outstanding, started));
        Self {
            kind,
            started,
            timeout_at: started.after(timeout),
            held_back: None,
            is_counted: false,
            answers,
            is_uncounted: false,
            outstanding: NodeSet::first(nodes),
            named: Holders::default(),
        }
    }

    /// Lets another round begin in its place.
    pub(crate) fn leave_window(&mut self, cx: &mut Cx) {
        if std::mem::take(&mut self.is_counted) {
            let was_open = cx.masters.window.end();
            cx.check(was_open, Invariant::OpenRound);
        }
    }

    /// Tells the window how long the masters took that have decided the round, or that too few have answered.
    pub(crate) fn tell_window(&self, cx: &mut Cx, is_won: bool) {
        // One master alone was asked, or none.
        if self.held_back.is_some() || !self.is_counted {
            return;
        }
        let is_late = |answer: &Answer| matches!(answer, Answer::Unknown(UnknownCause::TimedOut));
        // A round is won before its time is over.
        let is_any_late = !is_won && self.answers.iter().any(|(answer, _)| is_late(answer));
        let has_answered = |answer: &Answer| answer.is_of_the_master() && !is_late(answer);
        let is_quorum =
            is_won || cx.masters.settings.membership.is_quorum(self.nodes(has_answered));
        let window = &mut cx.masters.window;
        #[cfg(any(test, feature = "testing"))]
        let before = *window;
        match (is_any_late, is_quorum) {
            (false, true) => {
                window.answered(cx.now, self.started, self.timeout_at.since(self.started));
            }
            (true, false) => window.unanswered(cx.now, self.started),
            // Votes that were split, or that had no chance, say nothing about how fast masters are.
            _ => {}
        }
        #[cfg(any(test, feature = "testing"))]
        {
            let keeps = |rule| cx.masters.settings.agreement.keeps(rule);
            let (limit, was) = (window.limit, before.limit);
            if limit < was && !keeps(Rule::Narrows) || limit > was && !keeps(Rule::Widens) {
                *window = before;
            }
        }
    }

    /// Notes the answer of `node`, and counts it for the question of the round. A node's first answer
    /// is its only one: a late one changes nothing.
    pub(crate) fn record(&mut self, node: usize, mut answer: Answer, now: Instant) {
        if !self.outstanding.contains(node) {
            return;
        }
        self.outstanding.remove(node);
        match &mut self.kind {
            RoundKind::Acquire { tally, .. } => _ = tally.record(node, acquire::vote(&answer)),
            RoundKind::Extend { extension, .. } => {
                let report = extend::report(&answer);
                extension.record(node, report);
                // The node was warming up when it was asked. Its answer may lead to a top-up, but
                // does not count.
                if report != Report::Unknown && extension.warming.contains(node) {
                    answer = Answer::Unknown(UnknownCause::WarmingUp);
                }
            }
            RoundKind::Release { tally, deadline, gone, .. } => {
                let vote = release::vote(&answer);
                tally.record(node, vote);
                if vote == Vote::Refused && deadline.is_some_and(|deadline| now < deadline) {
                    gone.insert(node);
                }
            }
            RoundKind::Question(_) => {}
        }
        if let Answer::Refused(Refusal::Held { remaining }) = &mut answer {
            *remaining = self.life(node).or(*remaining);
        }
        if let Some(slot) = self.answers.get_mut(node) {
            *slot = (answer, now);
        }
    }

    /// Returns the nodes whose answers are `wanted`.
    fn nodes(&self, wanted: impl Fn(&Answer) -> bool) -> NodeSet {
        NodeSet::places(&self.answers, |(answer, _)| wanted(answer))
    }

    /// Returns the nodes that have refused since another has a key there.
    pub(crate) fn refused(&self) -> NodeSet {
        self.nodes(|answer| matches!(answer, Answer::Refused(Refusal::Held { .. })))
    }

    /// Returns the holder that most of the nodes have named that have refused us.
    pub(crate) fn named(&self) -> Obstacle {
        let refused = self.refused();
        self.named.most(|node| refused.contains(node))
    }

    /// Returns whether any node has reported the value of a key.
    pub(crate) fn has_named(&self) -> bool {
        self.named.nodes() != NodeSet::EMPTY
    }

    /// Returns the remaining life of the key on `node`, if the node has reported it.
    pub(crate) fn life(&self, node: usize) -> Option<Duration> {
        self.named.life(node)
    }

    /// Returns whether a node has refused a ballot that is too far from its clock.
    pub(crate) fn speaks_of_clocks(&self) -> bool {
        let clock = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Clock { .. }));
        self.nodes(clock) != NodeSet::EMPTY
    }

    /// Returns the nodes that were warming up when the round began.
    pub(crate) fn warming(&self) -> NodeSet {
        self.nodes(|answer| matches!(answer, Answer::Refused(Refusal::WarmingUp { .. })))
    }

    /// Judges the answer of the node that is asked first, while the others have not been asked.
    fn judge_first(&self, now: Instant) -> Course {
        let Some(HeldBack { first, ends_at }) = self.held_back else { return Course::GoesOn };
        match self.answers.get(first) {
            None | Some((Answer::Outstanding, _)) => Course::GoesOn,
            // At the end of a wait, that is not a verdict: all nodes are asked.
            Some((Answer::Refused(Refusal::Held { .. } | Refusal::Wanted { .. }), _))
                if now < ends_at =>
            {
                Course::IsLost { too_late: false }
            }
            Some(_) => Course::AsksOthers,
        }
    }

    /// Returns the nodes that have replied to an extension, whatever they replied. All that was sent
    /// to them before, on the same connection, has been executed.
    pub(crate) fn replied(&self) -> NodeSet {
        self.nodes(|answer| match answer {
            Answer::Held | Answer::Vacant | Answer::Taken => true,
            Answer::Unknown(cause) => {
                matches!(cause, UnknownCause::Server(_) | UnknownCause::WarmingUp)
            }
            _ => false,
        })
    }

    /// Returns whether a node may have done what an extension asks: an error says that it has not.
    pub(crate) fn may_have_extended(&self) -> bool {
        self.is_uncounted
            || self.answers.iter().any(|(answer, _)| match answer {
                Answer::Held => true,
                Answer::Unknown(cause) => !matches!(cause, UnknownCause::Server(_)),
                _ => false,
            })
    }

    /// Returns whether every node has answered or was given up.
    pub(crate) fn is_complete(&self) -> bool {
        self.outstanding == NodeSet::EMPTY
    }

    /// Returns every node's answer, by name.
    pub(crate) fn reports<'a>(&self, names: impl Iterator<Item = &'a Arc<str>>) -> Vec<NodeReport> {
        let reports = names.zip(&self.answers).map(|(node, (answer, came_at))| NodeReport {
            node: node.clone(),
            answer: answer.clone(),
            latency: came_at.since(self.started),
        });
        reports.collect()
    }
}
