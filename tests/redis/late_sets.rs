//! A SET that arrives after its acquire has failed leaves no key, on servers of every kind: by `CLIENT KILL`, or by
//! rollbacks that are repeated. `tests/embedded/client/late_sets.rs` has all ways in which a SET may be late.

use crate::support::late::setup::{self, BATCH, Place};
use crate::support::prelude::*;
use crate::support::proxy::{Proxy, in_front_of};
use crate::support::sabotage::{Sabotage, dial_through};
use quorumlock::RedlockBuilder;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::net::TcpStream;

type Setup = setup::Setup<OnPorts>;

struct OnPorts {
    masters: Masters,
    proxies: Vec<Proxy>,
}

impl Place for OnPorts {
    type Master = Server;
    type Proxy = Proxy;

    fn start() -> Self {
        let masters = Masters::start(5);
        let proxies = in_front_of(masters[..3].iter().map(Server::addr));
        Self { masters, proxies }
    }

    fn masters(&self) -> &[Server] {
        &self.masters
    }

    fn proxies(&self) -> &[Proxy] {
        &self.proxies
    }

    fn builder(&self, sabotage: Sabotage, spoiled: &Arc<AtomicU64>) -> RedlockBuilder {
        let behind = self.proxies.iter().map(Proxy::addr);
        let addresses = behind.chain(self.masters[3..].iter().map(Server::addr));
        addresses.fold(builder(), |builder, address| {
            let dial = dial_through(move || TcpStream::connect(address), sabotage, spoiled.clone());
            builder.node_with_connector(format!("redis://{address}"), dial)
        })
    }
}

/// A connection that a server kills executes nothing more that is on its way.
#[tokio::test]
async fn sets_that_arrive_behind_their_rollback_leave_nothing() {
    let setup = Setup::start(SECOND * 10).await;
    assert_eq!(setup.held_until_the_connections_are_replaced().await, 0);
    for master in &setup.place.masters()[..3] {
        assert!(witness::kills(master).await.is_none_or(|kills| kills > 0));
    }
}

#[tokio::test]
async fn where_no_client_may_be_killed_the_rollback_is_repeated() {
    let setup = Setup::start(SECOND * 10).await;
    for master in setup.place.masters() {
        let mut forbid = redis::cmd("ACL");
        // 6.2 has no rule without one subcommand. The others are the witness's.
        forbid.arg("SETUSER").arg("default").arg("-client");
        forbid.arg("+client|setname").arg("+client|list");
        witness::ask::<()>(master, &forbid).await.unwrap();
    }
    assert_eq!(setup.held_until_the_connections_are_replaced().await, 0);
    for master in &setup.place.masters()[..3] {
        let deleted = witness::deletions(&witness::calls(master).await);
        assert!(deleted as usize >= BATCH, "the SETs were applied: {deleted}");
    }
}

/// The servers are processes that are stopped: what reached them meanwhile is executed when they go on.
#[tokio::test]
async fn masters_stopped_for_less_than_a_ttl_leave_nothing() {
    let setup = Setup::start(SECOND * 10).await;
    setup.place.masters()[..3].iter().for_each(Server::stop);
    setup.fail_a_batch().await;
    setup.place.masters()[..3].iter().for_each(Server::cont);
    assert_eq!(setup.left().await, 0);
}
