//! A tokio runtime that lacks a driver: calls that need it say so, and no task panics.

use quorumlock::{ConnectError, PreflightError, Redlock, RedlockBuilder, WrongContext};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// An address at which no server listens, so that only the runtime decides.
fn builder() -> RedlockBuilder {
    let soon = Duration::from_millis(50);
    Redlock::builder().node("redis://127.0.0.1:1").connect_timeout(soon)
}

/// Runtimes of both flavors, with whatever `enable` gives them.
fn runtimes(enable: fn(&mut Builder) -> &mut Builder) -> [Runtime; 2] {
    let flavors = [Builder::new_current_thread(), Builder::new_multi_thread()];
    flavors.map(|mut builder| enable(builder.worker_threads(1)).build().unwrap())
}

fn assert_lacks(enable: fn(&mut Builder) -> &mut Builder, missing: &str) {
    for runtime in runtimes(enable) {
        let refused = runtime.block_on(builder().connect()).unwrap_err();
        let text = refused.to_string();
        let ConnectError::WrongContext(WrongContext::NoDriver { driver, .. }) = refused else {
            panic!("{text}")
        };
        assert_eq!(driver, missing);
        let expected = format!(
            "the tokio runtime has no {missing} driver, which connect() needs: build it with \
             tokio::runtime::Builder::enable_all()"
        );
        assert_eq!(text, expected);
        // Also where a task makes the call, which it does not end.
        let refused = runtime.block_on(runtime.spawn(builder().connect())).unwrap();
        assert!(matches!(refused, Err(ConnectError::WrongContext(_))), "{refused:?}");
        let refused = runtime.block_on(builder().preflight()).unwrap_err();
        let no_driver = matches!(
            refused,
            PreflightError::WrongContext(WrongContext::NoDriver { call: "preflight()", .. })
        );
        assert!(no_driver, "{refused}");
    }
}

#[test]
fn a_runtime_without_io_is_refused_by_an_error() {
    assert_lacks(Builder::enable_time, "I/O");
}

#[test]
fn a_runtime_without_time_is_refused_by_an_error() {
    assert_lacks(Builder::enable_io, "time");
    assert_lacks(|none| none, "time");
}

#[test]
fn a_runtime_with_both_drivers_is_not_refused() {
    for runtime in runtimes(Builder::enable_all) {
        runtime.block_on(async {
            // No master is up, which is no error of connecting.
            builder().connect().await.unwrap().shutdown().await.unwrap();
        });
    }
}

/// Their streams are no sockets.
#[cfg(feature = "embedded")]
#[test]
fn masters_in_memory_need_no_io() {
    use quorumlock::embedded::Masters;
    for runtime in runtimes(Builder::enable_time) {
        runtime.block_on(async {
            let masters = Masters::start_in_memory(3).unwrap();
            let redlock = masters.builder().connect().await.unwrap();
            redlock.acquire("r").await.unwrap().release().await.unwrap();
            assert!(masters.builder().preflight().await.unwrap().is_ok());
        });
    }
}

/// It has a runtime of its own.
#[test]
fn a_client_with_a_thread_works_in_a_runtime_that_lacks_all() {
    use quorumlock::Wait;
    let connect = || {
        let redlock = builder().own_thread(true).connect().wait().unwrap();
        redlock.shutdown().wait().unwrap();
        builder().own_thread(true).preflight().wait().unwrap();
    };
    for runtime in runtimes(|none| none) {
        let entered = runtime.enter();
        connect();
        drop(entered);
        runtime.block_on(async { tokio::task::spawn_blocking(connect).await.unwrap() });
    }
}

/// Async code awaits it on whatever executor there is, and drops no runtime.
#[cfg(feature = "embedded")]
#[test]
fn a_client_with_a_thread_is_awaited_without_a_runtime_and_within_one() {
    use quorumlock::{InspectError, embedded::Masters};
    let alongside = Runtime::new().unwrap();
    let masters = alongside.block_on(async { Masters::start(3).unwrap() });
    let work = async || {
        let redlock = masters.builder().own_thread(true).connect().await.unwrap();
        redlock.acquire("r").await.unwrap().release().await.unwrap();
        assert!(redlock.list("").next().await.is_none());
        let mut leaders = redlock.election("e").observe();
        assert_eq!(leaders.next().await, Some(Ok(None)));
        redlock.shutdown().await.unwrap();
        assert!(matches!(leaders.next().await, Some(Err(InspectError::Closed(_)))));
        redlock.preflight().await.unwrap();
        assert!(redlock.list("").next().await.is_none(), "on a thread of its own");
        assert!(Redlock::builder().own_thread(true).connect().await.is_err());
    };
    futures::executor::block_on(work());
    for runtime in runtimes(|none| none) {
        runtime.block_on(work());
    }
}
