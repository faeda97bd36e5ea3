//! Several sets of masters behind rendezvous hashing; `docs/many-quorums.md` explains it.

use quorumlock::{ConnectError, Redlock, RedlockBuilder};
use std::collections::BTreeMap;

/// The masters' addresses, by the name of their set. A name decides which resources a set has, so
/// no other set ever gets it.
pub(crate) type Sets = BTreeMap<String, Vec<String>>;

/// Locks on several sets of masters. Each resource belongs to one set, its owner.
pub(crate) struct Quorums {
    now: Sets,
    before: Sets,
    /// By the owner of a resource now, then by its owner before.
    locks: BTreeMap<String, BTreeMap<String, Redlock>>,
}

impl Quorums {
    /// Connects to every set. `before` has the sets of the deployment whose processes may still run
    /// next to this one; in quiet times it is the same as `now`. Both name at least one set.
    pub(crate) async fn connect(
        now: Sets,
        before: Sets,
        options: impl Fn() -> RedlockBuilder,
    ) -> Result<Self, ConnectError> {
        let mut locks: BTreeMap<String, BTreeMap<String, Redlock>> = BTreeMap::new();
        for (owner, nodes) in &now {
            for (previous, old) in &before {
                // Between two sets that are in both, no resource moves.
                let both_remain = before.contains_key(owner) && now.contains_key(previous);
                if owner != previous && both_remain {
                    continue;
                }
                let builder = options().nodes(nodes.clone());
                let builder = if old == nodes { builder } else { builder.joint_with(old.clone()) };
                let lock = builder.connect().await?;
                locks.entry(owner.clone()).or_default().insert(previous.clone(), lock);
            }
        }
        Ok(Self { now, before, locks })
    }

    /// Returns the lock to acquire this resource with, and no other resource of another owner.
    pub(crate) fn of(&self, resource: &str) -> &Redlock {
        &self.locks[owner(&self.now, resource)][owner(&self.before, resource)]
    }
}

/// Returns the set with the greatest weight for the resource: the same one in every process that
/// knows the same names.
pub(crate) fn owner<'a>(sets: &'a Sets, resource: &str) -> &'a str {
    sets.keys().max_by_key(|set| weight(set, resource)).map_or("", String::as_str)
}

/// Returns a number that depends on the two names alone: FNV-1a, then the last steps of Murmur3,
/// which spread it. Another formula is another owner for most resources.
fn weight(set: &str, resource: &str) -> u64 {
    let bytes = set.bytes().chain([0]).chain(resource.bytes());
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (sum ^ (sum >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}
