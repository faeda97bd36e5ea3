//! The look: what a waiter asks all masters, and what their answers come to.

use super::turn::ReportedPlace;
use crate::lock::{Locks, Round, RoundKind};
use crate::master::fencing::{has_no_script, refusal};
use crate::master::{Masters, Part, PendingReply};
use crate::obstacle::Obstacle;
use crate::quorum::turns::{self, Event};
use crate::quorum::{Membership, NodeSet};
use crate::report::{Answer, NodeReport, Refusal, UnknownCause};
use crate::shared::{Cx, FailureKind, RequestId, RoundId};
use crate::waiting::{Contention, Phase, Waiters};
use crate::wire::{Claim, Millis, Reply};
use std::time::Duration;

/// The question of a waiter where it stands.
pub(crate) struct Question {
    claim: Claim,
    ttl: Millis,
}

/// What a node reports of a place in its queue, and the value of the key that refuses its waiter.
pub(crate) struct StoredPlace<'a> {
    pub(crate) reported: ReportedPlace,
    pub(crate) holder: Option<&'a str>,
}

impl<'a> StoredPlace<'a> {
    pub(crate) fn in_parts(parts: &'a [Reply]) -> Option<Self> {
        let [_, _, _, _, stamp, Reply::Int(ahead), holder] = parts else { return None };
        let stamp = stamp.text().and_then(|text| text.parse().ok()).filter(|stamp| *stamp > 0);
        let reported = ReportedPlace { stamp, ahead: usize::try_from(*ahead).unwrap_or_default() };
        Some(Self { reported, holder: holder.text().filter(|value| !value.is_empty()) })
    }
}

impl Locks {
    /// Asks all masters where a waiter stands, and whether they would grant.
    pub(crate) fn look_where_it_stands(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        question: Question,
    ) -> Option<(RoundId, NodeSet)> {
        let Question { claim, ttl } = question;
        let timeout = cx.masters.settings.round_timeout(ttl.span());
        let mut round = self.new_round(cx, RoundKind::Ask { request }, timeout);
        let id: RoundId = self.rounds.reserve();
        let Masters { packer, sessions, settings, .. } = &mut cx.masters;
        let command = claim.look(packer)?;
        let (mut asked, mut warming) = (NodeSet::EMPTY, NodeSet::EMPTY);
        for (node, session) in sessions.iter().enumerate() {
            match session.part_of_question(command.len(), cx.now) {
                Part::Vote => asked.insert(node),
                Part::Uncounted(reason) => {
                    warming.insert(node);
                    round.record(node, Answer::Refused(reason), cx.now);
                }
                Part::Absent(reason) => round.record(node, Answer::Refused(reason), cx.now),
            }
        }
        // Nothing that could not win is sent.
        if !settings.membership.is_quorum(asked) {
            asked.iter().for_each(|node| round.record(node, Answer::Available, cx.now));
            (asked, warming) = (NodeSet::EMPTY, NodeSet::EMPTY);
        }
        for node in asked.union(warming).iter() {
            let session = &mut sessions[node];
            let counts = asked.contains(node);
            session.prepare(&claim);
            session.push(
                if counts { PendingReply::Vote(id) } else { PendingReply::Uncounted },
                command,
            );
        }
        self.open_round(cx, id, round);
        Some((id, asked.union(warming)))
    }

    /// Judges a look once all nodes are done.
    pub(crate) fn judge_ask(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId) {
        let Some(round) = self.take_complete(cx, id) else { return };
        let RoundKind::Ask { request } = round.kind else { return };
        waiters.looked(cx, request, id, &round);
    }
}

impl Waiters {
    /// Builds the question of a waiter where it stands, and whether masters would grant.
    pub(crate) fn look(&mut self, cx: &mut Cx, request: RequestId) -> Option<Question> {
        let acquisition = self.acquisitions.get_mut(request)?;
        let turn = acquisition.contention.as_mut()?.turn.as_mut()?;
        turn.choose_pace(cx.now, self.mailboxes.receives(cx, &acquisition.request.keys));
        let place = turn.place;
        let acquire = acquisition.request.clone();
        let life = acquire.life();
        let claim = Claim {
            ballot: acquire.fences.map(|fences| cx.masters.propose(cx.now, fences, false)),
            keys: acquire.keys,
            token: place.waiter,
            life,
            label: None,
            unsettled: NodeSet::EMPTY,
            place: Some(Box::new(place)),
        };
        Some(Question { claim, ttl: acquire.ttl })
    }

    /// Notes that the question has left for these nodes.
    pub(crate) fn looks(&mut self, cx: &Cx, request: RequestId, round: RoundId, asked: NodeSet) {
        if let Some(turn) = self.acquisitions.turn_mut(request) {
            turn.begin_look(cx.now, cx.masters.sessions.len());
            turn.stands_at(asked);
            turn.looking = Some(round);
        }
    }

    /// Notes what a node reports of a waiter's place.
    pub(crate) fn learn_place(&mut self, request: RequestId, node: usize, place: ReportedPlace) {
        if let Some(turn) = self.acquisitions.turn_mut(request) {
            turn.note(node, place);
        }
    }

    /// Goes on with the answers of a look.
    pub(crate) fn looked(&mut self, cx: &mut Cx, request: RequestId, id: RoundId, round: &Round) {
        let membership = cx.masters.settings.membership;
        let reports = round.reports(cx.masters.names());
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let keys = acquisition.request.keys.clone();
        let Some(contention) = &mut acquisition.contention else { return };
        let Some(turn) = contention.turn.as_mut().filter(|turn| turn.looking == Some(id)) else {
            return;
        };
        turn.looking = None;
        // The scripts are there by now: the next look finds them.
        if !turn.reloaded && reports.iter().any(|report| has_no_script(&report.answer)) {
            (turn.reloaded, turn.looks) = (true, true);
            return self.take_turn(cx, request);
        }
        turn.reloaded = false;
        let ahead = turn.ahead(membership);
        turn.note_ahead(ahead);
        if let Some(ahead) = ahead {
            self.queues.note(cx.now, keys.first(), ahead);
        }
        let has_ticket = turn.place.ticket.is_some();
        let event = match has_ticket {
            true => contention.event(membership, &reports, true),
            // It is stored everywhere at once.
            false if turn.take_ticket(membership) => {
                turn.looks = true;
                return self.take_turn(cx, request);
            }
            false => Event::Unable,
        };
        let named = round.named();
        if let Phase::Waiting { failure, .. } = &mut contention.phase {
            failure.kind = match event {
                Event::Silent => FailureKind::of(membership, &reports, named),
                _ => FailureKind::Contended(Obstacle::of(membership, &reports, named)),
            };
            (failure.reports, failure.ahead, failure.unnamed) = (reports, ahead, None);
        }
        self.tell_wait(cx, request, ahead);
        let was_first = self.acquisitions.turn_mut(request).is_some_and(|turn| turn.is_first());
        self.learn_turn(cx, request, event);
        if was_first {
            self.listen_while_first(cx, request);
        }
        self.ask_holders_as_first(cx, request, &keys);
    }

    /// Lets a waiter do what follows from the answers of its look, or of a try that it has lost.
    pub(crate) fn learn_turn(&mut self, cx: &mut Cx, request: RequestId, event: Event) {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        contention.learn_lives();
        let free_in = contention.free_in(&cx.masters.settings);
        let Some(turn) = contention.turn.as_mut() else { return };
        let event = turn.hears(cx.now, event);
        // The answers are older than a message that has come since.
        if !(turn.wants && matches!(event, Event::First | Event::Others)) {
            self.happens(cx, request, event);
        }
        if let Some(turn) = self.acquisitions.turn_mut(request) {
            turn.expect(cx.now, free_in);
        }
        self.take_turn(cx, request);
    }
}

impl Contention {
    /// Returns what the answers to a look, or to a lost try, come to.
    pub(crate) fn event(
        &self,
        membership: Membership,
        reports: &[NodeReport],
        is_look: bool,
    ) -> Event {
        let Some(turn) = &self.turn else { return Event::Unable };
        let may_hurry = self.hurries();
        let nodes = |wanted: &dyn Fn(usize, &Answer) -> bool| -> NodeSet {
            let all = reports.iter().enumerate();
            all.filter_map(|(node, report)| wanted(node, &report.answer).then_some(node)).collect()
        };
        // A ballot that is refused is corrected with the next one, as long as that is likely.
        let corrected = |answer: &Answer| answer.refuses_ballot() && may_hurry;
        let held = |answer: &Answer| {
            matches!(answer, Answer::Refused(Refusal::Held { .. } | Refusal::Wanted { .. }))
        };
        let free = |answer: &Answer| matches!(answer, Answer::Granted | Answer::Vacant);
        let behind = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Behind { .. }));
        // A try is lost before all have answered, and one that meets no script loads it.
        let open = |report: &NodeReport| {
            !is_look && (report.answer == Answer::Outstanding || has_no_script(&report.answer))
        };
        let able = nodes(&|node, reply| {
            free(reply) || held(reply) || behind(reply) || corrected(reply) || open(&reports[node])
        });
        let would = nodes(&|_, reply| is_look && (*reply == Answer::Vacant || corrected(reply)));
        let first = nodes(&|node, reply| {
            free(reply) || corrected(reply) || (held(reply) && turn.is_first_at(node))
        });
        let silent = nodes(&|node, reply| !able.contains(node) && !says_so(reply));
        turns::combined(membership, able, silent, would, first)
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
        |error: &str| ["NOSCRIPT", "BUSY", "LOADING"].iter().any(|code| error.starts_with(code));
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
pub(crate) fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Array(parts) => match parts.first() {
            Some(Reply::Int(-3)) => Answer::Vacant,
            _ => refusal(parts),
        },
        Reply::Error(_) => Answer::Refused(Refusal::Server(reply.unexpected())),
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}
