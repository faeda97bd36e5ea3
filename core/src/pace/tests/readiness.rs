//! The time until a quorum may vote, master by master.

use crate::pace::readiness::quorum_in;
use crate::quorum::Membership;
use std::time::Duration;

/// Masters as in [`Membership::pictured`], the seconds until each may vote (`-`: time does not fix
/// it), and the seconds until a quorum may.
const TABLE: [(&str, &str, Option<u64>); 14] = [
    ("n", "0", Some(0)),
    ("n", "7", Some(7)),
    ("n", "-", None),
    ("nnn", "0 0 0", Some(0)),
    ("nnn", "0 0 -", Some(0)),
    ("nnn", "0 9 4", Some(4)),
    ("nnn", "0 9 -", Some(9)),
    ("nnn", "0 - -", None),
    ("nnn", "3 3 3", Some(3)),
    ("nnnnn", "9 8 7 6 5", Some(7)),
    ("nnnn", "1 2 3 4", Some(3)),
    ("bbno", "0 0 5 -", Some(0)),
    // Both lists: the later one decides.
    ("bbno", "0 9 2 5", Some(5)),
    ("bbno", "0 - 2 -", None),
];

#[test]
fn a_quorum_may_vote_once_enough_of_each_list_may() {
    for (lists, waits, expected) in TABLE {
        let membership = Membership::pictured(lists);
        let wait = |word: &str| word.parse().ok().map(Duration::from_secs);
        let waits: Vec<_> = waits.split(' ').map(wait).collect();
        let expected = expected.map(Duration::from_secs);
        assert_eq!(quorum_in(membership, &waits), expected, "{lists} {waits:?}");
    }
}
