//! What happens in each bad night.

use super::{EVERYTHING, Night, WELL_FOR};
use crate::acts::{Acts, BEGINS, asked};
use crate::clock::{Time, millis};
use crate::plan::{Act, Asked, Fault, Mode, RESOURCES, span};
use crate::seed::Rng;
use crate::setup::Setup;
use quorumlock_core::quorum::Nanos;
use std::ops::Range;
use std::time::Duration;

/// The stories of a hundred in which all want a permit.
const PERMITS: u64 = 10;

impl Night {
    /// Draws all that is done.
    pub(crate) fn draw(self, setup: &Setup, rng: &mut Rng) -> Vec<(Time, Act)> {
        let mut acts = Acts::new(setup);
        match self {
            Self::CrashLoop => crash_loop(&mut acts, rng),
            Self::HalfIsKilled => half_is_killed(&mut acts, rng),
            Self::AnswersErrors => answers_errors(&mut acts, rng),
            Self::DropsInSilence => drops_in_silence(&mut acts, rng),
            Self::FarAway | Self::Drift => load(&mut acts, rng),
            Self::SlowMaster => slow_master(&mut acts, rng),
            Self::Rolling => rolling(&mut acts, rng),
            Self::AllRestart => all_restart(&mut acts, rng),
            Self::LongOutage => long_outage(&mut acts, rng),
            Self::DeadAndMute => dead_and_mute(&mut acts, rng),
            Self::Adopted => adopted(&mut acts, rng),
            Self::Readers => readers(&mut acts, rng),
            Self::Warm => warm(&mut acts, rng),
            Self::Quiet => quiet(&mut acts, rng),
            Self::Hiccups => hiccups(&mut acts, rng),
            Self::ComesBack => comes_back(&mut acts, rng),
            Self::Patient => patient(&mut acts, rng),
        }
        acts.all
    }
}

impl Acts<'_> {
    fn any_node(&self, rng: &mut Rng) -> usize {
        rng.within(0..self.setup.masters as u64) as usize
    }

    /// Each of these seats wants it again and again, and works for a while.
    fn works(&mut self, seats: Range<usize>, asked: &Asked, rng: &mut Rng) {
        for seat in seats {
            let mut at = BEGINS + span(rng, 0, 400);
            while at + WELL_FOR < self.setup.length {
                let wait = span(rng, 1_000, 4_000).min(self.rest(at));
                self.at(at, Act::Acquire { seat, asked: Asked { wait, ..asked.clone() } });
                at += span(rng, 50, 900);
                self.releases(at, seat);
                at += span(rng, 10, 300);
            }
        }
    }
}

/// A caller holds it, and others come one after the other. Returns when the last has come.
fn wait_for(acts: &mut Acts<'_>, wanted: &Asked, seats: Range<usize>) -> Duration {
    for _ in 0..if wanted.is_permit { 2 } else { 1 } {
        acts.asks(BEGINS, 0, wanted);
    }
    let mut at = BEGINS + millis(50);
    for seat in seats {
        acts.asks(at, seat, wanted);
        at += millis(20);
    }
    at
}

/// The holder dies or releases.
fn ends(acts: &mut Acts<'_>, at: Duration, seat: usize, rng: &mut Rng) {
    match rng.chance(50) {
        true => acts.befalls(at, Fault::KillsClient { seat, back_after: acts.rest(at) }),
        false => acts.releases(at, seat),
    }
}

fn crash_loop(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let mut at = wait_for(acts, &wanted, 2..4);
    while at < millis(3_000) {
        acts.asks(at, 1, &wanted);
        at += span(rng, 30, 400);
        acts.befalls(at, Fault::KillsClient { seat: 1, back_after: millis(10) });
        at += millis(20);
    }
    ends(acts, span(rng, 500, 3_000), 0, rng);
}

fn half_is_killed(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let at = wait_for(acts, &wanted, 1..8) + span(rng, 0, 1_000);
    let all_the_holder = rng.chance(70);
    for seat in if all_the_holder { 0..4 } else { 1..5 } {
        acts.befalls(at, Fault::KillsClient { seat, back_after: acts.rest(at) });
    }
    if !all_the_holder {
        ends(acts, at + span(rng, 10, 1_000), 0, rng);
    }
}

fn answers_errors(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let node = acts.any_node(rng);
    let from = if rng.chance(50) { BEGINS - millis(100) } else { BEGINS + span(rng, 0, 600) };
    let span_of = acts.rest(from).saturating_sub(WELL_FOR);
    match rng.chance(70) {
        true => acts.befalls(from, Fault::Denies { node, rights: EVERYTHING, span: span_of }),
        false => acts.befalls(from, Fault::MakesReplica { node, span: span_of }),
    }
    match rng.within(0..4) {
        0 => acts.works(0..4, &wanted, rng),
        1 => {
            let at = wait_for(acts, &wanted, 1..4);
            ends(acts, at + span(rng, 300, 1_500), 0, rng);
        }
        // It has a key of before, and denies its release.
        _ => {
            let at = wait_for(acts, &wanted, 1..4) + span(rng, 100, 300);
            let node = (node + 1) % acts.setup.masters;
            acts.befalls(at, Fault::Denies { node, rights: EVERYTHING, span: span(rng, 50, 400) });
            acts.releases(at + millis(20), 0);
        }
    }
}

fn drops_in_silence(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let at = wait_for(acts, &wanted, 1..4) + span(rng, 0, 500);
    for seat in 0..4 {
        for node in 0..acts.setup.masters {
            if rng.chance(40) {
                acts.befalls(at + span(rng, 0, 300), Fault::Drops { seat, node });
            }
        }
    }
    ends(acts, at + span(rng, 50, 1_500), 0, rng);
}

fn load(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    acts.works(0..4, &wanted, rng);
}

fn slow_master(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let (node, by) = (acts.any_node(rng), span(rng, 50, 300));
    acts.befalls(Duration::ZERO, Fault::Slows { node, by, span: acts.rest(WELL_FOR) });
    if rng.chance(50) {
        return acts.works(0..4, &wanted, rng);
    }
    let at = wait_for(acts, &wanted, 1..4);
    ends(acts, at + span(rng, 300, 1_500), 0, rng);
}

fn rolling(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    acts.works(0..4, &wanted, rng);
    let mut at = millis(1_000);
    for node in 0..acts.setup.masters {
        let down = span(rng, 50, 300);
        acts.befalls(at, Fault::Kills { node, silent: false, down, keeps: false });
        // Some operators wait until the master votes again, and others do not.
        at += if rng.chance(50) { acts.setup.quarantine + millis(400) } else { millis(400) };
    }
}

fn all_restart(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let at = wait_for(acts, &wanted, 1..4);
    acts.befalls(at, Fault::KillsAll { down: span(rng, 50, 500), keeps: false });
    acts.asks(at + millis(700), 0, &wanted);
}

fn long_outage(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let (node, down) = (acts.any_node(rng), span(rng, 9_000, 12_000));
    let fault = Fault::Kills { node, silent: rng.chance(50), down, keeps: true };
    acts.befalls(millis(1_000), fault);
    acts.works(0..3, &wanted, rng);
}

fn dead_and_mute(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let gone = rng.within(3..7) as usize;
    let dies_at = wait_for(acts, &wanted, 1..8) + span(rng, 100, 600);
    let span_of = acts.rest(dies_at);
    for seat in 1..=gone {
        match rng.within(0..3) {
            0 => acts.befalls(dies_at, Fault::KillsClient { seat, back_after: span_of }),
            1 => acts.befalls(dies_at, Fault::PausesClient { seat, span: span_of }),
            _ => {
                let cut =
                    |node| Fault::Cuts { seat: Some(seat), node, direction: None, span: span_of };
                (0..acts.setup.masters).for_each(|node| acts.befalls(dies_at, cut(node)));
            }
        }
    }
    let ends_at = dies_at + span(rng, 10, 500);
    if rng.chance(50) {
        let (node, key) = (acts.any_node(rng), wanted.keys[0]);
        acts.befalls(dies_at, Fault::Sticks { node, key, span: acts.rest(dies_at) });
    }
    ends(acts, ends_at, 0, rng);
}

fn adopted(acts: &mut Acts<'_>, rng: &mut Rng) {
    let mode = if rng.chance(70) { Mode::Alone } else { Mode::Fair };
    let wanted = asked(acts.setup, mode);
    let at = wait_for(acts, &wanted, 2..4);
    let handed_at = if rng.chance(50) { BEGINS + millis(40) } else { at + span(rng, 0, 300) };
    let after = span(rng, 5, 200);
    acts.at(handed_at, Act::Detach { seat: 0, dice: 0, to: 1, after });
    ends(acts, handed_at + after + span(rng, 200, 1_500), 1, rng);
}

fn readers(acts: &mut Acts<'_>, rng: &mut Rng) {
    // Each leaves by itself.
    let reads = Asked { keep_alive: None, ttl: millis(1_000), ..asked(acts.setup, Mode::Read) };
    // The hint of the writer has to be renewed until this one leaves.
    let stays = Asked { keep_alive: Some(Nanos::FOREVER), wait: millis(500), ..reads.clone() };
    acts.at(BEGINS, Act::Acquire { seat: 4, asked: stays });
    acts.releases(BEGINS + millis(5_500), 4);
    let mut at = BEGINS;
    let mut seat = 0;
    // Until shortly before the writer leaves.
    while at + millis(6_200) < acts.setup.length {
        // The first of them polls for both.
        for wait in [span(rng, 100, 1_000), acts.rest(at)] {
            acts.at(at, Act::Acquire { seat, asked: Asked { wait, ..reads.clone() } });
        }
        at += millis(500);
        acts.releases(at, (seat + 2) % 3);
        seat = (seat + 1) % 3;
    }
    let at = BEGINS + span(rng, 500, 1_500);
    acts.asks(at, 3, &asked(acts.setup, Mode::Write));
    acts.releases(acts.setup.length - millis(5_500), 3);
}

fn hiccups(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = asked(acts.setup, Mode::Fair);
    let mut at = wait_for(acts, &wanted, 1..4) + millis(300);
    // Shorter than a silence after which a connection is given up.
    for _ in 0..6 {
        for node in 0..acts.setup.masters {
            acts.befalls(at, Fault::Stops { node, span: span(rng, 200, 280) });
        }
        at += span(rng, 500, 900);
    }
    acts.releases(at + span(rng, 0, 2_000), 0);
}

fn comes_back(acts: &mut Acts<'_>, rng: &mut Rng) {
    let fair = asked(acts.setup, Mode::Fair);
    let wanted = if rng.chance(40) { fair } else { acts.any(PERMITS, rng) };
    let came = wait_for(acts, &wanted, 1..4);
    let node = acts.any_node(rng);
    // Those that wait came while it was away, or before.
    let falls_at = if rng.chance(50) { BEGINS - millis(150) } else { came + span(rng, 0, 300) };
    let down = span(rng, 600, 1_500);
    acts.befalls(falls_at, Fault::Kills { node, silent: false, down, keeps: true });
    let mut at = falls_at + down + span(rng, 4_000, 5_000);
    for seat in 0..4 {
        acts.releases(at, seat);
        at += millis(400);
    }
}

fn patient(acts: &mut Acts<'_>, rng: &mut Rng) {
    let alone = asked(acts.setup, Mode::Alone);
    let wanted = if rng.chance(60) { alone } else { acts.any(PERMITS, rng) };
    let last = *rng.pick(&[1, 1, 2, 4, 4]);
    let mut waiting = 1..last + 1;
    let mut at = wait_for(acts, &wanted, waiting.clone()) + span(rng, 500, 1_500);
    while !waiting.is_empty() {
        at = each_fails(acts, 0..last + 1, at, rng) + span(rng, 1_800, 2_500);
        // One of them has a guard.
        let is_released = acts.setup.wake_ups && rng.chance(70);
        for seat in 0..=last {
            match is_released {
                true => acts.releases(at, seat),
                false => acts.at(at, Act::Forget { seat, dice: 0 }),
            }
        }
        // The first of the others, and the last, which looks after its call.
        if waiting.start > 1 && waiting.len() > 2 {
            for seat in [waiting.start, last] {
                let soon = Duration::from_micros(rng.within(0..acts.setup.latency_us.end));
                acts.at(at + soon, Act::Cancel { seat, dice: 0 });
            }
            waiting.start = last;
        }
        waiting.start += 1;
        at += span(rng, 600, 1_000) + if is_released { Duration::ZERO } else { wanted.ttl };
    }
}

/// Some of the masters fail for a moment, one after the other, or connections of some of these seats. Returns when all
/// have.
fn each_fails(
    acts: &mut Acts<'_>,
    seats: Range<usize>,
    mut at: Duration,
    rng: &mut Rng,
) -> Duration {
    let mut nodes: Vec<usize> = (0..acts.setup.masters).collect();
    rng.shuffle(&mut nodes);
    for node in nodes {
        match rng.within(0..10) {
            0..4 => {
                let down = span(rng, 50, 300);
                acts.befalls(at, Fault::Kills { node, silent: false, down, keeps: true });
            }
            4..7 => {
                let lost = seats.clone().filter(|_| rng.chance(70)).collect::<Vec<_>>();
                lost.into_iter().for_each(|seat| acts.befalls(at, Fault::Resets { seat, node }));
            }
            _ => continue,
        }
        at += span(rng, 500, 800);
    }
    at
}

fn warm(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = Asked { warm: millis(5_000), keep_alive: None, ..asked(acts.setup, Mode::Alone) };
    let mut at = BEGINS;
    for round in 0..3 {
        acts.asks(at, 0, &wanted);
        at += span(rng, 20, 200);
        let (before, behind) = (at + span(rng, 0, 50), at + span(rng, 60, 400));
        acts.at(before, Act::Drop { seat: 0, dice: 0 });
        if round == 2 && rng.chance(70) {
            break;
        }
        // Before it is idle, or behind.
        let asks_at = if rng.chance(30) { at } else { behind };
        acts.asks(asks_at, 2, &Asked { warm: Duration::ZERO, ..wanted.clone() });
        at = asks_at + millis(3_800);
        acts.releases(at, 2);
        at += millis(300);
    }
}

fn quiet(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = acts.any(PERMITS, rng);
    let at = wait_for(acts, &wanted, 1..3);
    // Before there is a connection.
    acts.asks(Duration::ZERO, 1, &Asked { keys: RESOURCES[1], ..asked(acts.setup, Mode::Alone) });
    // Long enough for those that wait to ask seldom.
    let mut at = at + span(rng, 3_000, 8_000);
    match rng.chance(60) {
        true => (0..2).for_each(|_| acts.releases(at, 0)),
        false => acts.befalls(at, Fault::KillsClient { seat: 0, back_after: acts.rest(at) }),
    }
    at += acts.setup.max_ttl;
    for seat in 1..3 {
        at += millis(1_500);
        acts.releases(at, seat);
    }
    for seat in [1, 2, 1, 2] {
        at += millis(500);
        acts.releases(at, seat);
    }
    // After a rest.
    let wait = millis(5_000);
    let again = asked(acts.setup, Mode::Alone);
    acts.at(acts.setup.length - wait, Act::Acquire { seat: 1, asked: Asked { wait, ..again } });
}
