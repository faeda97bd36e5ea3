//! The setup of a world: its masters, its clients, its network. Drawn from the seed.

use super::bounds::PAUSES;
use super::callers::PERMITS;
use super::clock::{Clock, WallClock, millis};
use super::flaw::Flaw;
use super::jam::{Jam, Way};
use super::kinds::{self, Kind, Story};
use super::matched::formulas::Proof;
use super::network::LATEST_IN_A_BURST_US;
use super::nights::{NIGHTS, Night};
use super::seed::Rng;
use quorumlock_core::coordinator::{Agreement, Rest, RestartGuard, Settings};
use quorumlock_core::pace::Backoff;
use quorumlock_core::quorum::agreement::HEARTBEAT;
use quorumlock_core::quorum::{ClockDrift, FencingWindow, LONGEST_SILENCE, Membership, NodeSet};
use std::ops::Range;
use std::time::Duration;

pub(super) const DRIFT: ClockDrift =
    ClockDrift { rate_ppm: 10_000, constant: Duration::from_millis(2) };

/// The largest difference in speed between any two clocks, at most the drift.
pub(super) const MOST_PPM: u64 = 4_500;

/// The number of worlds in a hundred whose clients have different settings.
const AT_ODDS: u64 = 15;

/// The same for those in which most callers are fair.
const RUSH: u64 = 15;
/// The number of a hundred of these in which they want permits.
const RUSH_FOR_PERMITS: u64 = 30;

/// The same for those in which most callers read and write.
const READING: u64 = 8;

/// The same for those in which locks are kept warm.
const WARM: u64 = 25;

/// The number of worlds in a thousand in which many wait for the same, and something is in the way.
const JAMMED: u64 = 25;

/// The same for each bad night.
const EACH_NIGHT: u64 = 4;
/// The same for those in which one client asks for hundreds of locks at once.
const BURSTS: u64 = 2;
const JAMMED_OR_BURST: u64 = JAMMED + BURSTS;

/// The time within which a refused client comes back.
pub(super) const LATEST_RETURN: Duration = Duration::from_secs(10);

/// Clients ask their masters as often whether they use a lock or not.
const NO_REST: Rest = Rest { after: Duration::MAX, heartbeat: HEARTBEAT };

/// A day in 2023.
pub(super) const TODAY: Duration = Duration::from_secs(1_700_000_000);

#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) flaw: Option<Flaw>,
    /// What its steps are matched with, if they are.
    pub(super) proof: Option<Proof>,
    /// Nothing else is judged.
    pub(super) only_matches: bool,
    pub(super) masters: usize,
    /// The kind of each seat.
    kinds: Vec<Kind>,
    /// The story of clients with different settings; in most worlds there are none.
    pub(super) story: Option<Story>,
    /// Most callers want the same, and wait for it in order.
    pub(super) is_rush: bool,
    /// The same of permits.
    pub(super) is_rush_for_permits: bool,
    /// Most callers read and write the same, and wait for it.
    pub(super) is_reading: bool,
    /// Locks are kept warm, and holders are asked for them.
    pub(super) is_warm: bool,
    /// Many wait for the same, and something is in the way.
    pub(super) jam: Option<Jam>,
    /// A bad night.
    pub(super) night: Option<Night>,
    /// Each clock is as fast, or as slow, as any may be.
    pub(super) drifts_most: bool,
    /// How long a master takes for a command, while all others wait.
    pub(super) service: Duration,
    /// The longest pause of a waiter that hears nothing.
    pub(super) longest_pause: Duration,
    guard: RestartGuard,
    /// Masters may lose their memory when they restart.
    pub(super) forgetful: bool,
    /// Masters whose persistence clients trust may be replaced by new, empty machines.
    pub(super) replaces: bool,
    /// Masters' clocks may be set back.
    pub(super) steps_back: bool,
    /// Masters have only just started.
    pub(super) young: bool,
    /// The longest ttl of any client.
    pub(super) max_ttl: Duration,
    /// How long a master that has lost its memory may not vote, for the client that waits longest.
    pub(super) quarantine: Duration,
    pub(super) operation_timeout: Duration,
    pub(super) wake_ups: bool,
    /// Waiters stand in lists.
    pub(super) has_waitlists: bool,
    /// Of the semaphore.
    pub(super) permits: usize,
    /// When clients rest.
    pub(super) rest: Rest,
    /// The longest pause of a client before it dials a master again that it can spare.
    pub(super) redial_spread: Duration,
    /// The largest distance between wall clocks.
    spread: Duration,
    /// The commands that a user may not run, and the masters that deny them.
    pub(super) denied: &'static [&'static str],
    pub(super) denies: NodeSet,
    /// How long bytes take, in microseconds.
    pub(super) latency_us: Range<u64>,
    /// The largest lateness of timers.
    pub(super) lateness: Duration,
    /// The number of cases in a hundred in which a client gets to write only a little later.
    pub(super) hesitates: u64,
    pub(super) faults_per_mille: u64,
    pub(super) acts: Range<u64>,
    pub(super) length: Duration,
}

impl Setup {
    /// Returns how clients and masters are set, as `crossing.rs` counts it.
    pub(super) fn mechanisms(&self) -> Vec<&'static str> {
        let masters = match self.masters {
            3 => "3 masters",
            5 => "5 masters",
            _ => "other masters",
        };
        let more = [
            (!self.wake_ups, "no wake-ups"),
            (!self.has_waitlists, "no lists"),
            (self.story.is_some(), "at odds"),
            (!self.denied.is_empty(), "denied"),
            (self.forgetful, "forgetful"),
            (self.drifts_most, "drifts most"),
            (self.young, "young"),
        ];
        more.into_iter().filter_map(|(is, what)| is.then_some(what)).chain([masters]).collect()
    }

    pub(super) fn draw(rng: &mut Rng, flaw: Option<Flaw>) -> Self {
        let half = millis(*rng.pick(&[500, 1_000]));
        let window = FencingWindow { back: half, ahead: half };
        let max_ttl = millis(*rng.pick(&[1_000, 2_000, 2_000, 5_000]));
        let (masters, members) = members(rng, flaw);
        let claims_all = flaw == Some(Flaw::TwoOfFive);
        let of = |members: &Membership| Kind::new(*members, max_ttl, window, claims_all);
        let kinds: Vec<Kind> = members.iter().map(of).collect();
        let guarded = rng.chance(70);
        let trusting = rng.chance(30);
        let spread = millis(*rng.pick(&[1, 300, 900, 4_000]));
        let rights: [&[&str]; 4] =
            [&["client|kill"], &["info"], &["publish", "subscribe"], &["client|kill", "info"]];
        let denied = if rng.chance(20) { *rng.pick(&rights) } else { &[] };
        let denies = if rng.chance(50) {
            NodeSet::first(masters)
        } else {
            [rng.within(0..masters as u64) as usize].into_iter().collect()
        };
        let mut setup = Self {
            flaw,
            proof: None,
            only_matches: false,
            masters,
            quarantine: kinds[0].quarantine,
            kinds,
            story: None,
            is_rush: flaw.is_none_or(Flaw::is_about_order) && rng.chance(RUSH),
            is_rush_for_permits: flaw.is_none() && rng.clone().fork().chance(RUSH_FOR_PERMITS),
            is_reading: flaw.is_none() && rng.chance(READING),
            is_warm: false,
            jam: None,
            night: None,
            drifts_most: false,
            service: Duration::ZERO,
            longest_pause: millis(250),
            guard: match (guarded, trusting) {
                (true, _) => RestartGuard::On,
                (false, true) => RestartGuard::TrustPersistence,
                (false, false) => RestartGuard::Off,
            },
            forgetful: guarded,
            replaces: false,
            steps_back: !guarded && rng.chance(50),
            young: guarded && rng.chance(10),
            max_ttl,
            operation_timeout: millis(*rng.pick(&[50, 100, 200])),
            wake_ups: rng.chance(60),
            has_waitlists: false,
            permits: PERMITS,
            rest: NO_REST,
            redial_spread: Duration::ZERO,
            spread,
            denied,
            denies,
            latency_us: rng.pick(&[100..400, 100..3_000, 1_000..20_000]).clone(),
            lateness: Duration::from_micros(*rng.pick(&[0, 50, 2_000])),
            hesitates: *rng.pick(&[0, 30]),
            faults_per_mille: *rng.pick(&[0, 60, 200, 200, 400]),
            acts: 10..60,
            length: millis(*rng.pick(&[1_500, 4_000, 4_000, 10_000])),
        };
        if setup.is_rush {
            setup.length = setup.length.max(millis(6_000));
            setup.faults_per_mille = setup.faults_per_mille.min(100);
            if rng.chance(50) {
                (setup.faults_per_mille, setup.wake_ups) = (0, true);
                (setup.denied, setup.denies) = (&[], NodeSet::EMPTY);
            }
        }
        if setup.is_reading {
            setup.is_rush = false;
            setup.faults_per_mille = setup.faults_per_mille.min(60);
        }
        if let Some(flaw) = flaw {
            flaw.provoke(&mut setup);
        }
        let at_odds = match flaw {
            Some(flaw) => flaw.about_the_agreement().is_some(),
            None => rng.chance(AT_ODDS),
        };
        if at_odds {
            let drawn = kinds::draw(rng, flaw);
            setup.put_at_odds(rng, drawn);
        }
        // New clients could not tell, and those at odds start at any time.
        setup.replaces = flaw.is_none() && !at_odds && setup.trusts() && rng.chance(60);
        setup.is_warm = flaw.is_none() && !at_odds && !setup.is_rush && rng.chance(WARM);
        setup.is_warm |= flaw.is_some_and(Flaw::is_about_blocks);
        setup.redial_spread = millis(*rng.pick(&[0, 500, 2_000]));
        setup.rest = Rest {
            after: millis(*rng.pick(&[500, 2_000, 60_000])),
            heartbeat: millis(*rng.pick(&[10_000, 30_000])),
        };
        let lists = if setup.is_rush { 80 } else { 50 };
        setup.has_waitlists = setup.wake_ups && rng.chance(lists);
        setup.permits = if flaw.is_none() { *rng.pick(&[1, PERMITS]) } else { PERMITS };
        let jammed = match flaw.is_none() && !at_odds {
            true => rng.within(0..1_000),
            false => u64::MAX,
        };
        let way = match jammed {
            ..JAMMED => Some(Way::draw(rng)),
            JAMMED..JAMMED_OR_BURST => Some(Way::burst(rng)),
            _ => flaw.and_then(Flaw::shows_in),
        };
        if let Some(way) = way {
            let jam = Jam::new(way, rng);
            setup.put_in_a_jam(rng, jam);
        } else if flaw.is_none() && !at_odds {
            let drawn = rng.within(0..1_000 / EACH_NIGHT) as usize;
            if let Some(night) = NIGHTS.get(drawn) {
                setup = night.setup(setup.lateness, rng);
            }
        }
        setup
    }

    /// Returns the setup of a world in which nothing is drawn, for a plan that is written by hand.
    pub(super) fn plain(masters: usize, seats: usize, max_ttl: Duration) -> Self {
        let half = millis(500);
        let members = Membership::of(masters).expect("a membership");
        let window = FencingWindow { back: half, ahead: half };
        let kind = Kind::new(members, max_ttl, window, false);
        Self {
            flaw: None,
            proof: None,
            only_matches: false,
            masters,
            quarantine: kind.quarantine,
            kinds: vec![kind; seats],
            story: None,
            is_rush: false,
            is_rush_for_permits: false,
            is_reading: false,
            is_warm: false,
            jam: None,
            night: None,
            drifts_most: false,
            service: Duration::ZERO,
            longest_pause: millis(250),
            guard: RestartGuard::On,
            forgetful: true,
            replaces: false,
            steps_back: false,
            young: false,
            max_ttl,
            operation_timeout: millis(100),
            wake_ups: true,
            has_waitlists: false,
            permits: PERMITS,
            rest: NO_REST,
            redial_spread: Duration::ZERO,
            spread: millis(1),
            denied: &[],
            denies: NodeSet::EMPTY,
            latency_us: 100..400,
            lateness: Duration::ZERO,
            hesitates: 0,
            faults_per_mille: 0,
            acts: 0..1,
            length: millis(1_500),
        }
    }

    /// Lets so many clients of the same masters wait, and lets nothing fail by chance.
    pub(super) fn put_in_a_jam(&mut self, rng: &mut Rng, jam: Jam) {
        let mut plain = Self::plain(jam.masters(), jam.seats(), millis(*rng.pick(&[1_000, 2_000])));
        plain.flaw = self.flaw;
        plain.set_guard(RestartGuard::Off, false);
        plain.longest_pause = millis(*rng.pick(&[50, 250]));
        (plain.latency_us, plain.lateness) =
            (rng.pick(&[100..400, 100..3_000]).clone(), self.lateness);
        (plain.wake_ups, plain.has_waitlists) = (true, rng.chance(70));
        plain.permits = self.permits;
        jam.settle(&mut plain, rng);
        *self = plain;
    }

    /// Gives some clients different settings.
    pub(super) fn put_at_odds(
        &mut self,
        rng: &mut Rng,
        (masters, kinds, story): (usize, Vec<Kind>, Story),
    ) {
        let longest = |of: fn(&Kind) -> Duration| kinds.iter().map(of).max().unwrap_or_default();
        self.masters = masters;
        self.max_ttl = longest(|kind| kind.max_ttl);
        self.quarantine = longest(|kind| kind.quarantine);
        self.kinds = kinds;
        self.story = Some(story);
        (self.is_rush, self.is_reading) = (false, false);
        self.set_guard(RestartGuard::On, true);
        self.young = false;
        self.spread = millis(1);
        self.denied = &[];
        self.denies = NodeSet::EMPTY;
        // An answer that takes longer than an operation is as good as none.
        self.operation_timeout = millis(250);
        self.latency_us = rng.pick(&[100..400, 100..3_000]).clone();
        self.length = Duration::from_secs(match story {
            Story::Split | Story::Newcomer | Story::Reader => rng.within(15..45),
            Story::Stop | Story::StopAndSplit | Story::Late => rng.within(25..45),
        });
        self.acts = if self.flaw.is_some() { 0..5 } else { 5..40 };
    }

    /// Limits every ttl to `max_ttl`; masters that have restarted wait as long as before.
    pub(super) fn shorten(&mut self, max_ttl: Duration) {
        self.max_ttl = self.max_ttl.min(max_ttl);
        self.kinds.iter_mut().for_each(|kind| kind.max_ttl = kind.max_ttl.min(max_ttl));
    }

    pub(super) fn seats(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn kind(&self, seat: usize) -> &Kind {
        &self.kinds[seat]
    }

    /// Returns each list of masters that a client has.
    pub(super) fn lists(&self) -> Vec<NodeSet> {
        let mut lists = Vec::new();
        for list in self.kinds.iter().flat_map(|kind| kind.members.lists()) {
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
        lists
    }

    pub(super) fn settings(&self, seat: usize) -> Settings {
        let kind = &self.kinds[seat];
        Settings {
            label: (seat % 2 == 1).then(|| "me".into()),
            membership: kind.own_members(),
            drift: match self.flaw {
                Some(Flaw::NoDrift) => ClockDrift { rate_ppm: 0, constant: Duration::ZERO },
                _ => DRIFT,
            },
            backoff: Backoff { base: millis(5), cap: self.longest_pause },
            operation_timeout: self.operation_timeout,
            connect_timeout: millis(500),
            rest: self.rest,
            redial_spread: self.redial_spread,
            restart_guard: self.guard,
            quarantine: kind.quarantine,
            agreement: self.agreement(kind),
            window: kind.window,
            wake_ups: self.announces(seat),
            waitlists: (self.has_waitlists && self.announces(seat))
                .then(|| "quorumlock:waitlist:".into()),
            asks: self.asks(seat),
        }
    }

    /// Returns whether the client of a seat notifies others of its releases, and is notified.
    pub(super) fn announces(&self, seat: usize) -> bool {
        self.wake_ups && self.jam.as_ref().is_none_or(|jam| jam.has_wake_ups(seat))
    }

    /// Returns whether the client of a seat asks holders to give way: some do not, as those of another version.
    pub(super) fn asks(&self, seat: usize) -> bool {
        self.is_warm && seat != 1 || self.jam.as_ref().is_some_and(Jam::asks)
    }

    fn agreement(&self, kind: &Kind) -> Agreement {
        let mut shared = kind.shared_settings(self.masters);
        if self.flaw == Some(Flaw::NoSlack) {
            shared.life = kind.quarantine;
        }
        let looks = kind.only_looks && self.flaw != Some(Flaw::ReadersNote);
        Agreement::new(shared, looks).without(self.flaw.and_then(Flaw::taken_back))
    }

    /// Returns how long a client that ends goes on paying what it owes.
    pub(super) fn linger(&self) -> Duration {
        millis(500) + 3 * self.operation_timeout
    }

    /// Returns how long a message takes at most where there is a burst.
    pub(super) fn burst_message(&self) -> Duration {
        Duration::from_micros(self.latency_us.end + LATEST_IN_A_BURST_US)
    }

    pub(super) fn set_guard(&mut self, guard: RestartGuard, forgetful: bool) {
        self.guard = guard;
        self.forgetful = forgetful;
        self.steps_back &= !forgetful;
    }

    /// Returns whether all callers are to have a lock in their order: nothing fails.
    pub(super) const fn is_orderly(&self) -> bool {
        self.is_rush && self.faults_per_mille == 0
    }

    /// Returns whether masters report that they write each command to disk, and clients trust that.
    pub(super) fn trusts(&self) -> bool {
        self.guard == RestartGuard::TrustPersistence
    }

    /// Returns whether a master that has restarted may not vote for a while.
    pub(super) fn warms_up(&self) -> bool {
        self.guard != RestartGuard::Off
    }

    /// Returns whether clients go by the uptime of masters that have restarted.
    pub(super) fn goes_by_uptime(&self) -> bool {
        self.guard == RestartGuard::On
    }

    /// Returns whether a master may lose its memory.
    pub(super) const fn may_forget(&self) -> bool {
        self.forgetful || self.replaces
    }

    /// Returns whether a fenced lock can be won at all: no window spans clocks that are further
    /// apart.
    pub(super) fn can_fence(&self) -> bool {
        let narrowest = self.kinds.iter().map(|kind| kind.window.back).min();
        narrowest.is_some_and(|back| self.spread < back) && !self.steps_back
    }

    /// Returns whether there may be masters of which it is unknown whether a connection is dead.
    pub(super) fn may_strand(&self) -> bool {
        let unkillable = self.denied.iter().any(|right| ["client|kill", "info"].contains(right));
        unkillable && self.flaw != Some(Flaw::DeniesKill)
    }

    /// Returns whether a permit is the lock on a slot, and no number that masters count.
    pub(super) fn has_slots(&self) -> bool {
        self.flaw != Some(Flaw::CountsPermits)
    }

    /// Returns the longest time until a lock is available again once all faults have ended.
    pub(super) fn recovery(&self) -> Duration {
        let at_odds = match self.story {
            // A client may have been refused in the very last moment.
            Some(_) => LONGEST_SILENCE + self.linger() + LATEST_RETURN,
            None => Duration::ZERO,
        };
        let polls = PAUSES * self.longest_pause;
        (self.quarantine + self.max_ttl) * 2 + at_odds + self.redial_spread + polls + millis(8_000)
    }

    fn ppm(rng: &mut Rng) -> i64 {
        rng.within(0..2 * MOST_PPM) as i64 - MOST_PPM as i64
    }

    pub(super) fn clock(&self, rng: &mut Rng) -> Clock {
        let origin = 1_000_000_000 + rng.within(0..3_600_000_000_000);
        let ppm = match self.flaw {
            Some(Flaw::ClocksBeyondDrift) => -(rng.within(50_000..300_000) as i64),
            _ => self.any_ppm(rng),
        };
        Clock { origin, ppm }
    }

    fn any_ppm(&self, rng: &mut Rng) -> i64 {
        let ppm = Self::ppm(rng);
        if self.drifts_most { ppm.signum() * MOST_PPM as i64 } else { ppm }
    }

    pub(super) fn wall_clock(&self, rng: &mut Rng) -> WallClock {
        let ppm = self.any_ppm(rng);
        // For minutes they stay within any window.
        let ppm = if self.story.is_some() { ppm / 100 } else { ppm };
        WallClock { origin: self.wall(rng), ppm, stepped: 0 }
    }

    /// Returns the time that a wall clock shows when the world begins.
    pub(super) fn wall(&self, rng: &mut Rng) -> Duration {
        TODAY + rng.duration(Duration::ZERO..self.spread)
    }
}

/// Draws the number of masters, and the lists of them that each seat uses.
fn members(rng: &mut Rng, flaw: Option<Flaw>) -> (usize, Vec<Membership>) {
    let of = |list: NodeSet, also| Membership::joint(list, also).expect("lists");
    let from = |start: usize, end: usize| (start..end).collect::<NodeSet>();
    if flaw == Some(Flaw::TwoOfFive) {
        // Each client uses three of the five, so that two are enough.
        let lists = [from(0, 3), from(2, 5), [0, 2, 4].into_iter().collect()];
        return (5, lists.map(|list| of(list, list)).to_vec());
    }
    if flaw.is_none() && rng.chance(20) {
        // One list takes over from another: all clients that run at the same time have one in
        // common.
        let lists = [(4, (0, 3), (1, 4)), (5, (0, 3), (2, 5)), (5, (0, 3), (0, 5))];
        let (masters, old, new) = *rng.pick(&lists);
        let (old, new) = (from(old.0, old.1), from(new.0, new.1));
        let (alone, joint) = (of(old, old), of(new, old));
        let members = [vec![alone, joint], vec![joint, alone, joint], vec![joint, joint]];
        return (masters, rng.pick(&members).clone());
    }
    if flaw == Some(Flaw::CountsPermits) {
        // Ten are granted in all, of which each of the three needs three.
        return (5, vec![Membership::of(5).expect("a membership"); 3]);
    }
    if flaw.is_some_and(Flaw::is_about_order) {
        return (3, vec![Membership::of(3).expect("a membership"); 3]);
    }
    let masters = if flaw.is_some() { 3 } else { *rng.pick(&[1, 2, 3, 3, 3, 4, 5, 5]) };
    let seats = if flaw.is_some() { 2 } else { *rng.pick(&[1, 2, 2, 2, 3]) };
    (masters, vec![Membership::of(masters).expect("a membership"); seats])
}
