//! Clients that end: what they have noted keeps no other client away for longer than their locks do.

use super::*;
use crate::failure::ConnectError;

const HOURS: Duration = Duration::from_secs(6 * 3_600);

/// A client with a greater `max_ttl` than others have.
async fn patient(masters: &Masters) -> Redlock {
    connect(masters.builder().max_ttl(HOURS)).await
}

async fn refuses_others(masters: &Masters) -> bool {
    match masters.builder().connect_on(Clock::tokio()).await {
        Ok(_) => false,
        Err(ConnectError::Disagreement(_)) => true,
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_shuts_down_leaves_nothing_that_keeps_others_out() {
    for acquires in [false, true] {
        let masters = five();
        let ours = patient(&masters).await;
        if acquires {
            ours.acquire(KEY).ttl(HOURS / 2).await.unwrap().release().await.unwrap();
        }
        assert!(refuses_others(&masters).await);
        ours.shutdown().await.unwrap();
        assert!(!refuses_others(&masters).await, "acquires: {acquires}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_of_several_clients_leaves_nothing_either() {
    let masters = five();
    let (first, second) = (patient(&masters).await, patient(&masters).await);
    for client in [&first, &second, &first] {
        client.acquire(KEY).await.unwrap().release().await.unwrap();
        sleep(20 * SECOND).await;
    }
    first.shutdown().await.unwrap();
    assert!(refuses_others(&masters).await, "the other is still there");
    second.shutdown().await.unwrap();
    assert!(!refuses_others(&masters).await);
}

/// Two clients have masters 1 to 3 and a third one has masters 3 to 5.
#[tokio::test(start_paused = true)]
async fn what_one_client_takes_back_is_not_what_another_relies_on() {
    let masters = five();
    let of = |places: std::ops::Range<usize>| {
        let nodes = masters[places].iter();
        nodes.fold(Redlock::builder(), |builder, master| {
            builder.node_with_connector(master.url(), master.dialer())
        })
    };
    let (first, second) = (connect(of(0..3)).await, connect(of(0..3)).await);
    first.acquire("another").await.unwrap().release().await.unwrap();
    let held = second.acquire(KEY).await.unwrap();
    first.shutdown().await.unwrap();
    let third = of(2..5).connect_on(Clock::tokio()).await;
    assert!(matches!(third, Err(ConnectError::Disagreement(_))), "{third:?} beside {held:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_stays_keeps_others_out_until_it_is_over() {
    for is_detached in [false, true] {
        let masters = five();
        let ours = patient(&masters).await;
        let held = ours.acquire(KEY).ttl(40 * SECOND).await.unwrap();
        let value = match is_detached {
            true => Some(held.detach().await.unwrap()),
            false => {
                held.forget();
                None
            }
        };
        ours.shutdown().await.unwrap();
        for _ in 0..4 {
            assert!(refuses_others(&masters).await, "{value:?}");
            sleep(10 * SECOND).await;
        }
        sleep(2 * SECOND).await;
        assert!(!refuses_others(&masters).await, "{value:?}");
    }
}

/// A process that is killed takes nothing back.
#[tokio::test(start_paused = true)]
async fn before_its_first_acquire_a_client_notes_for_the_longest_silence_alone() {
    let masters = five();
    let stands = || masters[0].time_to_live("quorumlock:agreement").unwrap();
    let ours = patient(&masters).await;
    sleep(20 * SECOND).await;
    assert!(stands() <= 15_152 * MS, "{:?}", stands());
    ours.acquire(KEY).await.unwrap().release().await.unwrap();
    assert!(stands() > HOURS, "{:?}", stands());
}
