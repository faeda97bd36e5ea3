//! Bursts: one client asks for hundreds of locks at once while others are kept alive, at masters that execute one
//! command after the other. A lock of a burst has a name of its own, and is released as soon as it is won.

use super::acts::{Acts, BEGINS, asked};
use super::client::name;
use super::clock::{millis, nanos};
use super::plan::{Act, Asked, Fault, Mode, span};
use super::seed::Rng;
use super::setup::Setup;
use super::world::World;
use quorumlock_core::coordinator::{AcquireRequest, AttemptId, Keys, RequestId};
use quorumlock_core::quorum::Nanos;
use std::time::Duration;

/// Connections are old enough by then for all that is judged.
const READY: Duration = millis(2_000);

/// The ttl of most locks that are kept.
const SHORT: Duration = millis(1_000);

/// For how long all masters are farther away, before the burst, and how often a lock is asked for meanwhile.
const FARTHER: Duration = millis(1_000);
const EACH: Duration = millis(40);

/// Settles what the masters of such a world are like: they have much to do, or are far away.
pub(super) fn settle(setup: &mut Setup, is_far: bool, rng: &mut Rng) {
    setup.operation_timeout = millis(*rng.pick(&[100, 200]));
    setup.longest_pause = millis(50);
    setup.steps_back = false;
    let micros = if is_far {
        setup.latency_us = 10_000..14_000;
        20
    } else {
        setup.latency_us = rng.pick(&[100..400, 100..3_000]).clone();
        *rng.pick(&[100, 200, 300])
    };
    setup.service = Duration::from_micros(micros);
    let served = setup.serves_a_burst_within(most(is_far), setup.burst_message());
    setup.length = READY + FARTHER + SHORT + served + millis(3_000);
}

/// Returns the number of locks that are asked for at most.
const fn most(is_far: bool) -> usize {
    if is_far { 1_600 } else { 2_000 }
}

/// Draws all that is done.
pub(super) fn draw(acts: &mut Acts<'_>, is_far: bool, rng: &mut Rng) {
    let max_ttl = acts.setup.max_ttl;
    let modes = [Mode::Alone, Mode::Alone, Mode::Write, Mode::Read, Mode::Fair];
    for (seat, keys) in [["a"].as_slice(), &["b"]].into_iter().enumerate() {
        let ttl = if is_far { max_ttl } else { *rng.pick(&[SHORT, SHORT, max_ttl]) };
        let kept = asked(acts.setup, *rng.pick(&modes));
        acts.asks(BEGINS, seat, &Asked { keys, ttl, ..kept });
    }
    let begins = READY + rng.duration(Duration::ZERO..SHORT);
    let most = most(is_far);
    let count = rng.within(most as u64 / 3..most as u64) as usize;
    if is_far {
        let farther = millis(30);
        for node in 0..acts.setup.masters {
            acts.befalls(begins, Fault::Slows { node, by: farther, span: FARTHER });
        }
        let mut at = begins;
        while at < begins + FARTHER {
            acts.at(at, Act::Burst { seat: 0, count: 1 });
            at += EACH;
        }
        return acts.at(begins + FARTHER + 2 * farther, Act::Burst { seat: 0, count });
    }
    acts.at(begins, Act::Burst { seat: 0, count });
    let at = begins + span(rng, 0, 300) - millis(100);
    let node = rng.within(0..acts.setup.masters as u64) as usize;
    let rest = acts.rest(at);
    match rng.within(0..8) {
        0 => acts.befalls(at, Fault::Slows { node, by: millis(25), span: rest }),
        1 => acts.befalls(at, Fault::Slows { node: 0, by: millis(150), span: rest }),
        2 => acts.befalls(at, Fault::Stops { node, span: span(rng, 300, 3_000) }),
        3 => acts.befalls(at, Fault::PausesClient { seat: 0, span: span(rng, 50, 400) }),
        _ => {}
    }
}

impl World {
    /// Begins so many acquires at once.
    pub(super) fn begin_burst(&mut self, place: usize, count: usize) {
        let (now, local) = (self.agenda.now, self.local(place));
        let wait = nanos(self.setup.length).saturating_sub(now);
        self.say(|| format!("{} asks for {count} locks", name(place)));
        for _ in 0..count {
            let client = &mut self.clients[place];
            let request = client.next_request(now);
            client.burst.insert(request.0);
            let acquire = AcquireRequest {
                keys: Keys::one(format!("burst:{}", request.0).into()),
                fences: None,
                ttl: self.setup.max_ttl.into(),
                lock_delay: Duration::ZERO.into(),
                wait: Nanos::of(Duration::from_nanos(wait)),
                keep_alive: None,
                label: None,
                at_least: None,
                keep_warm: Nanos::ZERO,
                probes: false,
                is_fair: false,
            };
            if let Some(machine) = &mut client.machine {
                machine.handle_acquire(local, request, acquire);
            }
        }
        self.turn(place);
    }

    /// Releases a lock that was won, if it is one of a burst.
    pub(super) fn serves_burst(
        &mut self,
        place: usize,
        request: RequestId,
        attempt: AttemptId,
    ) -> bool {
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        if !client.end_of_burst(request.0, now) {
            return false;
        }
        let release = client.next_request(now);
        client.awaited.insert(release.0);
        if let Some(machine) = &mut client.machine {
            let token = machine.token(attempt).expect("the token of a win");
            self.invariants.given_back.won(&token);
            machine.handle_release(local, Some(release), attempt, true);
        }
        true
    }

    /// Gives up what is left of all bursts.
    pub(super) fn end_bursts(&mut self, place: usize) {
        while let Some(request) = self.clients[place].burst.pop_first() {
            self.cancel_request(place, request);
        }
    }
}
