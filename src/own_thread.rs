//! A thread with a tokio runtime, for a client whose program has none.

use crate::failure::WrongContext;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The time for which a thread that has read a file stays for the next one.
const FILES_IDLE: Duration = Duration::from_millis(100);

/// Begins a task on the runtime that this is called on, or on a thread of its own, which ends with the task.
pub(crate) fn begin<T, E: From<WrongContext>>(
    own_thread: bool,
    begin: impl FnOnce() -> Result<(T, JoinHandle<()>), E>,
) -> Result<T, E> {
    if !own_thread {
        return begin().map(|(begun, _goes_on)| begun);
    }
    // Before there is a runtime, which must not be dropped in async code.
    let (hand, handed) = mpsc::channel();
    spawn(handed).map_err(no_thread)?;
    let runtime = runtime().map_err(no_thread)?;
    let entered = runtime.enter();
    let begun = begin();
    drop(entered);
    match begun {
        Ok((begun, task)) => {
            let _ = hand.send((runtime, task)); // the thread waits for it
            Ok(begun)
        }
        Err(error) => {
            runtime.shutdown_background();
            Err(error)
        }
    }
}

/// Starts the thread, which runs the task that it is handed.
fn spawn(handed: mpsc::Receiver<(Runtime, JoinHandle<()>)>) -> io::Result<()> {
    let run = move || {
        let Ok((runtime, task)) = handed.recv() else { return };
        // A panic of the task has been reported on stderr.
        let _ = runtime.block_on(task);
        // A file that is still being read is not worth waiting for.
        runtime.shutdown_background();
    };
    thread::Builder::new().name("quorumlock".into()).spawn(run).map(drop)
}

fn runtime() -> io::Result<Runtime> {
    let mut builder = Builder::new_current_thread();
    // The threads that read files of credentials and certificates.
    builder.enable_all().thread_name("quorumlock-file").thread_keep_alive(FILES_IDLE).build()
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` passes it")]
fn no_thread(error: io::Error) -> WrongContext {
    WrongContext::NoThread { problem: error.to_string() }
}
