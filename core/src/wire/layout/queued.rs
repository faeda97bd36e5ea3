//! The token under one key, with the queue of those that wait for it beside it: the commands of a waiter, and its
//! place.

use crate::shared::Queue;
use crate::wire::resp::Command;
use crate::wire::{Claim, LEAVE, Packer, Token, Way, millis};
use std::time::Duration;

/// A place in the queue of the waiters in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The name of the waiter, by which messages call it.
    pub waiter: Token,
    /// Where it stands, once a quorum has given it a stamp.
    pub ticket: Option<u64>,
    /// How long it lives after a look.
    pub lives: Duration,
}

/// How long a place lives, unless its waiter asks again: a waiter that dies costs the others this much. Far back
/// in the queue, it asks less often, and its place lives for longer.
pub(crate) const PLACE_LIVES: Duration = Duration::from_secs(3);

/// How long a key is kept for the next waiter: for longer than a place lives, so that the one behind a
/// dead one looks before the key ends.
const KEPT_FOR: Duration = Duration::from_secs(4);

/// What a client that waits in turn, or has waited, leaves for good besides its token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaves {
    /// It rolls a try back.
    Nothing,
    /// Its place: it withdraws.
    Place,
    /// What it held, and its place.
    Hold,
}

impl Leaves {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "try",
            Self::Place => "place",
            Self::Hold => "hold",
        }
    }
}

impl Claim {
    /// Packs the question of a client that waits in turn: whether a try would be granted, or a try itself.
    pub fn ask<'a>(
        &self,
        packer: &'a mut Packer,
        queue: &Queue,
        Place { waiter, ticket, lives }: Place,
        tries: bool,
    ) -> &'a [u8] {
        let Packer { room, ask, label, .. } = packer;
        let (keys, more) = if self.ballot.is_some() { (4, 4) } else { (3, 0) };
        let command = Command::new(room, 3 + keys + 6 + more).arg("EVALSHA").arg(ask);
        let command = self.name_queue(command.number(keys as u64), queue);
        let command = match tries {
            true => self.sign(command, label.as_deref()),
            false => command.arg(""),
        };
        let command = command.number(self.life.0).token(waiter, None);
        let command = match ticket {
            Some(ticket) => command.number(ticket),
            None => command.arg(""),
        };
        // What a try keeps for the first waiter outlasts the place of that one.
        let lives = if tries { PLACE_LIVES } else { lives };
        let command = command.number(millis(lives)).number(millis(KEPT_FOR));
        self.propose(command).done()
    }

    /// Packs the release or the rollback of a client that waits in turn, or its withdrawal. The script
    /// announces the next waiter on `channels`.
    pub fn leave<'a>(
        &self,
        packer: &'a mut Packer,
        queue: &Queue,
        leaves: Leaves,
        way: Way,
        channels: Option<&str>,
    ) -> &'a [u8] {
        let Packer { room, leave, label, .. } = packer;
        let (keys, more) = if self.ballot.is_some() { (4, 3) } else { (3, 0) };
        let command = Command::new(room, 3 + keys + 6 + more);
        let command = way.call(command, leave, LEAVE);
        let command = self.name_queue(command.number(keys as u64), queue);
        let command = self.sign(command, label.as_deref());
        let command = match self.place.as_deref() {
            Some(Place { waiter, .. }) => command.token(*waiter, None),
            None => command.arg(""),
        };
        let command = command.arg(leaves.as_str());
        let command = command.number(millis(PLACE_LIVES)).number(millis(KEPT_FOR));
        let command = command.arg(channels.unwrap_or_default());
        self.raise_fence(command)
    }

    /// Appends the key, those of its queue, and the fence, if there is one.
    fn name_queue<'a>(&self, command: Command<'a>, queue: &Queue) -> Command<'a> {
        let fence = self.ballot.as_ref().map(|ballot| ballot.fences.first());
        let keys = [self.keys.first(), &queue.places, &queue.alive];
        command.keys(keys.into_iter().chain(fence))
    }
}
