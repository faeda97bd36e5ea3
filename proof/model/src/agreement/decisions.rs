//! The core's decisions, computed once for every age that a run can have.

use super::config::{CLIENTS, Client, Config};
use super::mutants::Mutant;
use super::state::{Link, State, bit};
use crate::masters::{NO_DRIFT, membership, now, set, votes_after};
use crate::quorum::agreement::{self, ForeignList, LONGEST_SILENCE, Numbers};
use crate::quorum::{FencingWindow, Instant, Membership, NodeSet, validity};
use std::time::Duration;

const AGES: usize = 32;

/// The core's values for one client's settings.
#[derive(Debug)]
struct Ways {
    membership: Membership,
    /// By the age of a confirmation.
    shields: [bool; AGES],
    /// The ticks that its note lasts.
    life: u8,
    /// The ticks for which a restarted node does not vote, by the clients whose numbers were
    /// reported.
    warms: [u8; 1 << CLIENTS],
    /// By the ticks since a round was sent: the ticks left of a win.
    left: [u8; AGES],
    /// Every client's lists, reduced to their overlap with this one's.
    foreign: Vec<Vec<ForeignList>>,
}

#[derive(Debug)]
pub(super) struct Decisions {
    ways: Vec<Ways>,
    /// By age.
    fresh: [bool; AGES],
    /// The age from which nothing changes any more.
    oldest: u8,
    pub(super) silence: u8,
}

impl Decisions {
    pub(super) fn new(config: &Config) -> Self {
        let tick = LONGEST_SILENCE / u32::from(config.silence);
        let ages = |judge: &dyn Fn(Instant, Instant) -> bool| {
            let mut table = [false; AGES];
            for (age, entry) in table.iter_mut().enumerate() {
                *entry = judge(now(), now().after(tick * age as u32));
            }
            table
        };
        let for_ever = config.is(Mutant::NoTimeLimit);
        let fresh = ages(&|asked, now| for_ever || agreement::is_fresh(asked, now));
        let numbers: Vec<Numbers> =
            config.clients.iter().map(|client| numbers(client, tick)).collect();
        let ways = config.clients.iter().zip(&numbers).map(|(client, own)| {
            let quarantine = own.quarantine(NO_DRIFT);
            let ttl = tick * u32::from(client.ttl);
            let any_ttl = config.is(Mutant::ShieldsWithoutTheTtl);
            let life = match config.is(Mutant::LifeWithoutSlack) {
                true => quarantine,
                false => agreement::life(quarantine, NO_DRIFT),
            };
            let left = |age: u32| {
                let then = now().after(tick * age);
                let deadline = validity::deadline(now(), then, ttl, NO_DRIFT);
                deadline.map_or(0, |deadline| ticks(deadline.since(then), tick))
            };
            Ways {
                membership: membership(client.lists),
                shields: ages(&|asked, now| {
                    let ttl = if any_ttl { Duration::ZERO } else { ttl };
                    agreement::shields(asked, now, ttl, quarantine, NO_DRIFT)
                }),
                life: ticks(life, tick),
                warms: warms(config, own, &numbers, tick),
                left: std::array::from_fn(|age| left(age as u32)),
                foreign: config.clients.iter().map(|other| foreign(client, other)).collect(),
            }
        });
        let ways: Vec<Ways> = ways.collect();
        let longest = ways.iter().map(|values| values.life).max().unwrap_or(0);
        Self { ways, fresh, oldest: longest + 1, silence: config.silence }
    }

    /// Returns the age a tick later. What no longer counts has no age.
    pub(super) fn older(&self, age: u8) -> u8 {
        if age == 0 || !self.fresh[usize::from(age)] { 0 } else { (age + 1).min(self.oldest) }
    }

    /// Returns the age, a tick later, of an answer that is not read yet: it never gets fresh again.
    pub(super) fn older_unread(&self, age: u8) -> u8 {
        if age == 0 { 0 } else { (age + 1).min(self.silence + 2) }
    }

    /// Returns the age of the confirmation by an answer to a question of that age.
    pub(super) fn confirms(&self, age: u8) -> u8 {
        if self.fresh[usize::from(age - 1)] { age } else { 0 }
    }

    /// Returns the ticks that a client's note lasts. Before its first round that is just longer than
    /// the answer counts.
    pub(super) fn life(&self, client: usize, brief: bool) -> u8 {
        if brief { self.silence + 1 } else { self.ways[client].life }
    }

    /// Returns the ticks left of a win of `client`, so many ticks after it was sent; 0 for none.
    pub(super) fn left(&self, client: usize, since: u8) -> u8 {
        self.ways[client].left[usize::from(since)]
    }

    /// Returns the ticks for which a restarted node does not vote for a client to which numbers of
    /// others were `reported`.
    pub(super) fn warms(&self, client: usize, reported: u8) -> u8 {
        self.ways[client].warms[usize::from(reported)]
    }

    /// Returns the longest wait: no client waits longer.
    pub(super) fn longest_warming(&self) -> u8 {
        self.ways.iter().flat_map(|values| values.warms).max().unwrap_or(0)
    }

    pub(super) fn is_quorum(&self, client: usize, nodes: impl Iterator<Item = usize>) -> bool {
        self.ways[client].membership.is_quorum(nodes.collect())
    }

    /// Returns whether a node that confirmed so long ago keeps others away, if it votes.
    pub(super) fn is_shield(&self, client: usize, link: &Link) -> bool {
        link.confirmed > 0 && self.ways[client].shields[usize::from(link.confirmed - 1)]
    }

    /// Returns whether `other` may win without any of the shields.
    pub(super) fn wins_apart(
        &self,
        config: &Config,
        client: usize,
        other: usize,
        shields: NodeSet,
    ) -> bool {
        let lists = &self.ways[client].foreign[other];
        if config.is(Mutant::OneMoreThanAMajority) {
            let left = |list: &ForeignList| list.len - list.ours.intersection(shields).len();
            return lists.iter().all(|list| left(list) > list.len / 2 + 1);
        }
        config.is(Mutant::AnyDisagreementStops) || agreement::wins_apart(lists, shields)
    }

    /// Returns the clients that were reported to `client`, as bits: those with different numbers,
    /// those with different lists.
    pub(super) fn reported(&self, config: &Config, state: &State, client: usize) -> (u8, u8) {
        let (mut numbers, mut lists) = (0, 0);
        let ours = &config.clients[client];
        for other in (0..config.clients.len()).filter(|other| *other != client) {
            let theirs = &config.clients[other];
            for node in &state.nodes[..config.nodes] {
                let link = &node.links[client];
                if link.reported[other] == 0 {
                    continue;
                }
                if !ours.has_the_numbers(theirs) {
                    numbers |= bit(other);
                }
                if !ours.shares_a_list(theirs) && link.hidden & bit(other) == 0 {
                    lists |= bit(other);
                }
            }
        }
        (numbers, lists)
    }
}

fn numbers(client: &Client, tick: Duration) -> Numbers {
    let span = |ticks: u8| tick * u32::from(ticks);
    let window = FencingWindow { back: span(client.back), ahead: span(client.ahead) };
    Numbers { max_ttl: span(client.max_ttl), window }
}

fn foreign(client: &Client, other: &Client) -> Vec<ForeignList> {
    let lists = &other.lists[..if other.lists[0] == other.lists[1] { 1 } else { 2 }];
    let ours = set(client.members());
    let list =
        |list: &u8| ForeignList { len: set(*list).len(), ours: set(*list).intersection(ours) };
    lists.iter().map(list).collect()
}

fn warms(config: &Config, own: &Numbers, all: &[Numbers], tick: Duration) -> [u8; 1 << CLIENTS] {
    std::array::from_fn(|reported| {
        let reported = if config.is(Mutant::NumbersCostOneVote) { 0 } else { reported };
        let others = all.iter().enumerate().filter(|(other, _)| reported >> other & 1 == 1);
        let joint = others.fold(*own, |joint, (_, other)| joint.joint(*other));
        ticks(votes_after(joint.quarantine(NO_DRIFT)), tick)
    })
}

/// Converts a span to ticks. Whatever ends within a tick ends with it.
fn ticks(span: Duration, tick: Duration) -> u8 {
    u8::try_from(span.as_nanos().div_ceil(tick.as_nanos())).unwrap_or(u8::MAX)
}
