//! A mark under the key that readers have in common, with their tokens beside it.

use crate::shared::ReadWrite;
use crate::wire::resp::Command;
use crate::wire::{ACQUIRE_READ, Claim, EXTEND_READ, Millis, Packer, RELEASE_READ, Way};

/// Packs an acquire, or the top-up of one that `was_let_in`.
pub(super) fn acquire<'a>(
    claim: &Claim,
    packer: &'a mut Packer,
    life: Millis,
    ReadWrite { readers, hint }: &ReadWrite,
    was_let_in: bool,
) -> &'a [u8] {
    let Packer { room, hashes, label, .. } = packer;
    let command =
        Command::new(room, 3 + 3 + 3).arg("EVALSHA").arg(hashes.of(ACQUIRE_READ)).number(3);
    let command = command.keys([claim.keys.first(), readers, hint].into_iter());
    claim.sign(command, label.as_deref()).number(life.0).number(was_let_in.into()).done()
}

/// Packs an extension.
pub(super) fn extend<'a>(
    claim: &Claim,
    packer: &'a mut Packer,
    life: Millis,
    beside: &ReadWrite,
) -> &'a [u8] {
    let Packer { room, hashes, label, .. } = packer;
    let command =
        Command::new(room, 3 + 2 + 2).arg("EVALSHA").arg(hashes.of(EXTEND_READ)).number(2);
    let command = command.keys([claim.keys.first(), &beside.readers].into_iter());
    claim.sign(command, label.as_deref()).number(life.0).done()
}

/// Packs a release. The script announces on `channels` that there are no readers any more.
pub(super) fn release<'a>(
    claim: &Claim,
    packer: &'a mut Packer,
    beside: &ReadWrite,
    way: Way,
    channels: Option<&str>,
) -> &'a [u8] {
    let Packer { room, hashes, label, .. } = packer;
    let command = Command::new(room, 3 + 2 + 1 + usize::from(channels.is_some()));
    let command = way.call(command, hashes, RELEASE_READ);
    let command = command.number(2).keys([claim.keys.first(), &beside.readers].into_iter());
    let command = claim.sign(command, label.as_deref());
    channels.into_iter().fold(command, Command::arg).done()
}
