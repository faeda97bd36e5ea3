//! A lock that another client could have between its detachment and its adoption.

use super::*;
use crate::embedded::Memory;
use tokio::sync::watch;
use tokio::time::timeout;

/// A dialer of one master.
type Dial =
    Box<dyn Fn() -> std::future::Ready<std::io::Result<tokio::io::DuplexStream>> + Send + Sync>;

/// Dials `master`, which gets what is written while `open` is true; the rest waits for that.
fn gated(master: &Master, open: watch::Receiver<bool>) -> Dial {
    let dial: Dial = Box::new(master.dialer());
    Box::new(move || {
        let stream = dial().into_inner();
        std::future::ready(stream.map(|theirs| {
            let (near, far) = tokio::io::duplex(1 << 16);
            let (mut from_client, mut to_client) = tokio::io::split(far);
            let (mut from_master, mut to_master) = tokio::io::split(theirs);
            let mut open = open.clone();
            tokio::spawn(async move {
                let mut room = [0; 4096];
                while let Ok(len @ 1..) = from_client.read(&mut room).await {
                    let is_open = open.wait_for(|open| *open).await.is_ok();
                    if !is_open || to_master.write_all(&room[..len]).await.is_err() {
                        break;
                    }
                }
            });
            tokio::spawn(async move { tokio::io::copy(&mut from_master, &mut to_client).await });
            near
        }))
    })
}

type Gates = [watch::Sender<bool>; 3];

fn gates() -> Gates {
    [true; 3].map(|open| watch::channel(open).0)
}

fn behind(masters: &Masters, gates: &Gates) -> RedlockBuilder {
    let all = masters.iter().zip(gates);
    all.fold(Redlock::builder(), |builder, (master, gate)| {
        builder.node_with_connector(master.url(), gated(master, gate.subscribe()))
    })
}

/// The third master grants the lock to `u`, and forgets it. `t` wins and detaches it while that master
/// warms up and has its token as well, and `p`, which does not reach the first, asks again and again. In
/// the meantime `u`'s SET reaches the first master, and `u` has its quorum.
#[tokio::test(start_paused = true)]
async fn what_another_client_has_held_since_it_was_detached_is_never_adopted() {
    let masters = on_the_same_time(Masters::start_in_memory(3).unwrap());
    let (u_gates, p_gates) = (gates(), gates());
    let u = connect(behind(&masters, &u_gates).operation_timeout(2 * SECOND)).await;
    // The first acquire of a client takes a round trip more.
    u.acquire("another").await.unwrap().release().await.unwrap();
    u_gates[..2].iter().for_each(|gate| _ = gate.send_replace(false));
    let waiting =
        tokio::spawn(
            async move { u.try_acquire(KEY).ttl(30 * SECOND).await.map(|guard| (u, guard)) },
        );
    sleep(5 * MS).await;
    assert_eq!(holders(&masters), [2]);
    masters[2].kill();
    masters[2].restart(Memory::Lost).unwrap();

    let t = connect(masters.builder()).await;
    let p = connect(behind(&masters, &p_gates)).await;
    let guard = t.acquire(KEY).ttl(SECOND).await.unwrap();
    settle().await;
    assert_eq!(holders(&masters), [0, 1, 2]);
    let mut detached = guard.detach().await.unwrap();
    u_gates[1].send_replace(true);

    p_gates[0].send_replace(false);
    let began = now();
    let (held, holds) = tokio::sync::oneshot::channel();
    let other = tokio::spawn(async move {
        sleep(1300 * MS).await;
        u_gates[0].send_replace(true);
        let (u, guard) = waiting.await.unwrap().unwrap();
        guard.check().unwrap();
        held.send(()).unwrap();
        sleep(10 * SECOND).await;
        drop(guard);
        sleep(60 * SECOND).await;
        drop(u);
    });
    // Longer than the third master warms up.
    while now().since(began) < 60 * SECOND {
        match p.adopt(detached).await {
            Ok(_) => panic!("adopted after {:?}, and the other has held it", now().since(began)),
            Err(refused) => detached = refused.detached,
        }
        sleep(100 * MS).await;
    }
    timeout(MS, holds).await.expect("the other client has held it").unwrap();
    other.abort();
}
