//! The start of a client: its machine, the driver and the handle.

use super::catching_up::CatchingUp;
use super::clock::Clock;
use super::inbox::requests;
use super::lease_state::IdleLocks;
use super::process::Process;
use super::random::OsRandom;
use super::{Callers, Driver, Ended, Handle};
use crate::failure::ConnectError;
use crate::lists::Resolved;
use crate::options::Options;
use crate::telemetry::{Outlet, Telemetry};
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The outcome of the first try to connect to every node.
pub(crate) type Connected = oneshot::Receiver<Result<(), ConnectError>>;

impl Driver {
    /// Creates a driver, and the first handle of it. It notifies `Connected` when every node has answered or failed.
    pub(crate) fn begin(
        options: &Options,
        (masters, membership): &Resolved,
        clock: Clock,
    ) -> (Handle, Self, Connected) {
        let logins = masters.iter().map(|master| (master.name.clone(), master.login.clone()));
        let settings = options.settings(*membership, masters);
        let random = Box::new(OsRandom::new());
        let mut machine = Coordinator::new(clock.now(), settings, logins, random);
        let idle_locks = Arc::<IdleLocks>::default();
        machine.use_shelf(idle_locks.clone());
        let (requests, inbox) = requests();
        let (reply, connected) = oneshot::channel();
        let (ended, names) = (Ended::default(), masters.iter().map(|master| &master.name));
        let outlet = Outlet::new(names.clone());
        let telemetry = Telemetry::new(outlet.clone(), names.cloned());
        let callers = Callers::new(reply, options, telemetry, idle_locks.clone());
        let driver = Self {
            process: Process::of_this(),
            machine,
            clock,
            inbox,
            callers,
            links: masters.iter().map(|_| None).collect(),
            addresses: masters.iter().cloned().map(Arc::new).collect(),
            connect_timeout: options.connect_timeout,
            dials: JoinSet::new(),
            dialing: HashMap::new(),
            buffer: vec![0; 16 * 1024].into(),
            sleep: Box::pin(tokio::time::sleep(Duration::ZERO)),
            wakes_at: Instant::default(),
            rests_until: Instant::default(),
            now: clock.now(),
            catching_up: CatchingUp::No,
            caught_up: Box::pin(tokio::time::sleep(Duration::ZERO)),
            yielded: false,
            linger: options.linger(),
            patience: options.operation_timeout,
            ends_at: None,
            ended: ended.clone(),
        };
        (Handle::new(requests, clock, ended, outlet, idle_locks), driver, connected)
    }
}
