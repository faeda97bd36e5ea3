//! Where credentials come from. A provider is code of others: it may fail, hang or panic, and none of that
//! goes any further than the answer.

use super::{Credentials, file};
use quorumlock_core::coordinator::wire::{self, Renewal};
use std::error::Error;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a provider may take. Tokens come over networks, where an operation timeout is short.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a file is read while a connection lives. It is read as a whole: of a link that is exchanged,
/// neither the time of change nor a notification of the file system is reliable.
const LOOK: Duration = Duration::from_secs(2);

/// Threads that one source may block at once. The system does not give up a thread that hangs.
const THREADS: usize = 4;

type Asking = Pin<Box<dyn Future<Output = Result<Credentials, String>> + Send>>;

/// Where credentials come from.
#[derive(Clone)]
pub(crate) enum Source {
    Provider(Arc<dyn Fn(Arc<str>) -> Asking + Send + Sync>),
    File(Arc<Path>, Arc<Semaphore>),
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

    pub(crate) fn blocking<P, E>(provider: P) -> Self
    where
        P: Fn(Arc<str>) -> Result<Credentials, E> + Send + Sync + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        let (provider, threads) = (Arc::new(provider), Arc::new(Semaphore::new(THREADS)));
        Self::provider(move |master| {
            let provider = provider.clone();
            let work = move || provider(master).map_err(|error| error.into().to_string());
            on_a_thread(threads.clone(), work)
        })
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

    /// Asks for the credentials at the master of this name; its address may name a user.
    pub(crate) async fn ask(
        &self,
        node: &Arc<str>,
        user: Option<&str>,
    ) -> Result<wire::Credentials, Arc<str>> {
        let asking = match self {
            Self::Provider(provider) => provider(node.clone()),
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
            username: given.username.or_else(|| user.map(str::to_owned)),
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
fn on_a_thread(
    threads: Arc<Semaphore>,
    work: impl FnOnce() -> Result<Credentials, String> + Send + 'static,
) -> Asking {
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
