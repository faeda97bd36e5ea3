//! The options, their defaults, and the values that cannot work.

mod names;
mod process;
mod table;

pub(crate) use names::{check_label, readers_key};
pub(crate) use table::Options;

use crate::address::Address;
use crate::failure::{Checked, InvalidSetting};
use humantime::format_duration as human;
use quorumlock_core::coordinator::{
    Agreement, AtLeast, Rest, Settings, SharedSettings, round_timeout,
};
use quorumlock_core::quorum::{Membership, agreement, standing, validity};
use std::time::Duration;

/// The most that a signed 64-bit number of nanoseconds holds (292 years); Redis takes more.
const LONGEST_TTL: Duration = Duration::from_nanos(i64::MAX as u64);

/// The longest `max_ttl` that needs no confirmation. With any `max_ttl`, masters that have just started do
/// not vote for that long, and clients with another one are refused for that long after this one was killed.
const LONGEST_USUAL_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// A process that locks once a minute should find its masters confirmed.
const RESTS_AFTER: Duration = Duration::from_secs(60);

/// All clients of a master may lose it at the same moment: clients that can spare it come back over this time.
const REDIAL_SPREAD: Duration = Duration::from_secs(2);

impl Options {
    /// Checks everything that can be known before a connection is made.
    pub(crate) fn check(&self) -> Checked {
        let (least, window, ppm) =
            (Duration::from_millis(1), self.fencing_window, self.drift.rate_ppm);
        let (base, cap) = (self.backoff.base, self.backoff.cap);
        let timeouts = [
            ("operation_timeout", self.operation_timeout),
            ("connect_timeout", self.connect_timeout),
        ];
        for (field, timeout) in timeouts {
            InvalidSetting::unless(timeout >= least, field, || "must be at least 1ms")?;
        }
        InvalidSetting::unless(
            !base.is_zero() && cap >= base,
            "backoff",
            || "the first delay must be above zero and at most the longest one",
        )?;
        InvalidSetting::unless(ppm < 1_000_000, "drift", || {
            format!("{ppm} ppm leave nothing of any ttl: 10000 ppm (1 %) is the usual rate")
        })?;
        let sides = [window.back, window.ahead];
        let is_within = |side| (least..=LONGEST_TTL).contains(side);
        InvalidSetting::unless(
            sides.iter().all(is_within),
            "fencing_window",
            || "each side must be at least 1ms, and at most 292 years",
        )?;
        self.check_names()?;
        InvalidSetting::unless(
            self.max_ttl <= LONGEST_TTL,
            "max_ttl",
            || "must be at most 292 years",
        )?;
        let is_usual = self.max_ttl <= LONGEST_USUAL_TTL || self.allow_long_max_ttl;
        InvalidSetting::unless(is_usual, "max_ttl", || {
            format!(
                "{} is above 24h, for which a master that has just started would not vote: shorten it, or \
                 confirm it with allow_long_max_ttl",
                human(self.max_ttl)
            )
        })?;
        self.check_ttl("max_ttl", self.max_ttl)?;
        let ttl = self.check_ttl("ttl", self.ttl)?;
        self.check_lock_delay(self.lock_delay, ttl)?;
        check_keep_warm(self.keep_warm, self.fair, self.lock_delay, Duration::ZERO)?;
        self.check_max_hold("max_hold", self.max_hold, ttl)
    }

    /// Returns the ttl in whole milliseconds, as Redis takes it, if a lock can be held with it at
    /// all.
    pub(crate) fn check_ttl(&self, field: &'static str, ttl: Duration) -> Checked<Duration> {
        InvalidSetting::unless(ttl <= self.max_ttl, field, || {
            let (ttl, max) = (human(ttl), human(self.max_ttl));
            format!("{ttl} is above max_ttl ({max}): shorten it, or raise max_ttl")
        })?;
        let millis = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let whole = Duration::from_millis(millis);
        let drift = self.drift.of(whole);
        let round_trip = round_timeout(self.operation_timeout, whole);
        let validity = validity::validity(whole, round_trip, drift);
        InvalidSetting::unless(validity.is_some(), field, || {
            let (ttl, drift, round_trip) = (human(ttl), human(drift), human(round_trip));
            format!(
                "{ttl} leaves no validity: drift takes {drift} and a round trip may take \
                 {round_trip}; use at least a few hundred milliseconds"
            )
        })?;
        Ok(whole)
    }

    /// Checks for how long a lock may be kept alive: a keeper that ends before the first deadline
    /// would keep nothing.
    pub(crate) fn check_max_hold(
        &self,
        field: &'static str,
        max_hold: Duration,
        ttl: Duration,
    ) -> Checked {
        InvalidSetting::unless(max_hold >= ttl, field, || {
            let (max_hold, ttl) = (human(max_hold), human(ttl));
            format!("{max_hold} is below the ttl ({ttl}): lengthen it, or shorten the ttl")
        })
    }

    /// Returns the delay, rounded up to whole milliseconds.
    pub(crate) fn check_lock_delay(&self, delay: Duration, ttl: Duration) -> Checked<Duration> {
        let millis = delay.as_nanos().div_ceil(1_000_000);
        let whole = Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        InvalidSetting::unless(ttl.saturating_add(whole) <= self.max_ttl, "lock_delay", || {
            let (delay, ttl, max) = (human(delay), human(ttl), human(self.max_ttl));
            format!(
                "{delay} and the ttl ({ttl}) are together above max_ttl ({max}): shorten one of \
                 them, or raise max_ttl"
            )
        })?;
        Ok(whole)
    }

    /// Returns for how long the keys stay after work that has ended well; `None` for zero.
    pub(crate) fn check_min_hold(&self, min_hold: Duration) -> Checked<Option<Box<AtLeast>>> {
        InvalidSetting::unless(min_hold <= self.max_ttl, "min_hold", || {
            // As it would be if this were max_ttl.
            let votes_not = standing::quarantine(min_hold, self.fencing_window, self.drift);
            let (span, max, votes_not) = (human(min_hold), human(self.max_ttl), human(votes_not));
            format!(
                "{span} is above max_ttl ({max}), and masters that have restarted remember no \
                 longer: raise max_ttl, and a master that has restarted does not \
                 vote for {votes_not}; or let a unique key in the database that the job writes to \
                 decide"
            )
        })?;
        Ok((!min_hold.is_zero()).then(|| AtLeast::new(min_hold, self.drift).into()))
    }

    /// Refuses a handle that only looks: it has recorded its terms at no master.
    pub(crate) fn check_may_acquire(&self) -> Checked {
        InvalidSetting::unless(
            !self.inspect_only,
            "inspect_only",
            || "this handle only inspects locks: leave inspect_only() out of its builder",
        )
    }

    /// Returns how long a shutdown waits at most for what is owed: long enough to redial a master
    /// once and for a slow one to answer.
    pub(crate) fn linger(&self) -> Duration {
        let slow = self.operation_timeout.saturating_mul(3);
        self.connect_timeout.saturating_add(slow)
    }

    /// Returns how long a master that has started does not vote.
    pub(crate) fn quarantine(&self) -> Duration {
        standing::quarantine(self.max_ttl, self.fencing_window, self.drift)
    }

    pub(crate) fn shared_settings(
        &self,
        membership: Membership,
        masters: &[Address],
    ) -> SharedSettings {
        let name = |node: usize| Some(masters.get(node)?.name.clone());
        SharedSettings {
            key: self.own_key("agreement").to_string(),
            max_ttl: self.max_ttl,
            window: self.fencing_window,
            lists: membership.lists().map(|list| list.iter().filter_map(name).collect()).collect(),
            masters: masters.iter().map(|master| master.name.clone()).collect(),
            life: agreement::life(self.quarantine(), self.drift),
            brief: agreement::life(Duration::ZERO, self.drift),
        }
    }

    pub(crate) fn settings(&self, membership: Membership, masters: &[Address]) -> Settings {
        let shared = self.shared_settings(membership, masters);
        Settings {
            membership,
            drift: self.drift,
            backoff: self.backoff,
            operation_timeout: self.operation_timeout,
            connect_timeout: self.connect_timeout,
            rest: Rest { after: RESTS_AFTER, heartbeat: agreement::resting_heartbeat(shared.life) },
            redial_spread: REDIAL_SPREAD,
            restart_guard: self.restart_guard,
            quarantine: self.quarantine(),
            agreement: Agreement::new(shared, self.inspect_only),
            window: self.fencing_window,
            wake_ups: self.wake_ups,
            asks: true,
            waitlists: self.wake_ups.then(|| self.waitlists()),
            label: match &self.label {
                Some(label) => Some(label.clone()).filter(|label| !label.is_empty()),
                None => Some(process::label().into()),
            },
        }
    }
}

/// Refuses to keep a lock warm beside an option that has it released.
pub(crate) fn check_keep_warm(
    keep_warm: Duration,
    fair: bool,
    lock_delay: Duration,
    min_hold: Duration,
) -> Checked {
    let others =
        [("fair", fair), ("lock_delay", !lock_delay.is_zero()), ("min_hold", !min_hold.is_zero())];
    let other = others.into_iter().find(|(_, is_set)| *is_set && !keep_warm.is_zero());
    other.map_or(Ok(()), |(other, _)| {
        let problem = format!(
            "{other} has a lock released whose work has ended, so it cannot be kept warm: leave \
             one of the two out"
        );
        Err(InvalidSetting::new("keep_warm", problem))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_delay_is_rounded_up_to_whole_milliseconds() {
        let options = Options::default();
        for (nanos, millis) in [(0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2)] {
            let checked = options.check_lock_delay(Duration::from_nanos(nanos), options.ttl);
            assert_eq!(checked, Ok(Duration::from_millis(millis)));
        }
    }
}
