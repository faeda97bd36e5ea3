//! What is wrong with a world, to show that its invariants notice. The machine that ships has no
//! switch for any of it: a flaw is in how it is set up, in the clocks, or in the masters.

use super::clock::millis;
use super::commands::Deed;
use super::kinds::{About, Story};
use super::setup::Setup;
use crate::coordinator::{RestartGuard, Rule};
use crate::quorum::NodeSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flaw {
    /// Two of five masters are enough.
    TwoOfFive,
    /// Masters that have lost their memory vote at once.
    NoRestartGuard,
    /// The clients' clocks are slower than the drift pays for.
    ClocksBeyondDrift,
    /// The clocks of masters are set forward.
    StepsForward,
    /// Masters say that they have deleted, and have not.
    KeepsWhatIsReleased,
    /// Masters delete whatever stands there.
    DeletesForAnybody,
    /// Masters say that they have killed a connection, and have not.
    KillsNobody,
    /// Nobody may kill a connection: what is then possible is what SAFETY says of it.
    DeniesKill,
    /// A ttl is relied on to its end.
    NoDrift,
    /// Masters lose fences.
    ForgetsFences,
    /// Masters say that they have prolonged the life of a key, and have not.
    ExtendsNothing,
    /// The keys of what is locked with a delay live no longer than others.
    NoLockDelay,
    /// Clients' clocks stop with their processes: what was agreed on counts for ever.
    ClocksStop,
    /// What was agreed on counts from when the answer is read.
    CountsFromTheAnswer,
    /// Who was stopped asks only those that it needs.
    NoBarrier,
    /// Other lists cost the vote of the master that tells of them, and no more.
    ListsCostOneVote,
    /// Other numbers cost the vote of the master that tells of them, and no more.
    NumbersCostOneVote,
    /// Where the numbers differ, nobody is told of lists.
    NumbersHideLists,
    /// What a client has noted stands for as long as a master waits, and no longer.
    NoSlack,
    /// What a client has noted is prolonged only once.
    ProlongedOnce,
    /// Who only looks notes by what it goes.
    ReadersNote,
}

pub(super) const FLAWS: [(Flaw, &str); 21] = [
    (Flaw::TwoOfFive, "both hold"),
    (Flaw::NoRestartGuard, "both hold"),
    (Flaw::ClocksBeyondDrift, "both hold"),
    (Flaw::StepsForward, "both hold"),
    (Flaw::KeepsWhatIsReleased, "is left"),
    (Flaw::DeletesForAnybody, "not by its owner"),
    (Flaw::KillsNobody, "is left"),
    (Flaw::DeniesKill, "is left"),
    (Flaw::NoDrift, "more than its ttl less the drift"),
    (Flaw::ForgetsFences, "not above"),
    (Flaw::ExtendsNothing, "does not stand on a quorum"),
    (Flaw::NoLockDelay, "closed for"),
    (Flaw::ClocksStop, "both hold"),
    (Flaw::CountsFromTheAnswer, "both hold"),
    (Flaw::NoBarrier, "both hold"),
    (Flaw::ListsCostOneVote, "both hold"),
    (Flaw::NumbersCostOneVote, "both hold"),
    (Flaw::NumbersHideLists, "both hold"),
    (Flaw::NoSlack, "both hold"),
    (Flaw::ProlongedOnce, "both hold"),
    (Flaw::ReadersNote, "is refused"),
];

impl Flaw {
    /// Where it shows, if it is about what clients agree on: in what they differ, and what they go
    /// through.
    pub(super) fn about_the_agreement(self) -> Option<(&'static [About], &'static [Story])> {
        Some(match self {
            Self::ClocksStop => (&[About::Lists], &[Story::StopAndSplit, Story::Stop]),
            Self::CountsFromTheAnswer => (&[About::Lists], &[Story::Late]),
            Self::NoBarrier => (&[About::Lists], &[Story::StopAndSplit]),
            Self::ListsCostOneVote => (&[About::Lists], &[Story::Split]),
            Self::NumbersCostOneVote => (&[About::Numbers], &[Story::Stop]),
            Self::NumbersHideLists => (&[About::Both], &[Story::Split]),
            Self::NoSlack => (&[About::Lists], &[Story::Split, Story::Newcomer]),
            Self::ProlongedOnce => (&[About::Lists], &[Story::Newcomer]),
            Self::ReadersNote => (&[About::Lists], &[Story::Reader]),
            _ => return None,
        })
    }

    /// The rule of the machine that is taken back. Nothing around the machine has the same effect, so
    /// that it has a switch, in tests alone.
    pub(super) fn taken_back(self) -> Option<Rule> {
        match self {
            Self::CountsFromTheAnswer => Some(Rule::FromTheQuestion),
            Self::NoBarrier => Some(Rule::Barrier),
            _ => None,
        }
    }

    /// Makes what it is about likely.
    pub(super) fn provoke(self, setup: &mut Setup) {
        setup.denied = &[];
        setup.denies = NodeSet::EMPTY;
        setup.shorten(millis(2_000));
        setup.acts = 30..80;
        setup.length = millis(6_000);
        setup.set_guard(RestartGuard::On, false);
        setup.faults_per_mille = 100;
        match self {
            Self::NoRestartGuard => {
                setup.set_guard(RestartGuard::Off, true);
                setup.faults_per_mille = 300;
            }
            Self::KillsNobody | Self::StepsForward => setup.faults_per_mille = 400,
            Self::DeniesKill => {
                setup.denied = &["client|kill"];
                setup.denies = NodeSet::first(setup.masters);
                setup.faults_per_mille = 400;
            }
            Self::TwoOfFive | Self::ClocksBeyondDrift => {}
            _ => setup.faults_per_mille = 30,
        }
    }

    /// Two holders are to be seen, and not only that a hold has lost its quorum, which comes before.
    pub(super) fn hides_the_quorum(self) -> bool {
        matches!(
            self,
            Self::TwoOfFive
                | Self::NoRestartGuard
                | Self::ClocksBeyondDrift
                | Self::StepsForward
                | Self::DeletesForAnybody
        ) || self.about_the_agreement().is_some()
    }

    /// Masters change what they are told.
    pub(super) fn spoils(self) -> bool {
        matches!(
            self,
            Self::KeepsWhatIsReleased
                | Self::DeletesForAnybody
                | Self::KillsNobody
                | Self::ExtendsNothing
                | Self::ListsCostOneVote
                | Self::NumbersCostOneVote
                | Self::NumbersHideLists
                | Self::ProlongedOnce
        )
    }

    /// A line of the script by which clients agree, and what it is with the flaw.
    fn spoils_the_agreement(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            // Told as numbers, and as one's own.
            Self::ListsCostOneVote => (
                "differ('lists', string.sub(lists, 2, -2), left)",
                "differ('max_ttl', ARGV[2], left)",
            ),
            Self::NumbersCostOneVote => {
                ("then differ(field, theirs,", "then differ(field, ARGV[1 + place],")
            }
            Self::NumbersHideLists => (
                "left > 0 and not common",
                "left > 0 and not common and noted.max_ttl == ARGV[2] and noted['window back'] == ARGV[3]",
            ),
            Self::ProlongedOnce => {
                ("now + life, before + 1", "before > 0 and 0 or now + life, before + 1")
            }
            _ => return None,
        })
    }

    /// What a master makes of a command.
    pub(super) fn spoil(self, words: &mut Vec<Vec<u8>>) {
        let deed = Deed::of(words);
        if let (Deed::Agree, Some((rule, broken))) = (deed, self.spoils_the_agreement()) {
            let script = String::from_utf8_lossy(&words[1]);
            assert!(script.contains(rule), "{self:?} finds nothing to spoil");
            words[1] = script.replace(rule, broken).into_bytes();
            return;
        }
        let (keys, script): (usize, &[u8]) = match self {
            Self::KeepsWhatIsReleased if deed == Deed::Release => (0, b"return 1"),
            Self::KillsNobody if words[0] == b"CLIENT" => (0, b"return 1"),
            Self::DeletesForAnybody if deed == Deed::Release => {
                (1, b"return redis.call('DEL', KEYS[1])")
            }
            Self::ExtendsNothing if deed == Deed::Extend => (0, b"return 1"),
            _ => return,
        };
        let rest = if keys == 0 { Vec::new() } else { words.split_off(Deed::skips(words)) };
        *words = vec![b"EVAL".to_vec(), script.to_vec(), keys.to_string().into_bytes()];
        words.extend(rest);
    }
}
