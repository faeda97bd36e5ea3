//! What a task asks for.

use crate::chaos::history::{BURST, CROWDED, Claim, KEPT_ALIVE, KEPT_TTL, KEPT_WARM, PERMITS};
use crate::support::prelude::*;
use crate::support::seed::Rng;
use std::time::Duration;

/// Always fenced, and written to.
const FENCED: [&str; 3] = ["r0", "r1", "r2"];
/// Never fenced.
const UNFENCED: [&str; 1] = ["u0"];

/// Never fenced, and read by half of the tasks that ask for it.
const READ_AND_WRITTEN: [&str; 1] = ["w0"];

/// Nearly always waited for in turn, with a fencing token or without one.
const IN_TURN: [&str; 1] = ["t0"];

/// Kept warm by most tasks that hold it, so that it passes from task to task in a process, and is asked for
/// by those of others.
const WARM: [&str; 2] = ["k0", "k1"];

/// The only ttl of these: a hold that is idle suits an acquire that asks for the same.
const WARM_TTL: Duration = Duration::from_millis(2000);

/// A semaphore: its permits are held, not it.
pub(super) const SEMAPHORE: [&str; 1] = [PERMITS.0];

/// Rarely acquired, and often given up on the way: a leftover key on one of them stands out.
const RARE: [&str; 6] = ["q0", "q1", "q2", "q3", "q4", "q5"];

/// Each way to be the only holder.
const ALONE: [Claim; 4] = [Claim::Alone, Claim::Fenced, Claim::Fair, Claim::FairFenced];

/// A request of a task.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) resources: Vec<String>,
    pub(super) claim: Claim,
    /// Asks as a writer, so that readers make way, and may become a reader.
    pub(super) writes: bool,
    pub(super) ttl: Duration,
    /// For how long it is kept warm, if it is.
    pub(super) warm: Option<Duration>,
    pub(super) wait: Duration,
    /// Time after which the task drops the future.
    pub(super) patience: Option<Duration>,
    pub(super) keep_alive: bool,
}

impl Wish {
    pub(super) fn random(rng: &mut Rng, max_ttl: Duration) -> Self {
        let (choice, claim) = match rng.within(0..100) {
            0..26 => (&FENCED[..], Claim::Fenced),
            26..35 => (&WARM[..], Claim::Warm),
            35..38 => (&WARM[..], *rng.pick(&ALONE)),
            38..45 => (&UNFENCED[..], Claim::Alone),
            45..55 => (&SEMAPHORE[..], Claim::Alone),
            55..63 => (&READ_AND_WRITTEN[..], Claim::Alone),
            63..71 => (&READ_AND_WRITTEN[..], Claim::Shared),
            71..73 => (&IN_TURN[..], Claim::Fenced),
            73..85 => (&IN_TURN[..], *rng.pick(&[Claim::Fair, Claim::FairFenced])),
            _ => (&RARE[..], *rng.pick(&ALONE)),
        };
        let resource = *rng.pick(choice);
        let is_rare = RARE.contains(&resource);
        let mut resources = vec![resource.to_owned()];
        let other = *rng.pick(&FENCED);
        if FENCED.contains(&resource) && other != resource && rng.chance(15) {
            resources.push(other.to_owned());
            resources.sort();
        }
        let ttl = (*rng.pick(&[1500 * MS, 2000 * MS, 3000 * MS])).min(max_ttl);
        let warm = (claim == Claim::Warm).then(|| rng.duration(KEPT_WARM / 6..KEPT_WARM));
        let ttl = if warm.is_some() { WARM_TTL.min(max_ttl) } else { ttl };
        let wait = if rng.chance(30) { Duration::ZERO } else { rng.duration(ttl / 4..ttl * 2) };
        let (often, longest) = if is_rare { (50, 10 * MS) } else { (15, 40 * MS) };
        let patience = rng.chance(often).then(|| rng.duration(MS / 10..longest));
        // Also beside tasks that do not, and that lock several.
        let turns = claim == Claim::Fenced && resources.len() == 1 && rng.chance(20);
        let claim = if turns { Claim::FairFenced } else { claim };
        let writes = claim == Claim::Alone && choice == READ_AND_WRITTEN && rng.chance(60);
        let keep_alive = rng.chance(30);
        Self { resources, claim, writes, ttl, warm, wait, patience, keep_alive }
    }

    /// What a client of the crowd asks for: to wait for long, often in turn, now and then only for a moment.
    pub(super) fn in_a_crowd(rng: &mut Rng, max_ttl: Duration) -> Self {
        let (resource, claim) = match rng.within(0..100) {
            0..60 => (CROWDED[0], Claim::Alone),
            60..80 => (CROWDED[1], Claim::Fair),
            _ => (PERMITS.0, Claim::Alone),
        };
        let patience = rng.chance(8).then(|| rng.duration(MS..400 * MS));
        let wait = rng.duration(max_ttl * 2..max_ttl * 4);
        let keep_alive = rng.chance(10);
        Self { claim, patience, keep_alive, ..Self::plain(resource.to_owned(), wait, max_ttl) }
    }

    /// What a client keeps alive while it begins bursts.
    pub(super) fn to_keep(rng: &mut Rng, max_ttl: Duration) -> Self {
        let resource = *rng.pick(&KEPT_ALIVE);
        Self { keep_alive: true, ..Self::plain(resource.to_owned(), max_ttl * 3, KEPT_TTL) }
    }

    /// One of a burst: no other asks for its name.
    pub(super) fn in_a_burst(
        who: &str,
        number: u64,
        patience: Option<Duration>,
        max_ttl: Duration,
    ) -> Self {
        Self { patience, ..Self::plain(format!("{BURST}:{who}:{number}"), max_ttl * 2, max_ttl) }
    }

    fn plain(resource: String, wait: Duration, ttl: Duration) -> Self {
        Self {
            resources: vec![resource],
            claim: Claim::Alone,
            writes: false,
            ttl,
            warm: None,
            wait,
            patience: None,
            keep_alive: false,
        }
    }

    /// Repeats the request: within one ttl it should succeed, or report that another client holds
    /// the lock.
    pub(super) fn again(&self) -> Self {
        Self { wait: self.ttl, patience: None, ..self.clone() }
    }
}
