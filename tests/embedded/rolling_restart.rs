//! A rolling restart in virtual time: locks of every kind, held and waited for.

use crate::support::rolling::{Restarts, restart_all};
use quorumlock::RedlockBuilder;
use quorumlock::embedded::{Masters, Memory};
use std::time::Duration;

/// Masters that come back empty, after so long.
struct Forgetful {
    masters: Masters,
    down_for: Duration,
}

impl Restarts for Forgetful {
    fn count(&self) -> usize {
        self.masters.len()
    }

    fn builder(&self) -> RedlockBuilder {
        self.masters.builder()
    }

    async fn restart(&self, node: usize) {
        self.masters[node].kill();
        tokio::time::sleep(self.down_for).await;
        self.masters[node].restart(Memory::Lost).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn no_lock_is_lost_and_no_leader_changes_while_others_wait() {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let masters = Forgetful { masters, down_for: Duration::from_millis(900) };
    let faults = restart_all(&masters, |_| Vec::new()).await;
    assert!(faults.is_empty(), "{faults:#?}");
}
