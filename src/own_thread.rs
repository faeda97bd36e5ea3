//! A thread with a tokio runtime, for a client whose program has none.

use crate::failure::WrongContext;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

/// The time for which a thread that has read a file stays for the next one.
const FILES_IDLE: Duration = Duration::from_millis(100);

/// Begins a task on the runtime that this is called on, or on a thread of its own, which ends with the task.
pub(crate) fn begin<T, E>(
    own_thread: bool,
    begin: impl FnOnce() -> Result<(T, JoinHandle<()>), E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<WrongContext> + Send + 'static,
{
    if !own_thread {
        return begin().map(|(begun, _goes_on)| begun);
    }
    let no_thread = |error: io::Error| WrongContext::NoThread { problem: error.to_string() };
    let (sender, receiver) = mpsc::channel();
    // The thread makes the runtime: it must not be dropped in async code.
    let run = move || {
        let mut builder = Builder::new_current_thread();
        builder.enable_all().thread_name("quorumlock-file").thread_keep_alive(FILES_IDLE);
        let runtime = match builder.build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(sender.send(Err(no_thread(error).into()))),
        };
        runtime.block_on(async {
            match begin() {
                Ok((begun, task)) => {
                    drop(sender.send(Ok(begun)));
                    // A panic of the task has been reported on stderr.
                    let _ = task.await;
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        });
        // A file that is still being read is not worth waiting for.
        runtime.shutdown_background();
    };
    thread::Builder::new().name("quorumlock".into()).spawn(run).map_err(no_thread)?;
    receiver.recv().unwrap_or_else(|_| Err(no_thread(io::Error::other("it has panicked")).into()))
}
