//! This crate, asked for more than one plain lock: a fencing token, several resources at once.

use super::quorumlock::connect;
use super::{Contender, one_thread};
use crate::cell::Cell;
use crate::workloads::{Locker, Measured, alone};
use quorumlock::kind::All;
use quorumlock::{Acquire, FencedGuard, Guard, Redlock, Released};
use std::sync::Arc;

pub(super) struct More {
    name: &'static str,
    resources: usize,
    fenced: bool,
}

pub(super) const FENCED: More = More { name: "fenced", resources: 1, fenced: true };
pub(super) const TWO: More = More { name: "2 keys", resources: 2, fenced: false };
pub(super) const TWO_FENCED: More = More { name: "2 keys, fenced", resources: 2, fenced: true };
pub(super) const EIGHT: More = More { name: "8 keys", resources: 8, fenced: false };
pub(super) const EIGHT_FENCED: More = More { name: "8 keys, fenced", resources: 8, fenced: true };

impl Contender for More {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cell: &Cell) -> Measured {
        one_thread().block_on(async {
            let redlock = connect(&cell.masters).await;
            let several = Several::new(redlock.clone(), self.resources);
            let measured = match self.fenced {
                true => alone::run(Fenced(several), cell).await,
                false => alone::run(several, cell).await,
            };
            redlock.shutdown().await.expect("all releases confirmed");
            measured
        })
    }
}

struct Several {
    redlock: Redlock,
    names: Vec<Arc<str>>,
}

impl Several {
    fn new(redlock: Redlock, resources: usize) -> Self {
        let more = (1..resources).map(|number| format!("{}:{number}", alone::RESOURCE).into());
        Self { redlock, names: [alone::RESOURCE.into()].into_iter().chain(more).collect() }
    }

    fn ask(&self) -> Acquire<All> {
        self.redlock.acquire_all(&self.names)
    }
}

impl Locker for Several {
    type Held = Guard;

    async fn acquire(&mut self, _: &Arc<str>) -> Guard {
        self.ask().await.expect("locks that no other task wants")
    }

    async fn release(&mut self, guard: Guard) {
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
}

struct Fenced(Several);

impl Locker for Fenced {
    type Held = FencedGuard;

    async fn acquire(&mut self, _: &Arc<str>) -> FencedGuard {
        self.0.ask().fenced().await.expect("locks that no other task wants")
    }

    async fn release(&mut self, guard: FencedGuard) {
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
}
