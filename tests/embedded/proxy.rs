//! A network that misbehaves on command, in virtual time: the wires of `tests/support/proxy`, without a port.

use crate::masters::Master;
use crate::support::proxy::{Cut, Wires};
use quorumlock::RedlockBuilder;
use std::future::{Ready, ready};
use std::io::{Error, ErrorKind, Result};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{DuplexStream, duplex};

/// The proxy in front of one master. Its connections are cut when it is dropped.
pub(crate) struct Proxy {
    url: String,
    wires: Arc<Wires>,
    refuses: Arc<AtomicBool>,
    dial: Arc<dyn Fn() -> Ready<Result<DuplexStream>> + Send + Sync>,
}

impl Proxy {
    pub(crate) fn start(master: &Master) -> Self {
        let (wires, refuses) = (Arc::default(), Arc::default());
        Self { url: master.url(), wires, refuses, dial: Arc::new(master.dialer()) }
    }

    /// Returns the `dial` of a connector.
    pub(crate) fn dialer(
        &self,
    ) -> impl Fn() -> Ready<Result<DuplexStream>> + Send + Sync + 'static {
        let (wires, refuses) = (self.wires.clone(), self.refuses.clone());
        let dial = self.dial.clone();
        move || {
            if refuses.load(Ordering::SeqCst) {
                return ready(Err(Error::from(ErrorKind::ConnectionRefused)));
            }
            let (ours, theirs) = duplex(256 << 10);
            wires.connect(ours, dial());
            ready(Ok(theirs))
        }
    }

    pub(crate) fn add_to(&self, builder: RedlockBuilder) -> RedlockBuilder {
        builder.node_with_connector(&*self.url, self.dialer())
    }

    /// Refuses new connections, or accepts them again; live ones go on.
    pub(crate) fn refuse_new(&self, refuse: bool) {
        self.refuses.store(refuse, Ordering::SeqCst);
    }
}

/// Ends clients as a kill of their process does: nothing more is sent, and every connection is gone.
pub(crate) fn kill_process(proxies: &[Proxy]) {
    for proxy in proxies {
        proxy.refuse_new(true);
        proxy.cut(Cut::Reset);
    }
}

/// Starts one proxy in front of each master.
pub(crate) fn in_front_of(masters: &[Master]) -> Vec<Proxy> {
    masters.iter().map(Proxy::start).collect()
}

/// Configures a client that reaches all masters through these proxies.
pub(crate) fn builder(proxies: &[Proxy]) -> RedlockBuilder {
    proxies.iter().fold(crate::masters::builder(), |builder, proxy| proxy.add_to(builder))
}

impl Deref for Proxy {
    type Target = Wires;

    fn deref(&self) -> &Wires {
        &self.wires
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut(Cut::Reset);
    }
}
