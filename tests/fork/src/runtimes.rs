//! A fork that goes on with its parent's runtime, and so with the task of a client.

use crate::REMEDY;
use crate::child::in_a_fork;
use crate::masters::Masters;
use crate::refused;
use futures::FutureExt;
use quorumlock::embedded::Memory;
use quorumlock::{Redlock, Released, RestartGuard};
use std::cell::RefCell;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::sleep;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Lets the tasks of the runtime have their turns.
async fn turns() {
    for _ in 0..20 {
        yield_now().await;
    }
}

#[test]
fn the_task_of_a_client_ends_in_a_fork_and_neither_sends_nor_closes_anything() {
    let (masters, runtime) = (Masters::start(3), RefCell::new(Some(runtime())));
    let run = || runtime.borrow();
    let redlock = run().as_ref().unwrap().block_on(masters.builder().connect()).unwrap();
    let held = redlock.acquire("held").keep_alive().into_future();
    let held = run().as_ref().unwrap().block_on(held).unwrap();
    let lease = held.lease();
    let (mut lost, mut begun) = (Box::pin(lease.lost()), redlock.acquire("begun").into_future());
    // The task has yet to hear of it.
    let begins =
        async { (&mut begun).now_or_never().is_none() && (&mut lost).now_or_never().is_none() };
    assert!(run().as_ref().unwrap().block_on(begins));
    let sent = [masters.calls("hello"), masters.calls("set")];
    let heard = in_a_fork(|say| {
        let ended = async {
            turns().await;
            ((&mut begun).now_or_never(), (&mut lost).now_or_never())
        };
        let (begun, lost) = run().as_ref().unwrap().block_on(ended);
        say(&begun.map_or_else(|| "it waits".into(), refused));
        say(&format!("{:?}", lost.unwrap().reason));
        drop(runtime.take());
    });
    assert!(heard[0].contains(REMEDY) && heard[1] == "Closed", "{heard:?}");
    assert_eq!([masters.calls("hello"), masters.calls("set")], sent);
    run().as_ref().unwrap().block_on(async {
        assert!(begun.await.is_ok() && held.extend().await.is_ok());
        assert_eq!(held.release().await, Ok(Released::Confirmed));
    });
    assert_eq!([masters.calls("hello"), masters.calls("set")], [sent[0], sent[1] + 3]);
}

#[test]
fn a_fork_does_not_go_on_with_a_dial_of_its_parent() {
    let (masters, runtime) = (Masters::start(1), runtime());
    let dials = Arc::new([const { AtomicUsize::new(0) }; 2]);
    let (counted, port) = (dials.clone(), masters.urls().remove(0));
    let dial = move || {
        let (counted, port) = (counted.clone(), port.clone());
        async move {
            counted[0].fetch_add(1, Ordering::SeqCst);
            sleep(Duration::from_millis(50)).await;
            counted[1].fetch_add(1, Ordering::SeqCst);
            TcpStream::connect(port.trim_start_matches("redis://")).await
        }
    };
    let builder = Redlock::builder().node_with_connector("redis://behind", dial);
    let redlock = runtime.block_on(builder.restart_guard(RestartGuard::Off).connect()).unwrap();
    masters[0].restart(Memory::Kept).unwrap();
    let count = |place: usize| dials[place].load(Ordering::SeqCst);
    runtime.block_on(async {
        while count(0) == 1 {
            sleep(Duration::from_millis(1)).await;
        }
    });
    assert_eq!((count(0), count(1)), (2, 1), "it is under way");
    let heard = in_a_fork(|say| {
        runtime.block_on(async { sleep(Duration::from_millis(200)).await });
        say(&count(1).to_string());
    });
    assert_eq!(heard, ["1"]);
    runtime.block_on(redlock.wait_until_ready(Duration::from_secs(60))).unwrap();
}
