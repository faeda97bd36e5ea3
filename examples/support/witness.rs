//! The keys on each master, as an independent client sees them: through the `redis` crate, and
//! around the gates.

use crate::masters::{Masters, State};
use crate::workers::RESOURCE;
use redis::aio::MultiplexedConnection;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const EVERY: Duration = Duration::from_millis(80);
const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The master was killed, or has not answered in time.
    Nothing,
    Free,
    Key {
        token: String,
        lives_for: Duration,
    },
}

/// Looks at every master until it is dropped.
pub(crate) struct Witness {
    seen: Arc<[Mutex<Seen>]>,
    _tasks: JoinSet<()>,
}

impl Witness {
    pub(crate) fn new(masters: &Arc<Masters>) -> Self {
        let seen: Arc<[_]> = masters.all().iter().map(|_| Mutex::new(Seen::Nothing)).collect();
        let mut tasks = JoinSet::new();
        for node in 0..seen.len() {
            let (masters, seen) = (masters.clone(), seen.clone());
            tasks.spawn(async move {
                let mut connection = None;
                loop {
                    let looked = timeout(PATIENCE, look(&masters, node, &mut connection)).await;
                    let now = looked.ok().and_then(Result::ok).unwrap_or_else(|| {
                        connection = None;
                        Seen::Nothing
                    });
                    *seen[node].lock().unwrap_or_else(PoisonError::into_inner) = now;
                    sleep(EVERY).await;
                }
            });
        }
        Self { seen, _tasks: tasks }
    }

    pub(crate) fn saw(&self, node: usize) -> Seen {
        self.seen[node].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn look(
    masters: &Masters,
    node: usize,
    connection: &mut Option<MultiplexedConnection>,
) -> redis::RedisResult<Seen> {
    let master = &masters.all()[node];
    if master.state() == State::Lost && masters.can_be_killed() {
        *connection = None;
        return Ok(Seen::Nothing);
    }
    let open = match connection {
        Some(open) => open,
        None => {
            let client = redis::Client::open(master.url.as_str())?;
            connection.insert(client.get_multiplexed_async_connection().await?)
        }
    };
    let mut ask = redis::pipe();
    let ask = ask.cmd("GET").arg(RESOURCE).cmd("PTTL").arg(RESOURCE);
    let (token, lives_for): (Option<String>, i64) = ask.query_async(open).await?;
    Ok(match (token, u64::try_from(lives_for)) {
        (Some(token), Ok(millis)) => Seen::Key { token, lives_for: Duration::from_millis(millis) },
        _ => Seen::Free,
    })
}
