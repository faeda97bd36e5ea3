//! The settings of clients: their masters, the longest ttl, the fencing window. In most worlds all
//! clients share them. In some, clients are at odds, as after a mistake in a configuration.

use super::clock::millis;
use super::flaw::Flaw;
use super::seed::Rng;
use super::setup::DRIFT;
use quorumlock_core::coordinator::SharedSettings;
use quorumlock_core::quorum::{FencingWindow, Membership, NodeSet, agreement, standing};
use std::time::Duration;

/// The settings that clients of the same masters have to share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    /// The lists, by the masters' places in the world.
    pub(super) members: Membership,
    pub(super) max_ttl: Duration,
    pub(super) window: FencingWindow,
    pub(super) quarantine: Duration,
    /// The client claims one list of all masters, whatever its settings.
    claims_all: bool,
    /// The client acquires nothing: it only looks at the holders of locks.
    pub(super) only_looks: bool,
    /// The field in which its lists are noted at a master.
    field: Vec<u8>,
}

/// The story of clients that are at odds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Story {
    /// The clients begin on two sides of a partition, and it heals.
    Split,
    /// One client is stopped until its note has lapsed, and another one comes.
    Stop,
    /// The same, and the other client does not reach all masters.
    StopAndSplit,
    /// One client reads late what masters answered long ago, and another one comes in the meantime.
    Late,
    /// One client comes later, when the other is there, and may not reach all masters.
    Newcomer,
    /// A client that only looks is there first.
    Reader,
}

impl Kind {
    pub(super) fn new(
        members: Membership,
        max_ttl: Duration,
        window: FencingWindow,
        claims_all: bool,
    ) -> Self {
        let quarantine = standing::quarantine(max_ttl, window, DRIFT);
        let name = |list: NodeSet| {
            let names = list.iter().map(|node| format!("n{}", node + 1));
            names.collect::<Vec<_>>().join(" ")
        };
        let mut lists: Vec<String> = members.lists().map(name).collect();
        lists.sort();
        lists.dedup();
        let field = format!("lists\n{}\n", lists.join("\n")).into_bytes();
        Self { members, max_ttl, window, quarantine, claims_all, only_looks: false, field }
    }

    /// Returns the masters of the world that it knows, in its own order.
    pub(super) fn nodes(&self) -> Vec<usize> {
        let lists = self.members.lists();
        lists.fold(NodeSet::EMPTY, NodeSet::union).iter().collect()
    }

    /// Returns its lists by the places in its own order.
    pub(super) fn own_members(&self) -> Membership {
        let nodes = self.nodes();
        let own = |list: NodeSet| -> NodeSet {
            nodes
                .iter()
                .enumerate()
                .filter(|(_, node)| list.contains(**node))
                .map(|(own, _)| own)
                .collect()
        };
        let list = own(self.members.list());
        match self.members.also() {
            Some(also) => Membership::joint(list, own(also)).expect("two lists"),
            None => Membership::joint(list, list).expect("a list"),
        }
    }

    pub(super) fn shared_settings(&self, masters: usize) -> SharedSettings {
        let names =
            |list: NodeSet| list.iter().map(|node| format!("n{}", node + 1).into()).collect();
        let lists = match self.claims_all {
            true => vec![names(NodeSet::first(masters))],
            false => {
                let also = self.members.also().filter(|also| *also != self.members.list());
                std::iter::once(self.members.list()).chain(also).map(names).collect()
            }
        };
        SharedSettings {
            key: super::master::AGREEMENT.into(),
            max_ttl: self.max_ttl,
            window: self.window,
            lists,
            masters: self.nodes().into_iter().map(|node| format!("n{}", node + 1).into()).collect(),
            life: agreement::life(self.quarantine, DRIFT),
            brief: agreement::life(Duration::ZERO, DRIFT),
        }
    }

    /// Returns whether this kind is what is noted at a master whose clock shows `now`.
    pub(super) fn stands_in(&self, noted: &[(Vec<u8>, Vec<u8>)], now: Duration) -> bool {
        let text = |name: &[u8]| {
            let (_, value) = noted.iter().find(|(field, _)| field == name)?;
            std::str::from_utf8(value).ok()
        };
        let number = |name: &[u8]| text(name)?.parse().ok().map(Duration::from_millis);
        let numbers = [&b"max_ttl"[..], b"window back", b"window ahead"].map(number);
        let ours = [self.max_ttl, self.window.back, self.window.ahead].map(Some);
        numbers == ours && number(&self.field).is_some_and(|until| until > now)
    }

    pub(super) fn shares_a_list(&self, other: &Self) -> bool {
        self.members.lists().any(|list| other.members.lists().any(|theirs| theirs == list))
    }

    pub(super) fn shares_numbers(&self, other: &Self) -> bool {
        (self.max_ttl, self.window) == (other.max_ttl, other.window)
    }

    pub(super) fn is_at_odds_with(&self, other: &Self) -> bool {
        let both_acquire = !self.only_looks && !other.only_looks;
        both_acquire && (!self.shares_a_list(other) || !self.shares_numbers(other))
    }
}

/// The setting in which clients differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum About {
    Lists,
    Numbers,
    Both,
}

/// Draws the number of masters, the kind of each seat, and the story.
pub(super) fn draw(rng: &mut Rng, flaw: Option<Flaw>) -> (usize, Vec<Kind>, Story) {
    use About::{Both, Lists, Numbers};
    use Story::{Late, Newcomer, Reader, Split, Stop, StopAndSplit};
    let of_a_flaw: Option<(&[About], &[Story])> = flaw.and_then(Flaw::about_the_agreement);
    let abouts: &[About] = &[Lists, Lists, Lists, Numbers, Numbers, Both];
    let stories: &[Story] = &[Split, Stop, Stop, StopAndSplit, Late, Newcomer, Reader];
    let (abouts, stories) = of_a_flaw.unwrap_or((abouts, stories));
    let (about, story) = (*rng.pick(abouts), *rng.pick(stories));
    let (masters, mut kinds) = kinds(rng, about);
    rng.shuffle(&mut kinds);
    if story == Reader {
        kinds[0].only_looks = true;
    }
    (masters, kinds, story)
}

fn kinds(rng: &mut Rng, about: About) -> (usize, Vec<Kind>) {
    let list = |nodes: &[usize]| nodes.iter().copied().collect::<NodeSet>();
    let joint =
        |new: &[usize], old: &[usize]| Membership::joint(list(new), list(old)).expect("lists");
    let alone = |nodes: &[usize]| joint(nodes, nodes);
    let window = |wide: u64| FencingWindow { back: millis(wide), ahead: millis(wide) };
    let short = (millis(1_000), window(50));
    let long = (millis(*rng.pick(&[3_000, 6_000])), window(50));
    let wide = (millis(1_000), window(*rng.pick(&[500, 1_000])));
    let same = *rng.pick(&[short, long]);
    let other = *rng.pick(&[long, long, wide]);
    // Of six masters the lists have four in common, of four they have two.
    let (six, four) = (([0, 1, 2, 3, 4], [0, 1, 2, 3, 5]), ([0, 1, 2], [1, 2, 3]));
    let is_wide = rng.chance(40);
    let (masters, old, new): (usize, &[usize], &[usize]) = match is_wide {
        true => (6, &six.0, &six.1),
        false => (4, &four.0, &four.1),
    };
    let (masters, seats) = match about {
        // Like a rolling change in which one client skipped the intermediate step.
        About::Lists if rng.chance(25) => {
            (masters, vec![(alone(old), same), (joint(new, old), same), (alone(new), same)])
        }
        About::Lists => (masters, vec![(alone(old), same), (alone(new), same)]),
        About::Both => (masters, vec![(alone(old), other), (alone(new), short)]),
        About::Numbers => (3, vec![(alone(&[0, 1, 2]), other), (alone(&[0, 1, 2]), short)]),
    };
    let kind = |(members, (max_ttl, window))| Kind::new(members, max_ttl, window, false);
    (masters, seats.into_iter().map(kind).collect())
}

#[test]
fn lists_count_places_in_their_own_order_and_show_master_names() {
    let list = |nodes: [usize; 3]| nodes.into_iter().collect::<NodeSet>();
    let window = FencingWindow { back: millis(10), ahead: millis(10) };
    let kind = |new, old| {
        let members = Membership::joint(list(new), list(old)).unwrap();
        Kind::new(members, millis(1_000), window, false)
    };
    let (old, joint) = (kind([0, 1, 2], [0, 1, 2]), kind([1, 2, 3], [0, 1, 2]));
    let new = kind([1, 2, 3], [1, 2, 3]);
    assert_eq!((new.nodes(), joint.nodes()), (vec![1, 2, 3], vec![0, 1, 2, 3]));
    assert!(new.own_members().is_quorum(NodeSet::first(2)), "places, not masters");
    assert!(
        old.is_at_odds_with(&new) && !joint.is_at_odds_with(&old) && !new.is_at_odds_with(&joint)
    );
    assert_eq!(new.shared_settings(4).lists[0].join(" "), "n2 n3 n4");
}
