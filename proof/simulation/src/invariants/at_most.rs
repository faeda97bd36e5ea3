//! So many permits: at most K clients at a time believe, by their own clocks, that they hold a permit
//! of a semaphore with K.

use super::Verdict;

/// Checks the `holders`: the token of each permit that is valid by its own clock.
pub(crate) fn at_most(permits: usize, holders: &[&str]) -> Verdict {
    match holders.len() {
        held if held > permits => Err(format!("{held} hold a permit of {permits}: {holders:?}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorumlock_core::quorum::{Membership, NodeSet, Tally, Verdict as Decision, Vote};

    const MASTERS: usize = 5;
    const PERMITS: usize = 2;

    /// Masters that count: each grants so many permits, to clients that ask for one on a quorum.
    fn counting(asked: &[NodeSet]) -> Verdict {
        let (mut granted, mut holders) = ([0; MASTERS], Vec::new());
        for (client, nodes) in asked.iter().enumerate() {
            let mut tally = Tally::new(Membership::of(MASTERS).expect("five masters"));
            for node in nodes.iter() {
                let vote = if granted[node] < PERMITS { Vote::Granted } else { Vote::Refused };
                granted[node] += usize::from(vote == Vote::Granted);
                tally.record(node, vote);
            }
            if tally.verdict() == Decision::Won {
                holders.push(["A", "B", "C"][client]);
            }
        }
        at_most(PERMITS, &holders)
    }

    /// The flaw: one holder for each slot is what keeps three clients from two permits.
    #[test]
    fn to_count_on_each_master_gives_three_holders_of_two_permits() {
        let sets = || {
            (0..1_u32 << MASTERS).map(|bits| -> NodeSet {
                (0..MASTERS).filter(|node| bits >> node & 1 == 1).collect()
            })
        };
        let found = sets()
            .find_map(|a| sets().find_map(|b| sets().find_map(|c| counting(&[a, b, c]).err())));
        assert_eq!(found.as_deref(), Some("3 hold a permit of 2: [\"A\", \"B\", \"C\"]"));
        let all = NodeSet::first(MASTERS);
        assert_eq!(counting(&[all, all, all]), Ok(()), "not where all masters are asked");
    }
}
