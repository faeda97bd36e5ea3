//! What is wrong with a world, to show that its invariants notice. The machine that ships has no
//! switch for any of it: a flaw is in how it is set up, in the clocks, or in the masters.

use super::clock::millis;
use super::setup::Setup;
use crate::coordinator::RestartGuard;
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
}

pub(super) const FLAWS: [(Flaw, &str); 12] = [
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
];

impl Flaw {
    /// Makes what it is about likely.
    pub(super) fn provoke(self, setup: &mut Setup) {
        setup.denied = &[];
        setup.denies = NodeSet::EMPTY;
        setup.max_ttl = setup.max_ttl.min(millis(2_000));
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
        )
    }

    /// Masters change what they are told.
    pub(super) fn spoils(self) -> bool {
        matches!(
            self,
            Self::KeepsWhatIsReleased
                | Self::DeletesForAnybody
                | Self::KillsNobody
                | Self::ExtendsNothing
        )
    }

    /// What a master makes of a command.
    pub(super) fn spoil(self, words: &mut Vec<Vec<u8>>) {
        let says = |text: &[u8]| words.iter().any(|word| has(word, text));
        let is_release = words[0] == b"EVAL" && says(b"'DEL', KEYS");
        let is_extension = words[0] == b"EVALSHA" && words.len() < 7 && words[2] == b"1";
        let (keys, script): (usize, &[u8]) = match self {
            Self::KeepsWhatIsReleased if is_release => (0, b"return 1"),
            Self::KillsNobody if words[0] == b"CLIENT" => (0, b"return 1"),
            Self::DeletesForAnybody if is_release => (1, b"return redis.call('DEL', KEYS[1])"),
            Self::ExtendsNothing if is_extension => (0, b"return 1"),
            _ => return,
        };
        let rest = if keys == 0 { Vec::new() } else { words.split_off(3) };
        *words = vec![b"EVAL".to_vec(), script.to_vec(), keys.to_string().into_bytes()];
        words.extend(rest);
    }
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
