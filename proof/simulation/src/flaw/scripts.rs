//! Scripts that do something else than they say.

use super::Flaw;
use quorumlock_core::coordinator::wire::{ACQUIRE_READ, EXTEND_READ, RELEASE_READ, WAITLIST};

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
            Self::HintRefusesTopUp => (
                ACQUIRE_READ,
                "if ARGV[3] == '0' and redis.call('GET', hint)",
                "if redis.call('GET', hint)",
            ),
            Self::MarklessCount => (ACQUIRE_READ, "holder and '(' .. now or '+inf'", "'(' .. now"),
            Self::AnyGoes => (WAITLIST, "and life == 0 and call(slot)", "and false"),
            Self::NewcomerFirst => (
                WAITLIST,
                "new = new - ARGV[11]",
                "new = math.min(us, redis.call('ZRANGE', list, 0, 0, 'WITHSCORES')[2] or us) - 1",
            ),
            Self::CallsTheSecond => {
                (WAITLIST, "write(what, about, 0)", "write(what, about, waits and 0 or 1)")
            }
            Self::OverdueStay => (WAITLIST, "in ipairs(late) do", "in ipairs({}) do"),
            Self::StampsAreTheClock => (WAITLIST, "new = math.max(us, at + 1)", "new = us"),
            _ => return None,
        })
    }

    /// Returns whether it is about what readers leave on a master.
    pub(crate) fn is_about_entries(self) -> bool {
        matches!(self, Self::HintRefusesTopUp | Self::MarklessCount)
    }
}
