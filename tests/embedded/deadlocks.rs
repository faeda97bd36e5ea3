//! What an acquire that has waited in vain reports of its own client: what that held all the while, as a
//! fact. Only masters can show that clients wait for each other.

use quorumlock::embedded::Masters;
use quorumlock::error::Contended;
use quorumlock::report::Obstacle;
use quorumlock::{AcquireError, Redlock};
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

async fn clients() -> (Masters, Redlock, Redlock) {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let client = async |label: &str| masters.builder().label(label).connect().await.unwrap();
    let (client, other) = (client("web-1").await, client("web-2").await);
    (masters, client, other)
}

fn contended<G: Debug>(result: Result<G, AcquireError>) -> Contended {
    match result {
        Err(AcquireError::Contended(contended)) => contended,
        other => panic!("{other:?}"),
    }
}

fn named(contended: &Contended) -> Vec<&str> {
    contended.held_meanwhile().iter().map(|resource| &**resource).collect()
}

#[tokio::test(start_paused = true)]
async fn each_of_two_that_wait_for_each_other_names_what_it_holds() {
    let (_masters, client, other) = clients().await;
    let _x = client.acquire("x").keep_alive().await.unwrap();
    let _y = other.acquire("y").keep_alive().await.unwrap();
    let (first, second) = tokio::join!(
        client.acquire("y").fenced().timeout(SECOND),
        other.acquire("x").fair(true).timeout(SECOND),
    );
    let (first, second) = (contended(first), contended(second));
    assert_eq!((named(&first), named(&second)), (vec!["x"], vec!["y"]));
    let text = "\"y\" is held by web-2, this client held \"x\" meanwhile: ";
    assert!(first.to_string().starts_with(text), "{first}");
    // Nothing is broken by force.
    assert!(_x.check().is_ok() && _y.check().is_ok());
}

#[tokio::test(start_paused = true)]
async fn two_tasks_of_one_client_that_wait_for_each_other_name_what_they_hold() {
    let (_masters, client, _other) = clients().await;
    let _x = client.acquire("x").keep_alive().await.unwrap();
    let _y = client.acquire("y").keep_alive().await.unwrap();
    let (first, second) =
        tokio::join!(client.acquire("y").timeout(SECOND), client.acquire("x").timeout(SECOND));
    let (first, second) = (contended(first), contended(second));
    assert_eq!((named(&first), named(&second)), (vec!["x"], vec!["y"]));
    let text =
        "\"y\" is held by this client, this client held \"x\" meanwhile (after 1 s): to nest, ";
    assert!(first.to_string().starts_with(text), "{first}");
}

#[tokio::test(start_paused = true)]
async fn readers_writers_and_several_resources_name_them_too() {
    let (_masters, client, other) = clients().await;
    let _x = client.acquire_all(["x", "z"]).keep_alive().await.unwrap();
    let _y = other.acquire("y").keep_alive().await.unwrap();
    for refused in [
        contended(client.rw_lock("y").read().timeout(SECOND).await),
        contended(client.rw_lock("y").write().timeout(SECOND).await),
        contended(client.acquire_all(["w", "y"]).timeout(SECOND).await),
    ] {
        assert_eq!(named(&refused), ["x, z"], "{refused}");
        assert!(refused.to_string().contains(", this client held \"x, z\" meanwhile"), "{refused}");
        assert!(!refused.to_string().contains("deadlock"), "{refused}");
    }
}

/// Whichever permit is given back will do, and callers of one client pass a lock on among themselves.
#[tokio::test(start_paused = true)]
async fn for_a_permit_and_behind_callers_of_one_client_nothing_is_named() {
    let (_masters, client, other) = clients().await;
    let _x = client.acquire("x").keep_alive().await.unwrap();
    let _s = other.semaphore("s", 1).acquire().keep_alive().await.unwrap();
    let _y = other.acquire("y").keep_alive().await.unwrap();
    let permits = client.semaphore("s", 1);
    let (first, second, third, fourth) = tokio::join!(
        permits.acquire().timeout(2 * SECOND),
        permits.acquire().timeout(SECOND),
        client.acquire("y").timeout(2 * SECOND),
        client.acquire("y").timeout(SECOND),
    );
    let behind = contended(fourth);
    assert_eq!(behind.obstacle, Obstacle::LocalQueue);
    assert_eq!(named(&contended(third)), ["x"], "the first in line");
    for refused in [contended(first), contended(second), behind] {
        assert_eq!(named(&refused), [""; 0], "{refused}");
        assert!(!refused.to_string().contains("meanwhile"), "{refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_held_all_the_while_is_not_named() {
    let (_masters, client, other) = clients().await;
    let _y = other.acquire("y").keep_alive().await.unwrap();
    let wait = async || contended(client.acquire("y").timeout(SECOND).await);

    assert_eq!(named(&wait().await), [""; 0], "it holds nothing");
    let x = client.acquire("x").keep_alive().await.unwrap();
    let refused = contended(client.try_acquire("y").await);
    assert_eq!(named(&refused), [""; 0], "one that does not wait keeps no other waiting");
    assert!(!refused.to_string().contains("deadlock"), "{refused}");
    let release = async {
        sleep(SECOND / 2).await;
        x.release().await.unwrap();
        client.acquire("later").keep_alive().await.unwrap()
    };
    let (refused, _later) = tokio::join!(wait(), release);
    assert_eq!(named(&refused), [""; 0], "given up, or won, while it waited");

    // Time opens it, and no other client.
    other.acquire("done").min_hold(5 * SECOND).await.unwrap().release().await.unwrap();
    assert_eq!(named(&contended(client.acquire("done").timeout(SECOND).await)), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_holds_many_locks_names_none_of_them() {
    let (_masters, client, other) = clients().await;
    let _y = other.acquire("y").keep_alive().await.unwrap();
    let mut held = Vec::new();
    for (number, expected) in [(7, 7), (8, 8), (9, 0)] {
        while held.len() < number {
            let name = format!("order:{}", held.len());
            held.push(client.acquire(name).keep_alive().await.unwrap());
        }
        let refused = contended(client.acquire("y").timeout(SECOND).await);
        assert_eq!(named(&refused).len(), expected, "{refused}");
    }
}
