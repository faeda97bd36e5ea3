//! The tasks that move the bytes of one connection.

use super::{Answer, Condition, Shell};
use crate::run::either;
use quorumlock_embedded::ClientId;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
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
            let (link, answers) = unbounded_channel();
            let client = state.machine.open();
            state.links.insert(client, link);
            let connection = self.clone().connection(condition.life, client, answers, stream);
            state.tasks.spawn_on(connection, &self.runtime);
        }
        condition.is_running()
    }

    pub(super) async fn accept(self: Arc<Self>, life: u64) {
        // The listener stays with the state, so that it is gone as soon as the master is.
        let accept = |cx: &mut Context<'_>| match &self.state().listener {
            Some(listener) if self.is(life) => listener.poll_accept(cx).map(Some),
            _ => Poll::Ready(None),
        };
        while let Some(accepted) = poll_fn(accept).await {
            // An error concerns that one connection, or is due to too many files: others get their
            // turn.
            match accepted {
                Ok((stream, _)) => {
                    let _only_slower = stream.set_nodelay(true);
                    self.serve(stream);
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    async fn connection(
        self: Arc<Self>,
        life: u64,
        client: ClientId,
        answers: UnboundedReceiver<Answer>,
        stream: impl AsyncRead + AsyncWrite,
    ) {
        let (from, to) = tokio::io::split(stream);
        either(self.read(life, client, from), self.write(life, answers, to)).await;
        let mut state = self.state();
        if self.is(life) {
            state.machine.close(client);
            state.links.remove(&client);
        }
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
