//! The admission of a client: every list of up to seven masters, and two lists.

use super::super::admission::{Admission, admit};
use super::super::{Membership, NodeSet};
use super::masters;
use super::membership::{set, sets};

use Admission::{Disagreement, Granted, Unfit};

/// Masters as in [`Membership::pictured`], and below each its answer: `.` nothing that forbids its
/// use (up, down, warming up), `u` unfit, `d` disagrees. Then the admission; if another client could win
/// at the same time; and if strict.
const TABLE: [(&str, &str, Admission, Admission, Admission); 21] = [
    ("nnnnn", ".....", Granted, Disagreement, Granted),
    ("nnnnn", "u....", Granted, Disagreement, Unfit),
    ("nnnnn", "..u.u", Granted, Disagreement, Unfit),
    ("nnnnn", "u.u.u", Unfit, Unfit, Unfit),
    ("nnnnn", "uuuuu", Unfit, Unfit, Unfit),
    ("nnnnn", "....d", Granted, Disagreement, Disagreement),
    ("nnnnn", ".d..d", Granted, Disagreement, Disagreement),
    ("nnnnn", ".d.dd", Disagreement, Disagreement, Disagreement),
    ("nnnnn", "u...d", Granted, Disagreement, Unfit),
    ("nnnnn", "uu..d", Disagreement, Disagreement, Unfit),
    ("nnnnn", "uuu.d", Unfit, Unfit, Unfit),
    ("nnnn", "u...", Granted, Disagreement, Unfit),
    ("nnnn", "uu..", Unfit, Unfit, Unfit),
    ("nn", "u.", Unfit, Unfit, Unfit),
    ("n", "u", Unfit, Unfit, Unfit),
    ("n", "d", Disagreement, Disagreement, Disagreement),
    ("bbno", ".u..", Granted, Disagreement, Unfit),
    // Two of three of the second list, one of three of the first.
    ("bbno", ".u.d", Disagreement, Disagreement, Unfit),
    ("bbno", ".u.u", Unfit, Unfit, Unfit),
    ("bbno", ".uu.", Unfit, Unfit, Unfit),
    ("nnnooo", "....uu", Unfit, Unfit, Unfit),
];

fn places(picture: &str, letter: char) -> NodeSet {
    picture.match_indices(letter).map(|(at, _)| at).collect()
}

#[test]
fn a_client_is_admitted_with_quorums_of_fit_masters_that_agree() {
    for (lists, picture, lenient, at_odds, strict) in TABLE {
        let membership = Membership::pictured(lists);
        let [unfit, disagreeing] = ['u', 'd'].map(|letter| places(picture, letter));
        let cases = [(false, false, lenient), (true, false, at_odds), (false, true, strict)];
        for (is_at_odds, is_strict, expected) in cases {
            let admission = admit(membership, unfit, disagreeing, is_at_odds, is_strict);
            assert_eq!(admission, expected, "{lists} {picture} {is_at_odds} {is_strict}");
        }
    }
}

#[test]
fn a_client_is_admitted_exactly_if_fit_masters_form_a_quorum() {
    for count in 1..=7 {
        for bits in sets(count) {
            let (membership, unfit) = (masters(count), set(bits));
            let rest = NodeSet::first(count).difference(unfit);
            let granted =
                admit(membership, unfit, NodeSet::EMPTY, false, false) == Admission::Granted;
            assert_eq!(granted, membership.is_quorum(rest), "{bits:0count$b}");
            let strict =
                admit(membership, unfit, NodeSet::EMPTY, false, true) == Admission::Granted;
            assert_eq!(strict, bits == 0, "{bits:0count$b}, strict");
        }
    }
}
