//! The token under each of several keys, or beside a fence; and what is the same for a single one.

use crate::wire::resp::Command;
use crate::wire::{ACQUIRE, Claim, EXTEND, Millis, Packer, Way};

/// Packs an acquire, or the top-up of what `was_won`.
pub(super) fn acquire<'a>(
    claim: &Claim,
    packer: &'a mut Packer,
    life: Millis,
    was_won: bool,
) -> &'a [u8] {
    let Packer { room, hashes, label, .. } = packer;
    let first = claim.first_of_block(was_won);
    let more = if claim.ballot.is_some() { 4 } else { 0 } + usize::from(first.is_some());
    let command =
        Command::new(room, 3 + claim.named() + 3 + more).arg("EVALSHA").arg(hashes.of(ACQUIRE));
    let command = claim.sign(claim.name(command), label.as_deref()).number(life.0);
    let command = claim.propose(command.number(was_won.into()));
    match first {
        Some(first) => command.number(first).done(),
        None => command.done(),
    }
}

/// Packs an extension.
pub(super) fn extend<'a>(claim: &Claim, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
    let Packer { room, hashes, label, .. } = packer;
    let command =
        Command::new(room, 3 + claim.keys.len() + 2).arg("EVALSHA").arg(hashes.of(EXTEND));
    let command = command.number(claim.keys.len() as u64).keys(claim.keys.iter());
    claim.sign(command, label.as_deref()).number(life.0).done()
}

/// Packs a compare-and-delete.
pub(super) fn release<'a>(claim: &Claim, packer: &'a mut Packer, way: Way) -> &'a [u8] {
    let Packer { release_room: room, released, hashes, label, .. } = packer;
    if released.replace((claim.token, way)) == Some((claim.token, way)) {
        return room;
    }
    if let Way::Native(native) = way
        && claim.acquires_by_set()
    {
        let command = native.call(room, claim.keys.first());
        return claim.sign(command, label.as_deref()).done();
    }
    let more = if claim.ballot.is_some() { 3 } else { 0 };
    let command = Command::new(room, 3 + claim.named() + 1 + more);
    let command = way.call(command, hashes, claim.release_script());
    let command = claim.sign(claim.name(command), label.as_deref());
    claim.raise_fence(command)
}
