//! The identity of this client at the masters, where it changes while it runs: tokens of a cloud, secrets that
//! are rotated.

use quorumlock_core::coordinator::wire::{self, Renewal};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The user and the password, or the token in its place, with which this client logs in to a master, as
/// returned by a [provider](crate::RedlockBuilder::credentials). When printed, it has no password.
///
/// ```
/// use quorumlock::Credentials;
/// use std::time::Duration;
///
/// let token = "eyJ0eXAi"; // from a cloud, say
/// let credentials = Credentials::new("app", token).expires_in(Duration::from_secs(900));
/// assert!(!format!("{credentials:?}").contains(token));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use = "a provider returns it"]
pub struct Credentials {
    username: Option<String>,
    password: String,
    life: Option<Duration>,
}

impl Credentials {
    /// Returns a user with its password.
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self { username: Some(username.into()), ..Self::password(password) }
    }

    /// Returns a password alone. The user is the one in the master's address, or `default`.
    pub fn password(password: impl Into<String>) -> Self {
        Self { username: None, password: password.into(), life: None }
    }

    /// Sets how long they are valid from now on: the provider is asked again when a fifth of that is left,
    /// and the master is shown the new ones on the existing connection. Default: they do not expire,
    /// and the provider is only asked for each connection.
    pub const fn expires_in(mut self, life: Duration) -> Self {
        self.life = Some(life);
        self
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("username", &self.username)
            .field("password", &"***")
            .field("expires_in", &self.life)
            .finish()
    }
}

#[cfg(test)]
mod tests;

/// How long a provider may take. Tokens come over networks, where an operation timeout is short.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a file is read while a connection lives. It is read as a whole: of a link that is exchanged,
/// neither the time of change nor a notification of the file system is reliable.
const LOOK: Duration = Duration::from_secs(2);

/// The longest file. A longer one is something else, and may have no end.
const LONGEST: u64 = 64 << 10;

/// Threads that one source may block at once. The system does not give up a thread that hangs.
pub(crate) const THREADS: usize = 4;

pub(crate) type Asking = Pin<Box<dyn Future<Output = Result<Credentials, String>> + Send>>;

/// Where credentials come from.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) provider: Arc<dyn Fn(Arc<str>) -> Asking + Send + Sync>,
    /// The file that it reads, if it does.
    pub(crate) file: Option<Arc<Path>>,
}

impl Source {
    pub(crate) fn file(path: PathBuf) -> Self {
        let (file, threads) = (Arc::<Path>::from(path), Arc::new(Semaphore::new(THREADS)));
        let path = file.clone();
        let provider = Arc::new(move |_: Arc<str>| -> Asking {
            let path = path.clone();
            on_a_thread(threads.clone(), move || read(&path))
        });
        Self { provider, file: Some(file) }
    }

    /// Asks for the credentials at the master of this name; its address may name a user.
    pub(crate) async fn ask(
        &self,
        node: &Arc<str>,
        user: Option<&str>,
    ) -> Result<wire::Credentials, Arc<str>> {
        let mut asked = JoinSet::new();
        asked.spawn((self.provider)(node.clone()));
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
            renewal: match given.life {
                _ if self.file.is_some() => Renewal::Every(LOOK),
                Some(life) => Renewal::Within(life),
                None => Renewal::Never,
            },
        })
    }
}

/// Runs code that blocks, on a thread of the runtime, unless as many hang already.
pub(crate) fn on_a_thread(
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

/// Reads a file of one line, the password, or of two: the user, then the password. Errors show nothing of them.
pub(crate) fn read(path: &Path) -> Result<Credentials, String> {
    let problem = |problem: &str| format!("{} {problem}", path.display());
    let text = content(path).map_err(|error| problem(&format!("cannot be read: {error}")))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let lines: Vec<_> =
        text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    match lines[..] {
        [""] => {
            Err(problem("is empty: write the password there, or the user and then the password"))
        }
        [password] => Ok(Credentials::password(password)),
        ["", _] | [_, ""] => Err(problem("has an empty line: write the user, then the password")),
        [user, password] => Ok(Credentials::new(user, password)),
        _ => Err(problem("has more than two lines: write the user, then the password")),
    }
}

fn content(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let length = File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > LONGEST {
        return Err(io::Error::other("it is longer than 64 KiB, which no password is"));
    }
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(bytes).map_err(no_text)
}
