//! The effect of a command on a node: one function for each script. They are written again and not
//! shared with the crate, as the scripts are Lua. `tests/scripts.rs` checks each against its
//! script.

use crate::masters::Extended;
use crate::plain::config::RESOURCES;
use crate::plain::state::{Key, OLDER};

/// The claim that a command belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The owner under the keys that it sets: its attempt, plus one.
    pub owner: u8,
    /// The owners with the same token, as bits: only itself, unless a token is used twice.
    pub ours: u8,
    /// The resources, as bits.
    pub resources: u8,
    pub life: u8,
}

/// The fencing part of a claim.
#[derive(Clone, Copy, Debug)]
pub struct Ballot {
    pub number: u8,
    /// How far it may be behind and ahead of the node's clock; `None` for any distance.
    pub back: Option<u8>,
    pub ahead: Option<u8>,
    /// How long the fence lives; 0 for no expiry.
    pub kept: u8,
    pub clock: u8,
    /// Only to break a rule: the ballot may equal the fence.
    pub at_the_fence: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquired {
    Granted,
    Held,
    Stale,
    Clock,
}

impl Claim {
    fn is_ours(&self, owner: u8) -> bool {
        owner != 0 && self.ours >> (owner - 1) & 1 == 1
    }

    fn keys(&self) -> impl Iterator<Item = usize> + use<> {
        let resources = self.resources;
        (0..RESOURCES).filter(move |resource| resources >> resource & 1 == 1)
    }
}

/// `SET key token NX PX life`, for one resource claimed without a ballot.
pub fn set(keys: &mut [Key; RESOURCES], claim: &Claim) -> Acquired {
    for key in claim.keys() {
        if keys[key].owner != 0 {
            return Acquired::Held;
        }
        (keys[key].owner, keys[key].left) = (claim.owner, claim.life);
    }
    Acquired::Granted
}

/// `top_up.lua`, for one resource claimed without a ballot.
pub fn top_up(keys: &mut [Key; RESOURCES], claim: &Claim) -> Acquired {
    take_what_is_kept(keys, claim);
    set(keys, claim)
}

/// To a top-up, a key that an older client keeps is free.
fn take_what_is_kept(keys: &mut [Key; RESOURCES], claim: &Claim) {
    for key in claim.keys().filter(|key| keys[*key].owner == OLDER).collect::<Vec<_>>() {
        (keys[key].owner, keys[key].left) = (0, 0);
    }
}

/// `acquire.lua`: all keys or none. The token's own keys are not an obstacle, and are left
/// unchanged.
pub fn acquire(
    keys: &mut [Key; RESOURCES],
    claim: &Claim,
    ballot: Option<&Ballot>,
    is_top_up: bool,
) -> Acquired {
    let is_free = |owner: u8| owner == 0 || claim.is_ours(owner) || (is_top_up && owner == OLDER);
    if !claim.keys().all(|key| is_free(keys[key].owner)) {
        return Acquired::Held;
    }
    if let Some(ballot) = ballot {
        let fence = claim.keys().map(|key| keys[key].fence).max().unwrap_or(0);
        if ballot.number < fence || (ballot.number == fence && !ballot.at_the_fence) {
            return Acquired::Stale;
        }
        let too_far_ahead = ballot.ahead.is_some_and(|far| ballot.number > ballot.clock + far);
        let too_far_back = ballot.back.is_some_and(|far| ballot.number + far < ballot.clock);
        if too_far_ahead || too_far_back {
            return Acquired::Clock;
        }
        for key in claim.keys() {
            (keys[key].fence, keys[key].fence_left) = (ballot.number, ballot.kept);
        }
    }
    if is_top_up {
        take_what_is_kept(keys, claim);
    }
    set_free(keys, claim);
    Acquired::Granted
}

/// Sets the keys that are free, whatever the others are. On its own, this breaks the rule of all or
/// none.
pub fn set_free(keys: &mut [Key; RESOURCES], claim: &Claim) {
    for key in claim.keys() {
        if keys[key].owner != 0 {
            continue;
        }
        (keys[key].owner, keys[key].left) = (claim.owner, claim.life);
    }
}

/// `extend.lua`: the worst of the keys. It sets nothing, and shortens nothing unless it `shortens`.
pub fn extend(keys: &mut [Key; RESOURCES], claim: &Claim, shortens: bool) -> Extended {
    let mut worst = Extended::Held;
    for key in claim.keys() {
        let key = &mut keys[key];
        if claim.is_ours(key.owner) {
            key.left = if shortens { claim.life } else { key.left.max(claim.life) };
        } else if key.owner != 0 && key.owner != OLDER {
            worst = Extended::Taken;
        } else if worst == Extended::Held {
            worst = Extended::Vacant;
        }
    }
    worst
}

/// `shorten.lua`: what is ours lives for so many ticks more.
pub fn shorten(keys: &mut [Key; RESOURCES], claim: &Claim, ticks: u8) {
    for key in claim.keys() {
        if claim.is_ours(keys[key].owner) {
            keys[key].left = ticks;
        }
    }
}

/// `release.lua`, `release_all.lua`: compares and deletes, then raises the fence, if it is within
/// the window. Returns the owners whose keys it has deleted, as bits.
pub fn release(keys: &mut [Key; RESOURCES], claim: &Claim, ballot: Option<&Ballot>) -> u8 {
    let mut deleted = 0;
    for key in claim.keys() {
        if claim.is_ours(keys[key].owner) {
            deleted |= 1 << (keys[key].owner - 1);
            (keys[key].owner, keys[key].left) = (0, 0);
        }
    }
    if let Some(ballot) = ballot
        && ballot.ahead.is_none_or(|far| ballot.number <= ballot.clock + far)
    {
        for key in claim.keys() {
            if ballot.number > keys[key].fence {
                (keys[key].fence, keys[key].fence_left) = (ballot.number, ballot.kept);
            }
        }
    }
    deleted
}
