//! The token under one key: `SET key token NX PX life`, as every Redlock client does it.

use crate::wire::resp::Command;
use crate::wire::{Claim, Millis, Packer, TOP_UP};

/// Packs an acquire.
pub(super) fn acquire<'a>(claim: &Claim, packer: &'a mut Packer) -> &'a [u8] {
    let Packer { room, label, .. } = packer;
    let command = Command::new(room, 6).arg("SET").arg(&**claim.keys.first());
    claim.sign(command, label.as_deref()).arg("NX").arg("PX").number(claim.life.0).done()
}

/// Packs a top-up, which takes over what is only kept for a waiter.
pub(super) fn top_up<'a>(claim: &Claim, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
    let Packer { room, label, .. } = packer;
    let command = Command::new(room, 6).arg("EVAL").arg(TOP_UP).number(1);
    let command = command.arg(&**claim.keys.first());
    claim.sign(command, label.as_deref()).number(life.0).done()
}
