//! The recipe of `docs/many-quorums.md`: resources are spread over several sets of masters, and
//! while a set is added or removed, a resource has one holder as long as the page is followed.

#[path = "../../examples/support/quorums.rs"]
mod quorums;

use self::quorums::{Quorums, Sets, owner};
use futures::future::join_all;
use quorumlock::embedded::Masters;
use quorumlock::{Redlock, RedlockBuilder};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const NAMES: [&str; 3] = ["one", "two", "three"];

/// Names sets without masters: the owner of a resource depends on nothing else.
fn named(names: &[&str]) -> Sets {
    names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect()
}

fn resources(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("orders:{number}"))
}

/// Allows for late answers from a busy machine.
fn patient() -> RedlockBuilder {
    let late = Duration::from_secs(1);
    Redlock::builder().operation_timeout(late).connect_timeout(late)
}

#[test]
fn a_resource_stays_with_its_set_in_every_version_of_the_recipe() {
    let sets = named(&NAMES);
    let owners: Vec<&str> = resources(8).map(|resource| owner(&sets, &resource)).collect();
    assert_eq!(owners, ["two", "three", "one", "two", "one", "one", "one", "three"]);
}

#[test]
fn each_set_gets_its_share_and_a_new_one_moves_nothing_else() {
    let names: Vec<String> = (0..8).map(|number| format!("set-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for count in 1..names.len() {
        let (before, now) = (named(&names[..count]), named(&names[..=count]));
        let mut shares: BTreeMap<&str, usize> = BTreeMap::new();
        for resource in resources(10_000) {
            let owner = owner(&now, &resource);
            *shares.entry(owner).or_default() += 1;
            assert!(owner == names[count] || owner == quorums::owner(&before, &resource));
        }
        let fair = 10_000 / (count + 1);
        let is_fair = |share: &usize| share.abs_diff(fair) < fair / 5;
        assert!(shares.len() == count + 1 && shares.values().all(is_fair), "{shares:?}");
    }
}

/// Three sets of embedded masters, and processes of a deployment on them.
struct World([Masters; 3]);

impl World {
    fn start() -> Self {
        let start = || Masters::start(3).unwrap();
        Self([start(), start(), start()])
    }

    fn sets(&self, count: usize) -> Sets {
        let named = NAMES.iter().zip(&self.0).take(count);
        named.map(|(name, masters)| ((*name).to_owned(), masters.urls())).collect()
    }

    /// Connects a process that has `now` sets next to processes that have `before`.
    async fn process(&self, now: usize, before: usize) -> Quorums {
        Quorums::connect(self.sets(now), self.sets(before), patient).await.unwrap()
    }

    /// Returns resources that belong to the third set as soon as it is there.
    fn moving(&self, count: usize) -> Vec<String> {
        let sets = self.sets(3);
        resources(usize::MAX).filter(|name| owner(&sets, name) == NAMES[2]).take(count).collect()
    }
}

/// Acquires the resource again and again; notes how many holders there were at a time.
async fn take_turns(process: &Quorums, resource: &str, inside: &AtomicUsize, most: &AtomicUsize) {
    for _ in 0..20 {
        let guard = process.of(resource).acquire(resource).await.unwrap();
        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(guard.is_valid());
        inside.fetch_sub(1, Ordering::SeqCst);
        guard.release().await.unwrap();
    }
}

/// Returns the greatest number of holders that a resource had at a time, while two tasks of either
/// process take turns at each.
async fn most_holders(first: &Quorums, other: &Quorums, resources: &[String]) -> usize {
    let most = &AtomicUsize::new(0);
    let of_all = resources.iter().map(|resource| async move {
        let inside = AtomicUsize::new(0);
        let turns = [first, first, other, other];
        join_all(turns.map(|process| take_turns(process, resource, &inside, most))).await;
    });
    join_all(of_all).await;
    most.load(Ordering::SeqCst)
}

#[tokio::test]
async fn neighbouring_deployments_exclude_each_other() {
    let world = World::start();
    let (two, three) = (world.process(2, 2).await, world.process(3, 3).await);
    let (adding, removing) = (world.process(3, 2).await, world.process(2, 3).await);
    let moving = world.moving(4);
    for (deployment, between) in
        [(&two, &adding), (&adding, &three), (&three, &removing), (&removing, &two)]
    {
        assert_eq!(most_holders(deployment, between, &moving).await, 1);
    }
    assert_eq!(most_holders(&adding, &removing, &moving).await, 1);
    assert!(most_holders(&two, &three, &moving).await > 1, "two holders would be seen");
}

#[tokio::test]
async fn other_deployments_have_two_holders_and_no_error() {
    let world = World::start();
    let (old, new) = (world.process(2, 2).await, world.process(3, 3).await);
    for resource in world.moving(4) {
        let first = old.of(&resource).acquire(&*resource).await.unwrap();
        let second = new.of(&resource).try_acquire(&*resource).await.unwrap();
        assert!(first.is_valid() && second.is_valid());
    }
    let stays = resources(100).find(|name| owner(&world.sets(3), name) != NAMES[2]).unwrap();
    let _first = old.of(&stays).acquire(&*stays).await.unwrap();
    assert!(new.of(&stays).try_acquire(&*stays).await.is_err_and(|error| error.is_contended()));
}

#[tokio::test]
async fn a_set_without_a_quorum_costs_its_own_resources_alone() {
    let world = World::start();
    let process = world.process(3, 3).await;
    world.0[2].iter().take(2).for_each(|master| master.kill());
    for resource in resources(30) {
        let acquired = process.of(&resource).try_acquire(&*resource).await;
        let is_out = owner(&world.sets(3), &resource) == NAMES[2];
        assert_eq!(acquired.is_err_and(|error| error.is_no_quorum()), is_out, "{resource}");
    }
}
