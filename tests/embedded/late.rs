//! The place of `tests/support/late` in virtual time.

use crate::masters::{Masters, builder};
use crate::proxy::{Proxy, in_front_of};
use crate::support::late::setup::{self, Place};
use crate::support::sabotage::{Sabotage, dial_through};
use quorumlock::RedlockBuilder;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub(crate) type Setup = setup::Setup<InVirtualTime>;

pub(crate) struct InVirtualTime {
    masters: Masters,
    proxies: Vec<Proxy>,
}

impl Place for InVirtualTime {
    type Master = crate::masters::Master;
    type Proxy = Proxy;

    fn start() -> Self {
        let masters = Masters::start(5);
        let proxies = in_front_of(&masters[..3]);
        Self { masters, proxies }
    }

    fn masters(&self) -> &[Self::Master] {
        &self.masters
    }

    fn proxies(&self) -> &[Proxy] {
        &self.proxies
    }

    fn builder(&self, sabotage: Sabotage, spoiled: &Arc<AtomicU64>) -> RedlockBuilder {
        self.masters.iter().enumerate().fold(builder(), |builder, (node, master)| {
            let (url, spoiled) = (master.url(), spoiled.clone());
            match self.proxies.get(node) {
                Some(proxy) => {
                    let dial = dial_through(proxy.dialer(), sabotage, spoiled);
                    builder.node_with_connector(url, dial)
                }
                None => {
                    let dial = dial_through(master.dialer(), sabotage, spoiled);
                    builder.node_with_connector(url, dial)
                }
            }
        })
    }
}
