//! Where credentials come from. A provider is code of others: it may fail, hang or panic, and none of that
//! goes any further than the answer.

use super::{Credentials, file};
use crate::address::Address;
use crate::transport::BoxStream;
use quorumlock_core::coordinator::wire::{self, Renewal};
use std::error::Error;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// How long a provider may take. Tokens come over networks, where an operation timeout is short.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a file is read while a connection lives. It is read as a whole: of a link that is exchanged,
/// neither the time of change nor a notification of the file system is reliable.
const LOOK: Duration = Duration::from_secs(2);

/// Threads that one source may block at once. One that hangs is not given up by the system.
const THREADS: usize = 4;

type Asking = Pin<Box<dyn Future<Output = Result<Credentials, String>> + Send>>;

/// Where credentials come from.
#[derive(Clone)]
pub(crate) enum Source {
    Provider(Arc<dyn Fn(Arc<str>) -> Asking + Send + Sync>),
    File(Arc<Path>, Arc<Semaphore>),
}

/// What a dial, or a renewal, has brought.
pub(crate) struct Brought {
    /// `None` if the address has all.
    pub(crate) credentials: Option<Result<wire::Credentials, Arc<str>>>,
    /// `None` if a connection is there.
    pub(crate) stream: Option<io::Result<BoxStream>>,
}

impl Source {
    pub(crate) fn provider<P, F, E>(provider: P) -> Self
    where
        P: Fn(Arc<str>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Credentials, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let provider = Arc::new(provider);
        Self::Provider(Arc::new(move |node| {
            let provider = provider.clone();
            // The call itself may panic, too.
            Box::pin(async move {
                let asked = provider(node).await;
                asked.map_err(|error| format!("their provider failed: {}", error.into()))
            })
        }))
    }

    pub(crate) fn file(path: PathBuf) -> Self {
        Self::File(path.into(), Arc::new(Semaphore::new(THREADS)))
    }

    /// Checks what can be known before a connection is made.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Provider(_) => Ok(()),
            Self::File(path, _) => file::read(path).map(drop),
        }
    }

    /// Asks for the credentials at this master.
    async fn ask(&self, address: &Address) -> Result<wire::Credentials, Arc<str>> {
        let asking = match self {
            Self::Provider(provider) => {
                let (provider, node) = (provider.clone(), address.name.clone());
                Box::pin(async move { provider(node).await })
            }
            Self::File(path, threads) => {
                let path = path.clone();
                on_a_thread(threads.clone(), move || file::read(&path))
            }
        };
        let mut asked = JoinSet::new();
        asked.spawn(asking);
        let given = match timeout(PATIENCE, asked.join_next()).await {
            Ok(Some(Ok(given))) => given,
            Ok(_) => Err("their provider panicked".to_owned()),
            Err(_elapsed) => {
                let patience = humantime::format_duration(PATIENCE);
                Err(format!("their provider has not answered within {patience}"))
            }
        };
        let given = given.map_err(Arc::<str>::from)?;
        Ok(wire::Credentials {
            username: given.username.or_else(|| address.login.username.clone()),
            password: given.password,
            renewal: match (self, given.life) {
                (Self::File(..), _) => Renewal::Every(LOOK),
                (_, Some(life)) => Renewal::Within(life),
                (_, None) => Renewal::Never,
            },
        })
    }
}

/// Runs code that blocks, on a thread of the runtime, unless as many hang already.
pub(crate) fn on_a_thread<T: Send + 'static>(
    threads: Arc<Semaphore>,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Pin<Box<dyn Future<Output = Result<T, String>> + Send>> {
    Box::pin(async move {
        let place = threads.acquire_owned().await.map_err(|closed| closed.to_string())?;
        let work = move || {
            let result = work();
            drop(place);
            result
        };
        let ended = tokio::task::spawn_blocking(work).await;
        ended.unwrap_or_else(|_panicked| Err("their provider panicked".to_owned()))
    })
}

/// Returns a limit of the threads that a source may block.
#[cfg(feature = "blocking")]
pub(crate) fn threads() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(THREADS))
}

impl Address {
    /// Asks who this client is there by now; `None` if the address says so.
    pub(crate) async fn credentials(&self) -> Option<Result<wire::Credentials, Arc<str>>> {
        match &self.credentials {
            Some(source) => Some(source.ask(self).await),
            None => None,
        }
    }

    /// Asks for credentials, and then dials: what is valid for minutes is not kept for a slow network.
    pub(crate) async fn dial(&self, within: Duration) -> Brought {
        let mut credentials = self.credentials().await;
        if let Some(Err(cause)) = &credentials {
            let failed = Err(io::Error::other(format!("no credentials: {cause}")));
            return Brought { credentials, stream: Some(failed) };
        }
        let given_at = Instant::now();
        let stream = Some(self.transport.dial(within).await);
        if let Some(Ok(wire::Credentials { renewal: Renewal::Within(life), .. })) = &mut credentials
        {
            *life = life.saturating_sub(given_at.elapsed());
        }
        Brought { credentials, stream }
    }

    /// Asks for credentials for a connection that is there.
    pub(crate) async fn renew(&self) -> Brought {
        Brought { credentials: self.credentials().await, stream: None }
    }
}
