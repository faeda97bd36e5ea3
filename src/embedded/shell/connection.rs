//! The tasks that move the bytes of one connection.

use super::{Answer, Condition, Shell};
use quorumlock_embedded::ClientId;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until};

impl Shell {
    /// Takes a connection on; returns `false` if the master does not run.
    pub(in crate::embedded) fn serve<S>(self: &Arc<Self>, stream: S) -> bool
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let mut state = self.state();
        let condition = *self.condition.borrow();
        if condition.is_running() {
            while state.tasks.try_join_next().is_some() {}
            let shell = self.clone();
            state.tasks.spawn_on(shell.connection(condition.life, stream), &self.runtime);
        }
        condition.is_running()
    }

    pub(super) async fn accept(self: Arc<Self>, life: u64) {
        while let Some(accepted) = poll_fn(|cx| self.poll_accept(life, cx)).await {
            // An error concerns that one connection, or is due to too many files: others get their
            // turn.
            match accepted {
                Ok(stream) => {
                    let _only_slower = stream.set_nodelay(true);
                    self.serve(stream);
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    /// Accepts a connection. The listener stays with the state, so that it is gone as soon as the
    /// master is.
    fn poll_accept(&self, life: u64, cx: &mut Context<'_>) -> Poll<Option<io::Result<TcpStream>>> {
        match &self.state().listener {
            Some(listener) if self.is(life) => {
                listener.poll_accept(cx).map(|accepted| Some(accepted.map(|(stream, _)| stream)))
            }
            _ => Poll::Ready(None),
        }
    }

    async fn connection(self: Arc<Self>, life: u64, stream: impl AsyncRead + AsyncWrite) {
        let Some((client, answers)) = self.open(life).await else { return };
        let (from, to) = tokio::io::split(stream);
        either(self.read(life, client, from), self.write(life, answers, to)).await;
        let mut state = self.state();
        if self.is(life) {
            state.machine.close(client);
            state.links.remove(&client);
        }
    }

    async fn open(&self, life: u64) -> Option<(ClientId, UnboundedReceiver<Answer>)> {
        while self.until(life, Condition::reads).await {
            let mut state = self.state();
            if self.is(life) && self.condition.borrow().reads() {
                let (link, answers) = unbounded_channel();
                let client = state.machine.open();
                state.links.insert(client, link);
                return Some((client, answers));
            }
        }
        None
    }

    async fn read(&self, life: u64, client: ClientId, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        while self.until(life, Condition::reads).await {
            let read = from.read(&mut buffer).await.unwrap_or(0);
            // Bytes that arrived at the very moment of a pause wait until it ends.
            while self.until(life, Condition::reads).await
                && !self.receive(life, client, &buffer[..read])
            {}
            if read == 0 {
                return;
            }
        }
    }

    async fn write(
        &self,
        life: u64,
        mut answers: UnboundedReceiver<Answer>,
        mut to: impl AsyncWrite + Unpin,
    ) {
        while let Some((due, answer)) = answers.recv().await {
            if due > Instant::now() {
                sleep_until(due).await;
            }
            if !self.until(life, |condition| !condition.partitioned).await
                || to.write_all(&answer).await.is_err()
            {
                return;
            }
        }
        let _already_gone = to.shutdown().await;
    }

    /// Executes what has arrived; returns `false` if the master was paused in the meantime.
    fn receive(&self, life: u64, client: ClientId, bytes: &[u8]) -> bool {
        let mut state = self.state();
        let condition = *self.condition.borrow();
        if condition.life != life {
            return true;
        }
        if condition.reads() {
            let now = state.now();
            state.machine.receive(client, now, bytes);
            state.distribute();
        }
        condition.reads()
    }
}

/// Waits until one of them ends.
async fn either(first: impl Future<Output = ()>, second: impl Future<Output = ()>) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|cx| {
        let ended = first.as_mut().poll(cx).is_ready() || second.as_mut().poll(cx).is_ready();
        if ended { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
