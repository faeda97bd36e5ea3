//! A library's client that tasks share, for workloads in which tasks wait for locks or are refused.

use super::{Contender, two_workers};
use crate::cell::Cell;
use crate::worker;
use crate::workloads::{Locker, Measured, Workload, alone, crowd};
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;

/// One client with the library's defaults, as its users set it up. Clones share it.
pub(crate) trait Client: Clone + Send + Sync + 'static {
    type Held: Send;

    /// Set if only memory limits the number of waiting tasks.
    const WAITS_WITHOUT_A_THREAD: bool = true;

    /// Number of clients that may have one resource at the same time.
    const HOLDERS: usize = 1;

    fn connect(masters: &[SocketAddr]) -> impl Future<Output = Self> + Send;

    /// Waits until the lock is won, in as many calls of the library as that takes.
    fn acquire(&self, resource: &Arc<str>) -> impl Future<Output = Self::Held> + Send;

    /// Makes a single try, as far as the library supports it.
    fn attempt(&self, resource: &Arc<str>) -> impl Future<Output = Option<Self::Held>> + Send;

    /// Releases, and ignores the result: masters may be down.
    fn release(&self, held: Self::Held) -> impl Future<Output = ()> + Send;

    /// Waits for outstanding releases.
    fn close(self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// A contender that can be measured from outside, in processes of its own.
pub(crate) trait Apart {
    fn name(&self) -> &'static str;

    /// Executes, in this process, the orders of the bench on standard input, until that ends.
    fn serve(&self, masters: &[SocketAddr]);
}

pub(crate) struct Peer<C> {
    name: &'static str,
    client: PhantomData<C>,
}

impl<C> Peer<C> {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, client: PhantomData }
    }
}

impl<C: Client> Apart for Peer<C> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn serve(&self, masters: &[SocketAddr]) {
        two_workers().block_on(worker::serve(async || C::connect(masters).await));
    }
}

/// Its client if no other client wants the lock.
struct Alone<C>(C);

impl<C: Client> Locker for Alone<C> {
    type Held = C::Held;

    async fn acquire(&mut self, resource: &Arc<str>) -> C::Held {
        self.0.acquire(resource).await
    }

    async fn release(&mut self, held: C::Held) {
        self.0.release(held).await;
    }
}

impl<C: Client> Contender for Peer<C> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cell: &Cell) -> Measured {
        two_workers().block_on(async {
            let client = C::connect(&cell.masters).await;
            let measured = match cell.workload {
                Workload::Alone | Workload::Fenced | Workload::Kept => {
                    alone::run(Alone(client.clone()), cell).await
                }
                Workload::Crowd | Workload::Warm => {
                    crowd::run(|_| Alone(client.clone()), cell).await
                }
            };
            client.close().await;
            measured
        })
    }
}
