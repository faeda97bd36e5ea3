//! What a client asks for is its callers': it tries for one that waits, never what another of them
//! holds, and a waiter keeps its ticket, which a quorum that votes has stamped.

use super::Verdict;
use quorumlock_core::quorum::{Membership, NodeSet};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct OwnAsks {
    /// The tokens that have been tried, and at which masters.
    tried: BTreeMap<String, NodeSet>,
    /// By waiter.
    tickets: BTreeMap<String, String>,
    /// The stamps of each waiter: at which master, and whether that one could vote.
    stamps: BTreeMap<String, Vec<(usize, u64, bool)>>,
}

impl OwnAsks {
    /// Notes that a token is tried at a master. Returns whether it had been tried, and whether there.
    pub(crate) fn tries(&mut self, token: &str, node: usize) -> (bool, bool) {
        let nodes = self.tried.entry(token.to_owned()).or_default();
        let had_been = (*nodes != NodeSet::EMPTY, nodes.contains(node));
        nodes.insert(node);
        had_been
    }

    /// Notes the stamp of a waiter at a master.
    pub(crate) fn stamped(&mut self, waiter: &str, node: usize, stamp: u64, votes: bool) {
        let stamps = self.stamps.entry(waiter.to_owned()).or_default();
        if !stamps.contains(&(node, stamp, votes)) {
            stamps.push((node, stamp, votes));
        }
    }

    /// Checks the ticket that a waiter asks with, if it has one.
    pub(crate) fn asks(&mut self, waiter: &str, ticket: &str, lists: Membership) -> Verdict {
        let Ok(number) = ticket.parse::<u64>() else { return Ok(()) };
        if let Some(had) = self.tickets.get(waiter) {
            return match had == ticket {
                true => Ok(()),
                false => Err(format!("{waiter} had the ticket {had}, and has {ticket}")),
            };
        }
        self.tickets.insert(waiter.to_owned(), ticket.to_owned());
        let stamps = self.stamps.get(waiter).into_iter().flatten();
        let up_to = stamps.filter(|(_, stamp, votes)| *votes && *stamp <= number);
        let nodes: NodeSet = up_to.map(|(node, ..)| *node).collect();
        match lists.is_quorum(nodes) {
            true => Ok(()),
            false => Err(format!("{waiter} has the ticket {ticket}, which no quorum has stamped")),
        }
    }
}

#[test]
fn a_ticket_that_changes_or_that_no_quorum_has_stamped_is_found() {
    let lists = Membership::of(3).expect("three masters");
    let mut asks = OwnAsks::default();
    for (node, stamp, votes) in [(0, 5, true), (1, 7, true), (2, 4, false)] {
        asks.stamped("w", node, stamp, votes);
        asks.stamped("v", node, stamp, votes);
    }
    assert_eq!(asks.asks("w", "", lists), Ok(()), "it has none yet");
    assert_eq!(asks.asks("w", "7", lists), Ok(()));
    assert_eq!(asks.asks("w", "7", lists), Ok(()));
    assert!(asks.asks("w", "8", lists).is_err(), "another");
    assert!(asks.asks("v", "5", lists).is_err(), "of a master that may not vote");
    assert_eq!(asks.tries("t", 0), (false, false));
    assert_eq!(asks.tries("t", 1), (true, false));
    assert_eq!(asks.tries("t", 1), (true, true));
}
