//! A small store in memory: the balance of one account, which the lock guards.

use crate::workers::RESOURCE;
use quorumlock::fencing::FenceCheck;
use quorumlock::{FencingToken, StaleToken};
use std::sync::{Mutex, PoisonError};

pub(crate) struct Account {
    /// `false` shows what is lost without the check.
    checks: bool,
    state: Mutex<State>,
}

struct State {
    balance: u64,
    check: FenceCheck<String>,
}

impl Account {
    pub(crate) fn open(balance: u64, checks: bool) -> Self {
        let state = State { balance, check: FenceCheck::new() };
        Self { checks, state: Mutex::new(state) }
    }

    /// Presents the token before it reads: from then on, no earlier holder can write.
    pub(crate) fn read(&self, token: FencingToken) -> Result<u64, StaleToken> {
        self.change(token, |balance| balance)
    }

    pub(crate) fn write(&self, token: FencingToken, balance: u64) -> Result<(), StaleToken> {
        self.change(token, |_| balance).map(drop)
    }

    /// Checks and writes in one critical section.
    fn change(
        &self,
        token: FencingToken,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<u64, StaleToken> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.checks {
            state.check.admit(RESOURCE, token)?;
        }
        state.balance = change(state.balance);
        Ok(state.balance)
    }

    pub(crate) fn balance(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).balance
    }
}
