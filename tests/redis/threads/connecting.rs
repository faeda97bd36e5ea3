//! Connecting, and checking beforehand whether it would work.

use super::*;
use quorumlock::ConnectError;

#[test]
fn a_configuration_mistake_is_reported_without_any_master() {
    let none = Redlock::builder().own_thread(true).connect().wait().unwrap_err();
    assert!(none.to_string().starts_with("nodes: "), "{none}");
    let zero =
        Redlock::builder().own_thread(true).nodes(["redis://127.0.0.1:1"]).ttl(Duration::ZERO);
    assert!(matches!(zero.connect().wait(), Err(ConnectError::InvalidSetting(_))));
}

#[test]
fn a_server_under_two_names_is_refused_here_too() {
    let masters = Masters::start(1);
    let port = masters[0].port();
    let twice = [format!("redis://127.0.0.1:{port}"), format!("redis://localhost:{port}")];
    let builder = builder().own_thread(true);
    let refused = builder.nodes(twice).connect().wait();
    assert!(matches!(refused, Err(ConnectError::Unfit(_))), "{refused:?}");
}

#[test]
fn an_unusable_master_costs_its_vote_and_fails_a_strict_connect() {
    let masters = Masters::start_with(3, &["--databases", "4"]);
    let mut urls = masters.urls();
    urls[2].push_str("/9");
    let builder = || {
        let slow = Duration::from_secs(3);
        let builder = builder().own_thread(true);
        builder.nodes(urls.clone()).operation_timeout(slow).connect_timeout(slow)
    };
    let refused = builder().strict(true).connect().wait();
    assert!(matches!(refused, Err(ConnectError::Unfit(_))), "{refused:?}");
    let redlock = builder().connect().wait().unwrap();
    redlock.wait_until_ready(Duration::ZERO).wait().unwrap();
    let status = redlock.status().wait().unwrap();
    assert!(status.to_string().contains("rejected (ERR DB index is out of range"), "{status}");
    redlock.acquire("r").wait().unwrap().release().wait().unwrap();
    masters.kill(0);
    let error = loop {
        match redlock.wait_until_ready(Duration::from_millis(10)).wait() {
            Ok(()) => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("1 of 3 masters may vote, 2 needed: "), "{error}");
    redlock.shutdown().wait().unwrap();
    assert!(redlock.status().wait().is_err());
}

#[test]
fn masters_that_are_down_are_no_error_of_connecting() {
    let (masters, redlock) = three();
    masters.kill(0);
    drop(redlock);
    let redlock = connect(&masters);
    redlock.acquire("r").wait().unwrap().release().wait().unwrap();
}

#[test]
fn a_preflight_is_had_before_there_is_a_connection_and_after() {
    let (masters, redlock) = three();
    let before = patient(&masters).preflight().wait().unwrap();
    let after = redlock.preflight().wait().unwrap();
    for preflight in [before, after] {
        assert_eq!(preflight.into_iter().count(), 3);
    }
    redlock.shutdown().wait().unwrap();
    assert!(redlock.preflight().wait().is_ok(), "it has connections of its own");
    assert!(Redlock::builder().own_thread(true).preflight().wait().is_err());
}
