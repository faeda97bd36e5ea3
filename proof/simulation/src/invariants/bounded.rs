//! Bounded memory: a machine's memory is bounded by what it is asked, and it is empty once
//! everything is over.

use super::Verdict;

/// The contents of a machine's tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Load {
    /// Requests, attempts, rounds, places.
    pub(crate) entries: usize,
    pub(crate) debts: usize,
    /// Bytes that wait to be written, at the master with the most.
    pub(crate) bytes: usize,
}

/// The most bytes in a master's queue, and of one debt.
const MOST_BYTES: usize = 1 << 20;
const BYTES_OF_A_DEBT: usize = 2 << 10;

/// The most rounds that are over and wait for stragglers until their timeout.
const STRAGGLERS: usize = 60;

impl Load {
    /// Checks a load. `open` counts requests and guards. Each attempt owes each master one deletion
    /// at most.
    pub(crate) fn judge(self, open: usize, attempts: usize, masters: usize) -> Verdict {
        if self.entries > 6 * open + STRAGGLERS {
            return Err(format!("{open} requests and guards are open, and {self:?}"));
        }
        if self.debts > attempts * masters {
            return Err(format!("{attempts} attempts at {masters} masters, and {self:?}"));
        }
        if self.bytes > MOST_BYTES + self.debts * BYTES_OF_A_DEBT {
            return Err(format!("{self:?} to be written"));
        }
        Ok(())
    }

    pub(crate) fn judge_aftermath(self, client: &str) -> Verdict {
        if self == Self::default() {
            return Ok(());
        }
        Err(format!("everything is over, and {client} remembers {self:?}"))
    }
}

#[test]
fn what_is_never_forgotten_is_found() {
    let load = |entries, debts, bytes| Load { entries, debts, bytes };
    assert_eq!(load(66, 6, MOST_BYTES).judge(1, 2, 3), Ok(()));
    for leak in [load(67, 0, 0), load(0, 7, 0), load(0, 0, MOST_BYTES + 1)] {
        assert!(leak.judge(1, 2, 3).is_err(), "{leak:?}");
    }
    assert!(load(0, 1, 0).judge_aftermath("A").is_err());
}
