//! The masters of a builder: one list, or two while one takes over from the other.

use super::RedlockBuilder;
use crate::address::IntoNode;
use crate::lists::Named;
use crate::transport::{BoxStream, Transport};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

impl RedlockBuilder {
    /// Adds the masters: independent of each other, none a replica of another. Five survive the
    /// loss of two, three the loss of one. An even number survives no more than the odd number
    /// below it, and costs one command more.
    ///
    /// Each address is a [`IntoNode`]: usually a URL (`redis://[user][:password@]host[:port][/db]`,
    /// `rediss://` with the feature `tls`, `unix:///path?db=0&user=…&pass=…`), or a `&redis::Client`,
    /// of which only the address, the login and the database are taken.
    /// [`connect`](RedlockBuilder::connect) reports a mistake in it.
    ///
    /// ```
    /// use quorumlock::Redlock;
    ///
    /// let urls = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
    /// let builder = Redlock::builder().nodes(urls);
    /// let urls: Vec<String> = urls.map(str::to_owned).into(); // from a configuration, say
    /// let builder = Redlock::builder().nodes(&urls);
    /// ```
    pub fn nodes<I, Form>(self, addresses: I) -> Self
    where
        I: IntoIterator<Item: IntoNode<Form>>,
    {
        addresses.into_iter().fold(self, |builder, address| builder.node(address))
    }

    /// Adds one master, as [`nodes`](Self::nodes) does.
    pub fn node<Form>(mut self, address: impl IntoNode<Form>) -> Self {
        self.lists.nodes.push(Named::new(address, None));
        self
    }

    /// Adds one master that is reached through a stream of your own: a tunnel, a service mesh, a
    /// test. `address` names it and supplies the credentials and the database. `dial` is called for
    /// each connection, and is bounded by the connect timeout.
    ///
    /// One stream must be one ordered connection to one server: rollback relies on it.
    ///
    /// ```
    /// use quorumlock::Redlock;
    /// use tokio::net::TcpStream;
    ///
    /// let builder = Redlock::builder()
    ///     .node_with_connector("redis://master-1", || TcpStream::connect("127.0.0.1:16379"));
    /// ```
    pub fn node_with_connector<D, F, S, Form>(
        mut self,
        address: impl IntoNode<Form>,
        dial: D,
    ) -> Self
    where
        D: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.lists.nodes.push(Named::new(address, Some(custom(dial))));
        self
    }

    /// Adds the masters of a second list, for the time in which one list takes over from another:
    /// `.nodes(new).joint_with(old)`. Addresses are accepted as [`nodes`](Self::nodes) accepts
    /// them.
    ///
    /// A lock then needs both lists: a quorum of each to be won and to be extended. It is lost once
    /// one of these quorums is out of reach. Two clients exclude each other as long as they have a
    /// list in common. Two clients without a common list may both win, even if a single master was
    /// exchanged. `docs/replacing-a-master.md` in the repository describes the change step by step.
    ///
    /// A master that is in both lists is written the same way in both, credentials and database
    /// included. It is connected to and asked once, in the way that `nodes` specifies. An empty
    /// list changes nothing, so a program can always pass what its configuration has.
    ///
    /// ```
    /// use quorumlock::Redlock;
    ///
    /// // 10.0.0.3 goes, 10.0.0.4 comes.
    /// let builder = Redlock::builder()
    ///     .nodes(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.4"])
    ///     .joint_with(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"]);
    /// ```
    pub fn joint_with<I, Form>(mut self, addresses: I) -> Self
    where
        I: IntoIterator<Item: IntoNode<Form>>,
    {
        let named = |address| Named::new(address, None);
        self.lists.joint_with.extend(addresses.into_iter().map(named));
        self
    }

    /// Adds one master to the second list, as [`joint_with`](Self::joint_with) does. It is reached
    /// through a stream of your own, as with [`node_with_connector`](Self::node_with_connector). If
    /// the first list names the same address, the master is reached in the way that is given there,
    /// and `dial` is not called.
    ///
    /// ```
    /// use quorumlock::Redlock;
    /// use tokio::net::TcpStream;
    ///
    /// let builder = Redlock::builder()
    ///     .node_with_connector("redis://master-2", || TcpStream::connect("127.0.0.1:16380"))
    ///     .joint_with_connector("redis://master-1", || TcpStream::connect("127.0.0.1:16379"));
    /// ```
    pub fn joint_with_connector<D, F, S, Form>(
        mut self,
        address: impl IntoNode<Form>,
        dial: D,
    ) -> Self
    where
        D: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.lists.joint_with.push(Named::new(address, Some(custom(dial))));
        self
    }
}

/// Wraps the user's own way to a master as a transport.
fn custom<D, F, S>(dial: D) -> Transport
where
    D: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    Transport::Custom(Arc::new(move || {
        let dialing = dial();
        Box::pin(async move { Ok(Box::new(dialing.await?) as BoxStream) })
    }))
}
