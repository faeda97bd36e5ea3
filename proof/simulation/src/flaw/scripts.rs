//! Scripts that do something else than they say.

use super::Flaw;
use quorumlock_core::coordinator::wire::{
    ACQUIRE_READ, ASK, EXTEND_READ, LEAVE, RELEASE_READ, WAIT,
};

impl Flaw {
    /// Returns a script that is called by its hash, a part of it, and what stands there with the flaw.
    pub(super) fn spoils_a_script(self) -> Option<(&'static str, &'static str, &'static str)> {
        Some(match self {
            Self::MarkOfTheLast => (ACQUIRE_READ, "'PXAT', last)", "'PX', ARGV[2])"),
            Self::LeavesNoMark => {
                (RELEASE_READ, "if last and tonumber(last) >= now then", "if false then")
            }
            Self::ProlongsAll => (
                EXTEND_READ,
                "redis.call('ZADD', readers, ends, ARGV[1])",
                "for _, one in ipairs(redis.call('ZRANGE', readers, 0, -1)) do \
                 redis.call('ZADD', readers, ends, one) end \
                 redis.call('ZADD', readers, ends, ARGV[1])",
            ),
            Self::GrantsOutOfTurn => (ASK, "elseif head ~= waiter then", "elseif false then"),
            Self::KeepsForNone => (LEAVE, "if head and not holder then", "if false then"),
            Self::LeavesUncompared => {
                (LEAVE, "token ~= '' and holder == token", "token ~= '' and holder")
            }
            Self::PlacesStay => (
                ASK,
                "local head = redis.call('ZRANGE', queue, 0, 0)[1]",
                "for _, one in ipairs(redis.call('ZRANGE', queue, 0, -1)) do \
                 redis.call('ZADD', alive, now + ARGV[5], one) end \
                 local head = redis.call('ZRANGE', queue, 0, 0)[1]",
            ),
            Self::QueuesStay => (ASK, "redis.call('PEXPIRE', queue, lasts)", ""),
            Self::HintRefusesTopUp => (
                ACQUIRE_READ,
                "if ARGV[3] == '0' and redis.call('GET', hint)",
                "if redis.call('GET', hint)",
            ),
            Self::KeptRefusesTopUp => {
                (ACQUIRE_READ, "not (kept and ARGV[3] == '1') and value", "value")
            }
            Self::MarklessCount => (ACQUIRE_READ, "holder and '(' .. now or '+inf'", "'(' .. now"),
            Self::KeptIsTaken => (
                EXTEND_READ,
                "return holder and not kept and -1 or 0 end",
                "return holder and -1 or 0 end",
            ),
            Self::OneStamp => (ASK, "math.max(us, last and last + 1 or 0)", "last or us"),
            Self::DeadLinger => (ASK, "'-inf', '(' .. now)", "'-inf', '(' .. (now - 5000))"),
            Self::OverdueStay => (WAIT, "in ipairs(late) do", "in ipairs({}) do"),
            Self::StampsAreTheClock => (WAIT, "new = math.max(us, at + 1)", "new = us"),
            Self::OldPlacesStay => (ASK, "{late, early}", "{late}"),
            Self::KeptForTheDead => {
                (LEAVE, "if ends and tonumber(ends) >= math.floor(us / 1000) then", "if ends then")
            }
            Self::KeptForTheGone => (
                LEAVE,
                "leaves and waiter ~= '' and holder == 'quorumlock:next:' .. waiter",
                "false",
            ),
            Self::RefusedKeepsNothing => {
                (ASK, "if token ~= '' and why ~= 0 and head and holder", "if false and holder")
            }
            Self::WinnerStays => (
                LEAVE,
                "if leaves and waiter ~= '' then",
                "if ARGV[3] == 'place' and waiter ~= '' then",
            ),
            _ => return None,
        })
    }

    /// Returns whether a script makes something else of a resource than it says.
    pub(crate) fn breaks_its_word(self) -> bool {
        self.is_about_entries() || self.is_about_places()
    }

    /// Returns whether it is about what readers leave on a master.
    pub(super) fn is_about_entries(self) -> bool {
        matches!(
            self,
            Self::HintRefusesTopUp
                | Self::KeptRefusesTopUp
                | Self::MarklessCount
                | Self::KeptIsTaken
        )
    }

    /// Returns whether it is about the places that waiters take and leave.
    pub(super) fn is_about_places(self) -> bool {
        matches!(
            self,
            Self::OneStamp
                | Self::DeadLinger
                | Self::OldPlacesStay
                | Self::KeptForTheDead
                | Self::KeptForTheGone
                | Self::RefusedKeepsNothing
                | Self::WinnerStays
        )
    }
}
