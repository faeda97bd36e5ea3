//! A flaw of a world, to show that its invariants notice. The machine that ships has no switch for
//! any of it: a flaw is in the setup, in the clocks, or in the masters.

mod scripts;

use super::clock::millis;
use super::commands::Deed;
use super::jam::Way;
use super::kinds::{About, Story};
use super::setup::Setup;
use quorumlock_core::coordinator::{RestartGuard, Rule};
use quorumlock_core::quorum::NodeSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flaw {
    /// Two of five masters are enough.
    TwoOfFive,
    /// Masters that have lost their memory vote at once.
    NoRestartGuard,
    /// The clients' clocks are slower than the drift allows for.
    ClocksBeyondDrift,
    /// The clocks of masters are set forward.
    StepsForward,
    /// Masters report that they have deleted, and have not.
    KeepsWhatIsReleased,
    /// Masters delete the key whatever its value.
    DeletesForAnyClient,
    /// Masters report that they have killed a connection, and have not.
    KillsNothing,
    /// No client may kill a connection: SAFETY describes what is then possible.
    DeniesKill,
    /// A ttl is relied on to its end.
    NoDrift,
    /// Masters lose fences.
    ForgetsFences,
    /// Masters report that they have prolonged the life of a key, and have not.
    ExtendsNothing,
    /// The keys of a lock with a lock-delay live no longer than others.
    NoLockDelay,
    /// Masters delete at once what is to stay after work that has ended well.
    DeletesWhatStays,
    /// Clients' clocks stop with their processes: an agreement counts forever.
    ClocksStop,
    /// An agreement counts from when the answer is read.
    CountsFromTheAnswer,
    /// A client that was stopped asks only the masters that it needs.
    NoBarrier,
    /// Other lists cost the vote of the master that reports them, and nothing else.
    ListsCostOneVote,
    /// Other numbers cost the vote of the master that reports them, and nothing else.
    NumbersCostOneVote,
    /// If the numbers differ, lists are not reported to any client.
    NumbersHideLists,
    /// A client's note lasts as long as a master waits, and no longer.
    NoSlack,
    /// A client's note is prolonged only once.
    ProlongedOnce,
    /// A client that only looks notes its settings.
    ReadersNote,
    /// A guard that was detached still reports that it is valid.
    DetachedStaysValid,
    /// A client that adopts a lock holds it at once, and not from the extension on.
    HoldsBeforehand,
    /// An adopted lock keeps the deadline that it had elsewhere, by another clock.
    AdoptsTheDeadline,
    /// The mark of readers lives as long as the last that came.
    MarkOfTheLast,
    /// A reader that leaves deletes the mark.
    LeavesNoMark,
    /// A reader that is extended prolongs all.
    ProlongsAll,
    /// A hint refuses the top-up of a reader that is in already.
    HintRefusesTopUp,
    /// Readers without a mark count.
    MarklessCount,
    /// Any waiter in a list that finds the key free goes, and not only the first.
    AnyGoes,
    /// A newcomer in a list stands in front of all.
    NewcomerFirst,
    /// A release calls the second of a list.
    CallsTheSecond,
    /// Fair acquires do not ask first.
    AsksNoList,
    /// Waiters in a list that do not ask when they are due stay in front.
    OverdueStay,
    /// A newcomer in a list is stamped by the clock alone.
    StampsAreTheClock,
    /// The next guard of a fenced hold has the number of the guard before it.
    NumberTwice,
    /// Each master grants as many permits as there are, and a client has one that a quorum has
    /// granted: no permit has a slot.
    CountsPermits,
    /// Extensions wait for acquires.
    ExtensionsInLine,
    /// A client has as many rounds open as at first, however late answers are.
    NeverNarrows,
    /// It has no more rounds open where answers come early again.
    NeverWidens,
}

pub(super) const FLAWS: [(Flaw, &str); 41] = [
    (Flaw::TwoOfFive, "both hold"),
    (Flaw::NoRestartGuard, "both hold"),
    (Flaw::ClocksBeyondDrift, "both hold"),
    (Flaw::StepsForward, "both hold"),
    (Flaw::KeepsWhatIsReleased, "is left"),
    (Flaw::DeletesForAnyClient, "not by its owner"),
    (Flaw::KillsNothing, "is left"),
    (Flaw::DeniesKill, "is left"),
    (Flaw::NoDrift, "more than its ttl less the drift"),
    (Flaw::ForgetsFences, "not above"),
    (Flaw::ExtendsNothing, "does not stand on a quorum"),
    (Flaw::NoLockDelay, "closed for"),
    (Flaw::DeletesWhatStays, "closed for"),
    (Flaw::ClocksStop, "both hold"),
    (Flaw::CountsFromTheAnswer, "both hold"),
    (Flaw::NoBarrier, "both hold"),
    (Flaw::ListsCostOneVote, "both hold"),
    (Flaw::NumbersCostOneVote, "both hold"),
    (Flaw::NumbersHideLists, "both hold"),
    (Flaw::NoSlack, "both hold"),
    (Flaw::ProlongedOnce, "both hold"),
    (Flaw::ReadersNote, "is refused"),
    (Flaw::DetachedStaysValid, "both hold"),
    (Flaw::HoldsBeforehand, "both hold"),
    (Flaw::AdoptsTheDeadline, "may rely on"),
    (Flaw::MarkOfTheLast, "both hold"),
    (Flaw::LeavesNoMark, "both hold"),
    (Flaw::ProlongsAll, "not by its owner"),
    (Flaw::HintRefusesTopUp, "and not for"),
    (Flaw::MarklessCount, "only reader"),
    (Flaw::AnyGoes, "goes before"),
    (Flaw::NewcomerFirst, "stood there when"),
    (Flaw::CallsTheSecond, "goes before"),
    (Flaw::AsksNoList, "has not been let go"),
    (Flaw::OverdueStay, "free at a quorum"),
    (Flaw::StampsAreTheClock, "others have won it"),
    (Flaw::NumberTwice, "not above"),
    (Flaw::CountsPermits, "3 hold a permit of 2"),
    (Flaw::ExtensionsInLine, "has answered in time"),
    (Flaw::NeverNarrows, "has answered in time"),
    (Flaw::NeverWidens, "of a burst"),
];

impl Flaw {
    /// Returns where the flaw shows, if it is about the agreement: the differences between clients,
    /// and their stories.
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

    /// Returns whether it is about locks that go from one client to another.
    pub(super) fn is_about_hand_overs(self) -> bool {
        matches!(self, Self::DetachedStaysValid | Self::HoldsBeforehand | Self::AdoptsTheDeadline)
    }

    /// Returns whether it is about the numbers of fenced locks that are kept warm.
    pub(super) fn is_about_blocks(self) -> bool {
        matches!(self, Self::NumberTwice)
    }

    /// Returns the jam in which it shows, if it is about those that wait.
    pub(super) fn shows_in(self) -> Option<Way> {
        match self {
            Self::OverdueStay => Some(Way::FiveGone),
            Self::StampsAreTheClock => Some(Way::Turns),
            Self::ExtensionsInLine | Self::NeverNarrows => Some(Way::Burst { is_far: false }),
            Self::NeverWidens => Some(Way::Burst { is_far: true }),
            _ => None,
        }
    }

    /// Returns whether it is about readers and writers.
    pub(super) fn is_about_readers(self) -> bool {
        matches!(self, Self::MarkOfTheLast | Self::LeavesNoMark | Self::ProlongsAll)
            || self.is_about_entries()
    }

    /// Returns whether it shows where a master's clock is set back.
    pub(super) fn needs_steps_back(self) -> bool {
        matches!(self, Self::MarklessCount)
    }

    /// Returns whether it is about the order of waiters.
    pub(super) fn is_about_order(self) -> bool {
        matches!(
            self,
            Self::AnyGoes | Self::NewcomerFirst | Self::CallsTheSecond | Self::AsksNoList
        )
    }

    /// Returns the rule of the machine that is taken back. Nothing around the machine has the same
    /// effect, so the machine has a switch for it, in tests only.
    pub(super) fn taken_back(self) -> Option<Rule> {
        match self {
            Self::CountsFromTheAnswer => Some(Rule::FromTheQuestion),
            Self::NoBarrier => Some(Rule::Barrier),
            Self::ExtensionsInLine => Some(Rule::HoldsFirst),
            Self::NeverNarrows => Some(Rule::Narrows),
            Self::NeverWidens => Some(Rule::Widens),
            _ => None,
        }
    }

    /// Makes the conditions of the flaw likely.
    pub(super) fn provoke(self, setup: &mut Setup) {
        setup.denied = &[];
        setup.denies = NodeSet::EMPTY;
        setup.shorten(millis(2_000));
        setup.acts = 30..80;
        setup.length = millis(6_000);
        setup.set_guard(RestartGuard::On, false);
        setup.faults_per_mille = 100;
        if self.needs_steps_back() {
            setup.set_guard(RestartGuard::Off, false);
            setup.steps_back = true;
        }
        match self {
            Self::NoRestartGuard => {
                setup.set_guard(RestartGuard::Off, true);
                setup.faults_per_mille = 300;
            }
            Self::KillsNothing | Self::StepsForward => setup.faults_per_mille = 400,
            Self::DeniesKill => {
                setup.denied = &["client|kill"];
                setup.denies = NodeSet::first(setup.masters);
                setup.faults_per_mille = 400;
            }
            Self::TwoOfFive | Self::ClocksBeyondDrift => {}
            flaw if flaw.is_about_order() => {
                (setup.is_rush, setup.wake_ups) = (true, true);
                setup.faults_per_mille = 0;
            }
            flaw if flaw.is_about_entries() => setup.faults_per_mille = 300,
            _ => setup.faults_per_mille = 30,
        }
    }

    /// Returns whether two holders must be seen, and not only a hold that has lost its quorum,
    /// which comes first.
    pub(super) fn hides_the_quorum(self) -> bool {
        matches!(
            self,
            Self::TwoOfFive
                | Self::NoRestartGuard
                | Self::ClocksBeyondDrift
                | Self::StepsForward
                | Self::DeletesForAnyClient
                | Self::DetachedStaysValid
                | Self::HoldsBeforehand
                | Self::MarkOfTheLast
                | Self::LeavesNoMark
                | Self::CountsPermits
        ) || self.about_the_agreement().is_some()
    }

    /// Returns whether masters change the commands that they receive.
    pub(super) fn spoils(self) -> bool {
        matches!(
            self,
            Self::KeepsWhatIsReleased
                | Self::DeletesForAnyClient
                | Self::KillsNothing
                | Self::ExtendsNothing
                | Self::DeletesWhatStays
                | Self::ListsCostOneVote
                | Self::NumbersCostOneVote
                | Self::NumbersHideLists
                | Self::ProlongedOnce
                | Self::CountsPermits
        ) || self.spoils_a_script().is_some()
    }

    /// Returns a line of the agreement script, and its replacement with the flaw.
    fn spoils_the_agreement(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            // Reported as numbers, and with the client's own value.
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
                ("math.max(parts[mine] or 0, now + life)", "parts[mine] or now + life")
            }
            _ => return None,
        })
    }

    /// Changes a command as the flawed master does.
    pub(super) fn spoil(self, words: &mut Vec<Vec<u8>>) {
        let deed = Deed::of(words);
        if let (Deed::Agree, Some((rule, broken))) = (deed, self.spoils_the_agreement()) {
            let script = String::from_utf8_lossy(&words[1]);
            assert!(script.contains(rule), "{self:?} finds nothing to spoil");
            words[1] = script.replace(rule, broken).into_bytes();
            return;
        }
        if let Some((script, rule, broken)) = self.spoils_a_script() {
            assert!(script.contains(rule), "{self:?} finds nothing to spoil");
            let hash = redis::Script::new(script).get_hash().to_owned();
            let is_called = words
                .get(1)
                .is_some_and(|word| *word == script.as_bytes() || *word == hash.as_bytes());
            if is_called {
                words[0] = b"EVAL".to_vec();
                words[1] = script.replace(rule, broken).into_bytes();
            }
            return;
        }
        let (keys, script): (usize, &[u8]) = match self {
            Self::KeepsWhatIsReleased if deed == Deed::Release => (0, b"return 1"),
            Self::KillsNothing if words[0] == b"CLIENT" => (0, b"return 1"),
            Self::DeletesForAnyClient if deed == Deed::Release => {
                (1, b"return redis.call('DEL', KEYS[1])")
            }
            Self::DeletesWhatStays if deed == Deed::Shorten => {
                (1, b"return redis.call('DEL', KEYS[1])")
            }
            Self::ExtendsNothing if deed == Deed::Extend => (0, b"return 1"),
            Self::CountsPermits => match counted(deed) {
                Some(script) => (1, script.as_bytes()),
                None => return,
            },
            _ => return,
        };
        let rest = if keys == 0 { Vec::new() } else { words.split_off(Deed::skips(words)) };
        *words = vec![b"EVAL".to_vec(), script.to_vec(), keys.to_string().into_bytes()];
        words.extend(rest);
    }
}

/// Returns what a master that counts the permits under a name does instead. Each that it has granted
/// expires by itself; the number behind the name is the master's own, and no client knows it.
fn counted(deed: Deed) -> Option<&'static str> {
    Some(match deed {
        Deed::Acquire => {
            "for place = 1, 2 do
                local key = KEYS[1] .. ':' .. place
                if redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[4]) then
                    return redis.status_reply('OK')
                end
            end
            return false"
        }
        Deed::Extend => {
            "for place = 1, 2 do
                local key = KEYS[1] .. ':' .. place
                if redis.call('GET', key) == ARGV[1] then
                    return redis.call('PEXPIRE', key, ARGV[2])
                end
            end
            return 0"
        }
        Deed::Release => {
            "for place = 1, 2 do
                local key = KEYS[1] .. ':' .. place
                if redis.call('GET', key) == ARGV[1] then return redis.call('DEL', key) end
            end
            return 0"
        }
        _ => return None,
    })
}
