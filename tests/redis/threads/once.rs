//! Work that is done once within a period, from threads.

use crate::support::prelude::*;
use quorumlock::{OnceError, Ran, Redlock, Wait};
use std::time::Duration;

#[test]
fn threads_have_the_same() {
    let masters = Masters::start(3);
    let connect = || masters.builder().own_thread(true).connect().wait().unwrap();
    let (client, other) = (connect(), connect());
    let run = |redlock: &Redlock, well: bool| {
        let once = redlock.once("job", LONG).ttl(SECOND);
        once.run(async |lease| if well { Ok(lease.is_valid()) } else { Err("planned") }).wait()
    };
    assert_eq!(run(&client, false), Err(OnceError::Failed("planned")));
    assert_eq!(run(&other, true), Ok(Ran::Done(true)));
    assert_eq!(run(&client, true), Ok(Ran::Skipped));
    assert_eq!(
        client
            .once("fenced", LONG)
            .fenced()
            .run(async |lease| { Ok::<_, ()>(lease.fencing_token().as_u64() > 0) })
            .wait(),
        Ok(Ran::Done(true))
    );
    let refused = client.once("job", Duration::ZERO).run(async |_| Ok::<(), ()>(())).wait();
    assert!(matches!(refused, Err(OnceError::NotAcquired(_))), "{refused:?}");
}
