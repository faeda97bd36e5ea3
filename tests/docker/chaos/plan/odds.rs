//! Faults of clients that are at odds. All but those with the same settings are stopped for so long
//! that their notes are forgotten everywhere. Others have taken their place when they resume.

use super::{Deed, MS, SEC, Setting};
use crate::chaos::client::Party;
use crate::chaos::people::party;
use crate::support::seed::Rng;
use std::time::Duration;

/// At first all are there, and those that are first connect.
const MEETING: Duration = Duration::from_secs(5);
/// Longest time for which the clients that keep running have the masters to themselves.
const ALONE: Duration = Duration::from_secs(6);

pub(super) fn deeds(
    rng: &mut Rng,
    setting: &Setting,
    stands: Duration,
) -> Vec<(Duration, usize, Deed)> {
    let mut deeds = Vec::new();
    let mut free_at = vec![Duration::ZERO; setting.clients];
    let mut at = setting.from + MEETING;
    let mut last = Party::Good;
    while at < setting.until {
        let parties: Vec<Party> = Party::ALL.into_iter().filter(|party| *party != last).collect();
        last = *rng.pick(&parties);
        let mut over = at;
        for (place, free_at) in free_at.iter_mut().enumerate() {
            if party(place) == last {
                continue;
            }
            let from = at.max(*free_at) + rng.duration(Duration::ZERO..2 * SEC);
            let lasts = stands + rng.duration(2 * SEC..ALONE);
            *free_at = from + lasts + SEC;
            over = over.max(from + lasts);
            deeds.push((from, place, Deed::Stop(lasts)));
        }
        // The clients that keep running have the usual faults.
        let mut next = at;
        while next < over {
            let place = rng.within(0..setting.clients as u64) as usize;
            if party(place) == last && free_at[place] <= next {
                let deed = match rng.within(0..100) {
                    0..40 => Deed::Stop(rng.duration(50 * MS..500 * MS)),
                    40..60 => Deed::Stop(setting.ttl + rng.duration(Duration::ZERO..2 * SEC)),
                    60..80 => Deed::Kill,
                    _ => Deed::End,
                };
                let stopped = if let Deed::Stop(lasts) = deed { lasts } else { Duration::ZERO };
                free_at[place] = next + stopped + 2 * SEC;
                deeds.push((next, place, deed));
            }
            next += rng.duration(SEC..4 * SEC);
        }
        at = over + rng.duration(Duration::ZERO..4 * SEC);
    }
    deeds.sort_by_key(|(at, ..)| *at);
    deeds.retain(|(at, ..)| *at < setting.until);
    deeds
}

#[test]
fn every_client_stops_beyond_its_note_but_never_all_at_once() {
    let stands = 20 * SEC;
    let setting = Setting {
        from: SEC,
        until: 600 * SEC,
        masters: 5,
        clients: 4,
        recovery: SEC,
        quarantine: 4 * SEC,
        ttl: 3 * SEC,
        at_odds: Some(stands),
        clocks: super::Clocks::Shared,
    };
    for seed in 0..50 {
        let rng = crate::support::seed::Seed(seed).rng();
        let plan = super::Plan::new(rng, &setting);
        let long = |deed: &Deed| matches!(deed, Deed::Stop(lasts) if *lasts > stands);
        for place in 0..setting.clients {
            let stops = plan.deeds.iter().filter(|(_, at, deed)| *at == place && long(deed));
            assert!(stops.count() > 3, "seed {seed}, place {place}");
        }
        for at in (0..600).map(|second| second * SEC) {
            let away = plan.deeds.iter().filter(|(from, _, deed)| {
                let covers = |lasts: Duration| (*from..*from + lasts).contains(&at);
                long(deed) && matches!(deed, Deed::Stop(lasts) if covers(*lasts))
            });
            assert!(away.count() < setting.clients, "seed {seed}: no client is left at {at:?}");
        }
        let masters = plan.blows.iter().flatten().count();
        assert!(masters > 20, "seed {seed}: {masters} faults");
    }
}
