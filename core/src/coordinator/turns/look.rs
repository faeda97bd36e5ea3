//! The look: what a waiter asks all masters, and what their answers come to.

use super::turn::Told;
use crate::coordinator::contention::{Contention, Phase};
use crate::coordinator::fencing::{has_no_script, refusal};
use crate::coordinator::round::RoundKind;
use crate::coordinator::session::{Part, PendingReply};
use crate::coordinator::timers::Timer;
use crate::coordinator::wire::{Claim, Reply};
use crate::coordinator::{Coordinator, FailureKind, RequestId, RoundId};
use crate::obstacle::Obstacle;
use crate::quorum::turns::{self, Event};
use crate::quorum::{Instant, Membership, NodeSet};
use crate::report::{Answer, NodeReport, Refusal, UnknownCause};
use std::time::Duration;

impl Coordinator {
    /// Asks all masters where this waiter stands, and whether they would grant.
    pub(super) fn look(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let Some(turn) = acquisition.contention.as_ref().and_then(|one| one.turn.as_ref()) else {
            return;
        };
        let (place, acquire) = (turn.place, acquisition.request.clone());
        let life = acquire.life();
        let claim = Claim {
            ballot: acquire.fences.map(|fences| self.propose(now, fences)),
            keys: acquire.keys,
            token: place.waiter,
            life,
            label: None,
            unsettled: NodeSet::EMPTY,
            place: Some(Box::new(place)),
        };
        let timeout = self.settings.round_timeout(acquire.ttl.span());
        let mut round = self.new_round(RoundKind::Ask { request }, now, timeout);
        let id: RoundId = self.rounds.reserve();
        let Some(command) = claim.look(&mut self.packer) else { return };
        let (mut asked, mut warming) = (NodeSet::EMPTY, NodeSet::EMPTY);
        for (node, session) in self.sessions.iter().enumerate() {
            match session.part(command.len(), now, None) {
                // A look grants nothing: a master need not have confirmed lately.
                Part::Vote | Part::Absent(Refusal::Unconfirmed) => asked.insert(node),
                Part::Uncounted(reason) => {
                    warming.insert(node);
                    round.record(node, Answer::Refused(reason), now);
                }
                Part::Absent(reason) => round.record(node, Answer::Refused(reason), now),
            }
        }
        // Nothing that could not win is sent.
        if !self.settings.membership.is_quorum(asked) {
            let unasked = Answer::Unknown(UnknownCause::TimedOut);
            asked.iter().for_each(|node| round.record(node, unasked.clone(), now));
            (asked, warming) = (NodeSet::EMPTY, NodeSet::EMPTY);
        }
        for node in asked.union(warming).iter() {
            let session = &mut self.sessions[node];
            let counts = asked.contains(node);
            session.prepare(&claim);
            session.push(
                if counts { PendingReply::Vote(id) } else { PendingReply::Uncounted },
                command,
            );
        }
        self.timers.set(round.timeout_at, Timer::Round(id));
        self.rounds.insert(id, round);
        let nodes = self.sessions.len();
        if let Some(turn) = self.acquisitions.turn_mut(request) {
            turn.begin_round(now, nodes);
            turn.stands_at(asked.union(warming));
            turn.looking = Some(id);
        }
        self.judge_ask(now, id);
    }

    /// Notes what a node tells of a waiter's place, and of the holder that refuses it.
    pub(in crate::coordinator) fn learn_place(&mut self, id: RoundId, node: usize, reply: &Reply) {
        let Reply::Array(parts) = reply else { return };
        let [_, _, _, _, stamp, Reply::Int(ahead), holder] = parts.as_slice() else { return };
        let stamp = stamp.text().and_then(|text| text.parse().ok()).filter(|stamp| *stamp > 0);
        let told = Told { stamp, ahead: usize::try_from(*ahead).unwrap_or_default() };
        let Some(round) = self.rounds.get_mut(id) else { return };
        if let Some(value) = holder.text().filter(|value| !value.is_empty()) {
            round.note_value(node, Some(value));
        }
        let request = round.kind.acquirer();
        if let Some(turn) = request.and_then(|request| self.acquisitions.turn_mut(request)) {
            turn.note(node, told);
        }
    }

    /// Judges a look once all nodes are done.
    pub(in crate::coordinator) fn judge_ask(&mut self, now: Instant, id: RoundId) {
        if !self.rounds.get(id).is_some_and(|round| round.is_complete()) {
            return;
        }
        let Some(round) = self.take_round(id) else { return };
        let RoundKind::Ask { request } = round.kind else { return };
        let membership = self.settings.membership;
        let reports = round.reports(self.sessions.iter().map(|session| &session.name));
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let Some(turn) = contention.turn.as_mut().filter(|turn| turn.looking == Some(id)) else {
            return;
        };
        turn.looking = None;
        // The scripts are there by now: the next look finds them.
        if !turn.reloaded && reports.iter().any(|report| has_no_script(&report.answer)) {
            (turn.reloaded, turn.looks) = (true, true);
            return self.take_turn(now, request);
        }
        turn.reloaded = false;
        let has_ticket = turn.place.ticket.is_some();
        let ahead = turn.ahead(membership);
        let event = match has_ticket {
            true => contention.event(membership, &reports, true),
            // It is stored everywhere at once.
            false if turn.take_ticket(membership) => {
                turn.looks = true;
                return self.take_turn(now, request);
            }
            false => Event::Unable,
        };
        let named = round.named();
        if let Phase::Waiting { failure, .. } = &mut contention.phase {
            failure.kind = match event {
                Event::Silent => FailureKind::of(membership, &reports, named),
                _ => FailureKind::Contended(Obstacle::of(membership, &reports, named)),
            };
            (failure.reports, failure.ahead) = (reports, ahead);
        }
        self.tell_wait(request, ahead);
        self.learn_turn(now, request, event);
    }

    /// Lets a waiter do what follows from the answers of its look, or of a try that it has lost.
    pub(in crate::coordinator) fn learn_turn(
        &mut self,
        now: Instant,
        request: RequestId,
        event: Event,
    ) {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        contention.learn_lives();
        let free_in = contention.free_in(&self.settings);
        let Some(turn) = contention.turn.as_mut() else { return };
        let event = turn.hears(now, event);
        // The answers are older than a message that has come since.
        if !(turn.wants && matches!(event, Event::First | Event::Others)) {
            self.happens(now, request, event);
        }
        if let Some(turn) = self.acquisitions.turn_mut(request) {
            turn.expect(now, free_in);
        }
        self.take_turn(now, request);
    }
}

impl Contention {
    /// Returns what the answers to a look, or to a lost try, come to.
    pub(in crate::coordinator) fn event(
        &self,
        membership: Membership,
        reports: &[NodeReport],
        is_look: bool,
    ) -> Event {
        let Some(turn) = &self.turn else { return Event::Unable };
        let may_hurry = self.hurries();
        let nodes = |wanted: &dyn Fn(usize, &Answer) -> bool| -> NodeSet {
            let all = reports.iter().enumerate();
            all.filter_map(|(node, one)| wanted(node, &one.answer).then_some(node)).collect()
        };
        // A ballot that is refused is corrected with the next one, as long as that is likely.
        let corrected = |answer: &Answer| {
            let refused = matches!(answer, Answer::Refused(Refusal::Stale | Refusal::Clock { .. }));
            refused && may_hurry
        };
        let held = |answer: &Answer| {
            matches!(answer, Answer::Refused(Refusal::Held { .. } | Refusal::Wanted { .. }))
        };
        let free = |answer: &Answer| matches!(answer, Answer::Granted | Answer::Vacant);
        let behind = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Behind { .. }));
        // A try is lost before all have answered, and one that meets no script loads it.
        let open = |report: &NodeReport| {
            !is_look && (report.answer == Answer::Outstanding || has_no_script(&report.answer))
        };
        let able = nodes(&|node, one| {
            free(one) || held(one) || behind(one) || corrected(one) || open(&reports[node])
        });
        let would = nodes(&|_, one| is_look && (*one == Answer::Vacant || corrected(one)));
        let first = nodes(&|node, one| {
            free(one) || corrected(one) || (held(one) && turn.is_first_at(node))
        });
        let silent = nodes(&|node, one| !able.contains(node) && !says_so(one));
        turns::told(membership, able, silent, would, first)
    }

    /// Notes, from the answers of the latest round, when each node may be free.
    fn learn_lives(&mut self) {
        let Phase::Waiting { failure, .. } = &self.phase else { return };
        let free_in = |(node, report): (usize, &NodeReport)| match report.answer {
            Answer::Granted | Answer::Vacant => Some((node, Duration::ZERO)),
            Answer::Refused(Refusal::Held { remaining }) => Some((node, remaining?)),
            _ => None,
        };
        let lives = failure.reports.iter().enumerate().filter_map(free_in).collect();
        self.remaining = lives;
    }
}

/// Returns whether an answer that grants nothing, and would not, is a master's last word for now. Any other
/// may be another one soon: the master has stopped for a moment, or has just been started.
fn says_so(answer: &Answer) -> bool {
    let passes =
        |error: &str| ["NOSCRIPT", "BUSY", "LOADING"].iter().any(|it| error.starts_with(it));
    match answer {
        Answer::Refused(Refusal::Server(error)) => !passes(error),
        Answer::Refused(
            Refusal::Down(_)
            | Refusal::Unconfirmed
            | Refusal::WarmingUp { .. }
            | Refusal::QueueFull,
        ) => false,
        Answer::Refused(_) => true,
        Answer::Unknown(cause) => matches!(cause, UnknownCause::Server(_)),
        _ => false,
    }
}

/// Reads a master's answer to a look.
pub(in crate::coordinator) fn told(reply: &Reply) -> Answer {
    match reply {
        Reply::Array(parts) => match parts.first() {
            Some(Reply::Int(-3)) => Answer::Vacant,
            _ => refusal(parts),
        },
        Reply::Error(_) => Answer::Refused(Refusal::Server(reply.unexpected())),
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}
