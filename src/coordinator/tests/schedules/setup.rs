//! What a schedule is played with: the masters, the clients, and by what they go.

use super::super::super::{RestartGuard, Settings};
use super::super::stage::Stage;
use super::Rng;
use super::client::Client;
use super::master::Master;
use super::scripts::Defect;
use crate::coordinator::wire::Login;
use crate::quorum::{Membership, NodeSet, Window, standing};
use std::time::Duration;

/// What is wrong with a world, to show that its invariants notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flaw {
    /// Masters that have lost their memory vote at once.
    NoGuard,
    /// Two clients have no list of masters in common.
    ListsApart,
    /// Nobody asks for the lock-delay that is expected.
    NoDelay,
    Master(Defect),
}

/// A day in 2023.
const TODAY_US: u64 = 1_700_000_000_000_000;

#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) flaw: Option<Flaw>,
    pub(super) masters: usize,
    /// Of each client.
    members: Vec<Membership>,
    guard: RestartGuard,
    /// Masters lose their memory when they restart.
    pub(super) forgetful: bool,
    pub(super) max_ttl: Duration,
    window: Window,
    /// For how long a master that has lost its memory may not vote.
    pub(super) quarantine: Duration,
    /// Whoever waits asks one node first. Nobody is told of anything: the masters deny it.
    wakes_up: bool,
    /// Few things fail: what can go wrong is among the clients.
    pub(super) calm: bool,
    /// How far the clocks of masters and clients may be from each other, in microseconds.
    spread_us: u64,
}

impl Setup {
    pub(super) fn by_chance(rng: &mut Rng, flaw: Option<Flaw>) -> Self {
        let guarded = rng.below(4) != 0 || flaw.is_some();
        let half = Duration::from_millis([500, 1_500][rng.below(2)]);
        let window = Window { back: half, ahead: half };
        let longest = if flaw.is_none() { [2, 2, 60][rng.below(3)] } else { 2 };
        let max_ttl = Duration::from_secs(longest);
        let drift = super::super::stage::DRIFT;
        let quarantine = standing::quarantine(max_ttl, window, drift);
        let (masters, members) = members(rng, flaw);
        let off = !guarded || flaw == Some(Flaw::NoGuard);
        Self {
            flaw,
            wakes_up: rng.below(2) == 0,
            masters,
            members,
            guard: if off { RestartGuard::Off } else { RestartGuard::On },
            forgetful: guarded,
            max_ttl,
            window,
            quarantine,
            calm: match flaw {
                None => rng.below(3) == 0,
                Some(Flaw::NoGuard | Flaw::Master(Defect::KillsNobody)) => false,
                Some(_) => true,
            },
            spread_us: [1_000, 400_000, 4_000_000][rng.below(3)],
        }
    }

    pub(super) fn clients(&self, rng: &mut Rng) -> Vec<Client> {
        let names = 'A'..='Z';
        let clients = names.zip(&self.members).map(|(name, membership)| {
            let change = |settings: &mut Settings| {
                settings.membership = *membership;
                settings.restart_guard = self.guard;
                settings.wakes_up = self.wakes_up;
                settings.window = self.window;
                settings.quarantine = self.quarantine;
                // Every second one has a label.
                settings.label = (name as u8).is_multiple_of(2).then(|| "me".into());
            };
            let mut stage = Stage::with(self.masters, &Login::default(), change).named(name);
            stage.tokens.ways = true;
            Client::new(stage, *membership, self.wall_us(rng))
        });
        clients.collect()
    }

    /// Their clocks run at different speeds: against each other, at most as the drift has it.
    pub(super) fn master(&self, node: usize, rng: &mut Rng) -> Master {
        let rate_ppm = rng.below(9_000) as i64 - 4_500;
        let defect = match self.flaw {
            Some(Flaw::Master(defect)) => Some(defect),
            _ => None,
        };
        Master::new(node, rate_ppm, self.wall_us(rng), defect)
    }

    pub(super) fn wall_us(&self, rng: &mut Rng) -> u64 {
        TODAY_US + rng.next() % self.spread_us
    }
}

/// How many masters, and which lists of them each client goes by.
fn members(rng: &mut Rng, flaw: Option<Flaw>) -> (usize, Vec<Membership>) {
    let first = |count| NodeSet::first(count);
    let from = |start: usize, end: usize| (start..end).collect::<NodeSet>();
    let of = |list: NodeSet, also| Membership::joint(list, also).expect("lists");
    if flaw == Some(Flaw::ListsApart) {
        return (5, vec![of(first(3), first(3)), of(from(2, 5), from(2, 5))]);
    }
    if flaw.is_none() && rng.below(4) == 0 {
        // One list takes over from another: all that run at a time have one in common.
        let (masters, old, new) =
            [(4, first(3), from(1, 4)), (5, first(3), from(2, 5)), (5, first(3), first(5))]
                [rng.below(3)];
        let (alone, joint) = (of(old, old), of(new, old));
        return (masters, [[alone, joint], [joint, alone], [joint, joint]][rng.below(3)].to_vec());
    }
    let masters = if flaw.is_some() { 3 } else { [1, 2, 3, 3, 3, 4, 5][rng.below(7)] };
    let clients = if flaw.is_some() { 2 } else { 1 + rng.below(2) };
    (masters, vec![Membership::of(masters).expect("a membership"); clients])
}
