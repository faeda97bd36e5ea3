//! The rule for when a client may vote while other clients have different settings.

use super::super::agreement::{
    ForeignList, LONGEST_SILENCE, Numbers, is_fresh, life, resting_heartbeat, shield_life, shields,
    wins_apart,
};
use super::super::{ClockDrift, FencingWindow, Instant, Membership, NodeSet, standing, validity};
use super::drift::HABIT;
use super::membership::{set, sets};
use super::{at, cases, ms};
use proptest::prelude::*;
use std::time::Duration;

/// How long a note lives, and the interval at which its client asks while it rests; milliseconds.
const RESTS: [(u64, u64); 5] =
    [(15_152, 10_000), (30_000, 10_000), (45_600, 15_200), (90_000, 30_000), (630_000, 30_000)];

#[test]
fn a_client_that_rests_asks_three_times_while_its_note_lives_every_ten_to_thirty_seconds() {
    for (life, interval) in RESTS {
        assert_eq!(resting_heartbeat(ms(life)), ms(interval), "{life}");
    }
}

/// The age of the question, and whether the confirmation still counts; milliseconds.
const FRESH: [(u64, bool); 4] = [(0, true), (14_999, true), (15_000, true), (15_001, false)];

/// `D`, and the life of a note; milliseconds. 1 % of 15 s and 2 ms are 152 ms.
const LIVES: [(u64, u64); 3] = [(0, 15_152), (4_043, 19_195), (30_302, 45_454)];

/// The age of the question, a ttl, `D`, and whether the master is a shield; milliseconds. Of what
/// `D` exceeds the ttl by, 1 % and 2 ms are the drift of the age.
const SHIELDS: [(u64, u64, u64, bool); 10] = [
    (0, 10_000, 30_302, true),
    (15_000, 10_000, 30_302, true),
    (15_001, 10_000, 30_302, false),
    (0, 30_000, 30_302, true),
    (296, 30_000, 30_302, true),
    (297, 30_000, 30_302, false),
    (3_010, 1_000, 4_043, true),
    (3_011, 1_000, 4_043, false),
    // Nothing is left for the drift of an age of zero.
    (0, 30_301, 30_302, false),
    (0, 30_303, 30_302, false),
];

/// Another client's masters compared with ours, shields in capitals: `s` and `S` are in both lists,
/// `t` is in theirs alone; and whether it can win without the shields.
const APART: [(&str, bool); 12] = [
    ("t", true),
    ("s", true),
    ("S", false),
    ("Sst", true),
    ("SSt", false),
    // An even number: a majority of four is three.
    ("Ssst", true),
    ("SSst", false),
    ("SSsst", true),
    ("SSSst", false),
    ("Sttss", true),
    ("ttttt", true),
    ("SSSSt", false),
];

/// Our numbers and another client's, and how long a master waits for both: max_ttl, window back and
/// ahead, `D`; milliseconds.
const JOINT: [([u64; 3], [u64; 3], u64); 4] = [
    ([30_000, 2_000, 2_000], [60_000, 2_000, 2_000], 60_602),
    ([60_000, 2_000, 2_000], [30_000, 2_000, 2_000], 60_602),
    // Each side by itself: 1,998 back and 2,001 ahead are 4 s with the grain.
    ([1_000, 999, 2_001], [3_000, 1_998, 500], 4_042),
    ([1_000, 10, 10], [1_000, 10, 10], 1_012),
];

/// Returns the list of `letters`, and our shields.
fn pictured(letters: &str) -> (ForeignList, NodeSet) {
    let places = |wanted: &str| -> NodeSet {
        letters.match_indices(|letter: char| wanted.contains(letter)).map(|(at, _)| at).collect()
    };
    (ForeignList { len: letters.len(), ours: places("sS") }, places("S"))
}

fn numbers([max_ttl, back, ahead]: [u64; 3]) -> Numbers {
    Numbers { max_ttl: ms(max_ttl), window: FencingWindow { back: ms(back), ahead: ms(ahead) } }
}

#[test]
fn a_confirmation_lasts_the_longest_silence_from_its_question() {
    for (ago, expected) in FRESH {
        assert_eq!(is_fresh(at(50_000), at(50_000 + ago)), expected, "{ago} ms ago");
    }
}

#[test]
fn a_note_lasts_for_quarantine_longest_silence_and_drift() {
    for (quarantine, expected) in LIVES {
        assert_eq!(life(ms(quarantine), HABIT), ms(expected), "a quarantine of {quarantine} ms");
    }
}

#[test]
fn a_fresh_shield_outlives_the_lock_even_if_it_restarts_unseen() {
    for (ago, ttl, quarantine, expected) in SHIELDS {
        let is_shield = shields(at(50_000), at(50_000 + ago), ms(ttl), ms(quarantine), HABIT);
        assert_eq!(is_shield, expected, "{ago} ms ago, ttl {ttl} ms, D {quarantine} ms");
        if ttl < 30_300 {
            let fresh_enough = ms(ago) <= shield_life(ms(ttl), ms(quarantine), HABIT);
            let of = format!("the life of a shield: {ago} ms, {ttl} ms, {quarantine} ms");
            assert_eq!(fresh_enough, expected, "{of}");
        }
    }
}

/// One client's clock is slow by half of the drift, the other's is fast by as much. The master
/// restarts as soon as it has answered the first client.
#[test]
fn a_shield_outlives_the_hold_whatever_the_clocks_of_both_clients_measure() {
    let quarantine = standing::quarantine(ms(30_000), FencingWindow::DEFAULT, HABIT);
    let asked = at(50_000);
    for ttl in (1..=29).map(|seconds| ms(seconds * 1_000)) {
        let ages = (0..=15_000).rev().map(|age| asked.after(ms(age)));
        let latest = ages.into_iter().find(|now| shields(asked, *now, ttl, quarantine, HABIT));
        let begun = latest.expect("a fresh confirmation is a shield");
        let deadline = validity::deadline(begun, begun, ttl, HABIT).expect("a deadline");
        let valid_until = deadline.since(asked).mul_f64(1.0 / 0.995);
        let votes_from = quarantine.mul_f64(1.0 / 1.005);
        assert!(valid_until <= votes_from, "{ttl:?}: {valid_until:?}, {votes_from:?}");
    }
}

#[test]
fn another_client_wins_apart_if_shields_leave_it_a_majority() {
    for (letters, expected) in APART {
        let (list, shields) = pictured(letters);
        assert_eq!(wins_apart(&[list], shields), expected, "{letters}");
    }
}

#[test]
fn a_client_of_two_lists_needs_both() {
    for (old, win_old) in APART {
        for (new, win_new) in APART {
            let (lists, shields): (Vec<_>, Vec<_>) =
                [pictured(old), pictured(new)].into_iter().unzip();
            // Both lists begin with the same masters: a shield in one is a shield in the other.
            let [first, second] = [lists[0], lists[1]];
            for shields in shields {
                let expected = wins_apart(&[first], shields) && wins_apart(&[second], shields);
                assert_eq!(wins_apart(&lists, shields), expected, "{old} and {new}");
            }
            if !win_old && !win_new && old == new {
                assert!(!wins_apart(&lists, pictured(old).1), "{old} twice");
            }
        }
    }
}

#[test]
fn a_client_wins_apart_exactly_if_a_quorum_has_no_shield() {
    for len in 1..=7 {
        let theirs = Membership::of(len).expect("a membership");
        for bits in sets(len) {
            let shields = set(bits);
            let list = ForeignList { len, ours: NodeSet::first(len) };
            let quorums = sets(len).map(set).filter(|&nodes| theirs.is_quorum(nodes));
            let apart =
                quorums.filter(|nodes| nodes.intersection(shields) == NodeSet::EMPTY).count();
            assert_eq!(wins_apart(&[list], shields), apart > 0, "{len} masters, shields {bits:b}");
        }
    }
}

/// Lists whose majorities all meet harm no client, whatever the shields. With one of five
/// exchanged, a quorum of ours shields us from a stray client, and without enough shields both
/// stop.
#[test]
fn quorums_of_two_clients_that_both_go_on_share_a_master() {
    // Ours are 0 to 4, theirs 0 to 3 and 5; the bits are the masters that each has confirmed.
    let theirs = ForeignList { len: 5, ours: NodeSet::first(4) };
    let mut both_go_on = 0;
    for (mine, other) in sets(5).flat_map(|mine| sets(5).map(move |other| (mine, other))) {
        // A master remembers one of the two: the later client has no vote there.
        if mine & other & 0b1111 != 0 {
            continue;
        }
        let (we_stop, they_stop) =
            (wins_apart(&[theirs], set(mine)), wins_apart(&[theirs], set(other)));
        let can_win = |bits: u32| bits.count_ones() >= 3;
        if can_win(mine) && can_win(other) {
            assert!(we_stop && they_stop, "{mine:05b} and {other:05b}");
        }
        both_go_on += usize::from(!we_stop && !they_stop);
    }
    assert_eq!(both_go_on, 0, "a client is always kept from winning");
}

#[test]
fn a_client_waits_for_the_greater_of_its_and_others_numbers() {
    for (ours, theirs, expected) in JOINT {
        let (ours, theirs) = (numbers(ours), numbers(theirs));
        let none = ClockDrift { rate_ppm: 10_000, constant: ms(2) };
        let quarantine = ours.joint(theirs).quarantine(none);
        assert_eq!(quarantine.as_millis(), u128::from(expected), "{ours:?} beside {theirs:?}");
        assert_eq!(quarantine, theirs.joint(ours).quarantine(none), "either way round");
        assert_eq!(ours.joint(ours), ours);
    }
}

fn span() -> impl Strategy<Value = Duration> {
    (0..100_000_000_u64).prop_map(Duration::from_micros)
}

proptest! {
    #![proptest_config(cases(1_024))]

    /// The figure of the module: asked, sent while that is fresh, won, and over.
    #[test]
    fn a_lock_on_a_fresh_confirmation_ends_before_the_note_lapses(
        asked in 0..1_000_000_000_000_u64, late in 0..=15_000_000_u64, max_ttl in span(),
        quicker in 0..10_000_u64, quarter in 0..=4_u32,
    ) {
        let numbers = Numbers { max_ttl, window: FencingWindow::DEFAULT };
        let (asked, ttl) = (Instant::from_nanos(asked), max_ttl * quarter / 4);
        let sent = asked.after(Duration::from_micros(late));
        prop_assert!(is_fresh(asked, sent));
        // The master's clock may run faster than ours, by up to 1 %: the note is shorter on our
        // clock.
        let note = life(numbers.quarantine(HABIT), HABIT);
        let note = note.saturating_sub(note * u32::try_from(quicker).unwrap_or(0) / 1_010_000);
        prop_assert!(asked.after(note) >= sent.after(ttl.saturating_sub(HABIT.of(ttl))));
    }

    #[test]
    fn a_shield_is_never_older_than_the_longest_silence(
        asked in 0..1_000_000_000_000_u64, later in span(), ttl in span(), quarantine in span(),
    ) {
        let asked = Instant::from_nanos(asked);
        let is_shield = shields(asked, asked.after(later), ttl, quarantine, HABIT);
        let outlasts = later + HABIT.of(later) + ttl <= quarantine;
        prop_assert!(!is_shield || later <= LONGEST_SILENCE && outlasts);
        let lasts = ttl + HABIT.of(quarantine.saturating_sub(ttl)) <= quarantine;
        prop_assert_eq!(is_shield, later <= shield_life(ttl, quarantine, HABIT) && lasts);
    }

    #[test]
    fn one_more_shield_never_lets_another_client_win(
        len in 1..16_usize, ours: u32, shields: u32, more in 0..16_usize,
    ) {
        let list = ForeignList { len, ours: set(ours).intersection(NodeSet::first(len)) };
        let mut with = set(shields);
        with.insert(more);
        prop_assert!(wins_apart(&[list], set(shields)) || !wins_apart(&[list], with));
    }
}
