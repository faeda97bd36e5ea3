//! A held lock under random extension rounds.

use super::super::{ClockDrift, Extension, Instant, Progress, Report};
use super::{Picture, all_of, cases, masters};
use crate::quorum::NodeSet;
use proptest::prelude::*;
use std::time::Duration;

/// A round: its start after the last report, its ttl, and the reports, each with its delay after
/// the one before. A place may come twice, or be a stranger's.
#[derive(Clone, Debug)]
struct Round {
    pause: u64,
    ttl: u64,
    reports: Vec<(usize, char, u64)>,
}

fn rounds() -> impl Strategy<Value = (usize, ClockDrift, u64, Vec<Round>)> {
    let glyph = prop::sample::select(vec!['h', 'h', 'h', 'v', 't', 'u']);
    let round =
        (0..300_u64, span(), prop::collection::vec((0..12_usize, glyph, 0..200_u64), 0..24))
            .prop_map(|(pause, ttl, reports)| Round { pause, ttl, reports });
    let drift = (0..200_000_u32, 0..20_u64)
        .prop_map(|(rate_ppm, ns)| ClockDrift { rate_ppm, constant: Duration::from_nanos(ns) });
    (1..=9_usize, drift, 1..2_000_u64, prop::collection::vec(round, 1..6))
}

/// Mostly of the size of the other times; now and then any span.
fn span() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..3_000_u64, 1 => any::<u64>()]
}

fn word(glyph: char) -> Report {
    super::extension::report(glyph).unwrap_or_else(|| panic!("{glyph} is no report"))
}

/// One round as a test sees it: the reports it was given, and the round itself.
struct Watched {
    started: Instant,
    ttl: Duration,
    drift: ClockDrift,
    heard: Picture,
    round: Extension,
}

impl Watched {
    fn hear(&mut self, node: usize, glyph: char) -> Result<(), TestCaseError> {
        let before = all_of(&self.round);
        self.round.record(node, word(glyph));
        match self.heard.0.get(node).copied() {
            Some('_') => self.heard = self.heard.with(node, glyph),
            Some(_) => prop_assert_eq!(all_of(&self.round), before, "{}: second", self.heard),
            None => {}
        }
        Ok(())
    }

    /// Checks the round's result at `now`, and returns the deadline that follows from it: `None`
    /// when the lock is lost.
    fn check(&self, deadline: Instant, now: Instant) -> Result<Option<Instant>, TestCaseError> {
        let heard = &self.heard;
        let quorum = masters(heard.0.len()).list().majority();
        match self.round.progress(deadline, now, self.drift) {
            Progress::Extended(moved) => {
                prop_assert!(now < deadline, "{heard}: extended at or after the deadline");
                prop_assert!(heard.count("h") >= quorum, "{heard}: extended without a quorum");
                prop_assert!(moved >= deadline, "{heard}: moved backwards");
                let spent = self.drift.of(self.ttl).as_nanos();
                let own = u128::from(self.started.as_nanos()) + self.ttl.as_nanos();
                let latest = own.saturating_sub(spent).max(u128::from(deadline.as_nanos()));
                prop_assert!(u128::from(moved.as_nanos()) <= latest, "{heard}: too late");
                Ok(Some(moved))
            }
            Progress::Lost => {
                let possible = heard.count("h") + heard.count("u_");
                prop_assert!(now >= deadline || possible < quorum, "{heard}: lost too early");
                Ok(None)
            }
            Progress::Pending | Progress::Unconfirmed => {
                prop_assert!(now < deadline, "{heard}: relied on after the deadline");
                prop_assert!(heard.count("h") < quorum, "{heard}: a quorum went unnoticed");
                prop_assert!(heard.count("hu_") >= quorum, "{heard}: a loss went unnoticed");
                Ok(Some(deadline))
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(2_048))]

    #[test]
    fn a_held_lock_keeps_its_promises_through_any_rounds(
        (count, drift, deadline, rounds) in rounds(),
    ) {
        let (mut now, mut deadline) = (Instant::from_nanos(0), Instant::from_nanos(deadline));
        for Round { pause, ttl, reports } in rounds {
            now = now.after(Duration::from_nanos(pause));
            let (started, ttl) = (now, Duration::from_nanos(ttl));
            let round = Extension::new(masters(count), started, ttl, NodeSet::EMPTY);
            let mut watched =
                Watched { started, ttl, drift, heard: Picture::blank(count), round };
            for (node, glyph, wait) in reports {
                now = now.after(Duration::from_nanos(wait));
                watched.hear(node, glyph)?;
                match watched.check(deadline, now)? {
                    Some(moved) => deadline = moved,
                    None => {
                        // Lost is final: no later report or moment of this round revives it.
                        for node in 0..count {
                            watched.hear(node, 'h')?;
                            let after = watched.round.progress(deadline, now, drift);
                            prop_assert_eq!(after, Progress::Lost, "{}: revived", watched.heard);
                        }
                        return Ok(());
                    }
                }
            }
        }
    }
}
