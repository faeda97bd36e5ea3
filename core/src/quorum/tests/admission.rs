//! The admission of a client: every list of up to seven masters, and two lists.

use super::super::admission::{Admission, admit};
use super::super::{Membership, NodeSet};
use super::masters;
use super::membership::{set, sets};

/// Masters as in [`Membership::pictured`], and below each its answer: `.` nothing that forbids its
/// use (up, down, warming up), `u` unfit, `d` disagrees. Then the admission, unless strict and if
/// strict.
const TABLE: [(&str, &str, Admission, Admission); 18] = [
    ("nnnnn", ".....", Admission::Granted, Admission::Granted),
    ("nnnnn", "u....", Admission::Granted, Admission::Unfit),
    ("nnnnn", "..u.u", Admission::Granted, Admission::Unfit),
    ("nnnnn", "u.u.u", Admission::Unfit, Admission::Unfit),
    ("nnnnn", "uuuuu", Admission::Unfit, Admission::Unfit),
    ("nnnnn", "....d", Admission::Disagreement, Admission::Disagreement),
    ("nnnnn", "u...d", Admission::Disagreement, Admission::Unfit),
    ("nnnnn", "uuu.d", Admission::Unfit, Admission::Unfit),
    ("nnnn", "u...", Admission::Granted, Admission::Unfit),
    ("nnnn", "uu..", Admission::Unfit, Admission::Unfit),
    ("nn", "u.", Admission::Unfit, Admission::Unfit),
    ("n", "u", Admission::Unfit, Admission::Unfit),
    ("n", "d", Admission::Disagreement, Admission::Disagreement),
    ("bbno", ".u..", Admission::Granted, Admission::Unfit),
    ("bbno", "..uu", Admission::Granted, Admission::Unfit),
    // Two of three of the second list, one of three of the first.
    ("bbno", ".u.u", Admission::Unfit, Admission::Unfit),
    ("bbno", ".uu.", Admission::Unfit, Admission::Unfit),
    ("nnnooo", "....uu", Admission::Unfit, Admission::Unfit),
];

fn places(said: &str, letter: char) -> NodeSet {
    said.match_indices(letter).map(|(at, _)| at).collect()
}

#[test]
fn a_client_is_admitted_with_fit_quorums_and_no_disagreement() {
    for (lists, said, lenient, strict) in TABLE {
        let membership = Membership::pictured(lists);
        let [unfit, disagreeing] = ['u', 'd'].map(|letter| places(said, letter));
        for (is_strict, expected) in [(false, lenient), (true, strict)] {
            let admission = admit(membership, unfit, disagreeing, is_strict);
            assert_eq!(admission, expected, "{lists} {said}, strict: {is_strict}");
        }
    }
}

#[test]
fn a_client_is_admitted_exactly_if_fit_masters_form_a_quorum() {
    for count in 1..=7 {
        for bits in sets(count) {
            let (membership, unfit) = (masters(count), set(bits));
            let rest = NodeSet::first(count).difference(unfit);
            let granted = admit(membership, unfit, NodeSet::EMPTY, false) == Admission::Granted;
            assert_eq!(granted, membership.is_quorum(rest), "{bits:0count$b}");
            let strict = admit(membership, unfit, NodeSet::EMPTY, true) == Admission::Granted;
            assert_eq!(strict, bits == 0, "{bits:0count$b}, strict");
        }
    }
}
