//! The addresses of a name. The resolver of the operating system blocks a thread for as long as it takes, with a
//! name server that is silent for ten seconds and more. So it has a thread of its own, which nothing waits for: on
//! the runtime's pool of blocking threads, the end of the runtime would.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// The ports are not set.
type Answer = Result<Vec<SocketAddr>, (io::ErrorKind, String)>;

/// A process, whose threads do not survive a fork, and a name that it looks up.
type Name = (u32, Box<str>);

/// The dials that wait for each name being looked up. A name has one thread at a time.
type Asked = HashMap<Name, Vec<oneshot::Sender<Answer>>>;

static ASKED: LazyLock<Mutex<Asked>> = LazyLock::new(Mutex::default);

/// Returns the addresses of a name. Dropping the future leaves the thread to itself.
pub(super) async fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    look_up_by(host, port, |host| Ok((host, 0).to_socket_addrs()?.collect())).await
}

async fn look_up_by(
    host: &str,
    port: u16,
    resolve: impl FnOnce(&str) -> io::Result<Vec<SocketAddr>> + Send + 'static,
) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let (reply, answer) = oneshot::channel();
    let name: Name = (std::process::id(), host.into());
    if begin(&name, reply) {
        let looked_up = name.clone();
        let work = move || {
            let found = resolve(&looked_up.1);
            end(&looked_up, &found.map_err(|error| (error.kind(), error.to_string())));
        };
        let spawned = thread::Builder::new().name("quorumlock-name".into()).spawn(work);
        if let Err(error) = spawned {
            end(&name, &Err((error.kind(), format!("no thread to look the name up: {error}"))));
        }
    }
    let found = answer.await.map_err(|_| io::Error::other("the look-up of the name has ended"))?;
    let mut found = found.map_err(|(kind, problem)| io::Error::new(kind, problem))?;
    found.iter_mut().for_each(|address| address.set_port(port));
    Ok(found)
}

fn asked() -> MutexGuard<'static, Asked> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a dial that waits for a name. Returns `true` if the name has no thread yet.
fn begin(name: &Name, reply: oneshot::Sender<Answer>) -> bool {
    let mut asked = asked();
    let has_thread = asked.contains_key(name);
    let waiting = asked.entry(name.clone()).or_default();
    // A dial gives up long before a silent name server does.
    waiting.retain(|reply| !reply.is_closed());
    waiting.push(reply);
    !has_thread
}

fn end(name: &Name, found: &Answer) {
    for reply in asked().remove(name).into_iter().flatten() {
        let _ = reply.send(found.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn an_address_needs_no_look_up() {
        for (host, address) in [("127.0.0.1", "127.0.0.1:7"), ("::1", "[::1]:7")] {
            let found = look_up_by(host, 7, |_| unreachable!("it is no name")).await.unwrap();
            assert_eq!(found, [address.parse().unwrap()]);
        }
    }

    #[tokio::test]
    async fn a_name_has_one_thread_however_many_dials_give_up_on_it() {
        let (name, threads) = ("silent.test", Arc::new(AtomicUsize::new(0)));
        let (answer, answered) = channel();
        let answered = Arc::new(Mutex::new(answered));
        let dial = || {
            let (threads, answered) = (threads.clone(), answered.clone());
            look_up_by(name, 7, move |_| {
                threads.fetch_add(1, Ordering::SeqCst);
                answered.lock().unwrap().recv().map_err(io::Error::other)?
            })
        };
        for _ in 0..20 {
            assert!(timeout(SOON, dial()).await.is_err());
        }
        assert_eq!(threads.load(Ordering::SeqCst), 1);
        let (mut first, mut second) = (Box::pin(dial()), Box::pin(dial()));
        assert!(
            futures::poll!(&mut first).is_pending() && futures::poll!(&mut second).is_pending()
        );
        answer.send(Ok(vec!["10.0.0.1:0".parse().unwrap()])).unwrap();
        let expected: SocketAddr = "10.0.0.1:7".parse().unwrap();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (vec![expected], vec![expected]));
        assert_eq!(threads.load(Ordering::SeqCst), 1);
        let refused = || Err(io::Error::new(io::ErrorKind::NotFound, "no such name"));
        let error = look_up_by(name, 7, move |_| refused()).await.unwrap_err();
        assert_eq!((error.kind(), &*error.to_string()), (io::ErrorKind::NotFound, "no such name"));
    }

    #[test]
    fn a_runtime_ends_while_a_name_is_looked_up() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (done, is_done) = channel::<()>();
        let (ended, has_ended) = channel();
        let dial = look_up_by("hangs.test", 7, move |_| {
            // As long as the runtime is there.
            let _ = is_done.recv();
            let _ = ended.send(());
            Ok(Vec::new())
        });
        assert!(runtime.block_on(async { timeout(SOON, dial).await }).is_err());
        drop(runtime);
        assert!(has_ended.try_recv().is_err(), "the name server is silent still");
        drop(done);
        has_ended.recv().unwrap();
    }
}
