//! What every store has to do, whatever it is.

use crate::support::{Store, token};
use quorumlock_fencing::{FenceError, StaleToken};
use std::sync::Arc;

/// Plays on an empty store, with tokens below 100. In the end its content is "nine again", and 9 its
/// token: `still_fenced` asks for that after a restart.
pub(crate) async fn play<S: Store>(store: &S) {
    for (number, text) in [(5, "five"), (5, "five again"), (9, "nine")] {
        store.write(Some(token(number)), text).await.unwrap();
        assert_eq!(store.read(Some(token(number))).await.unwrap(), text);
    }
    for number in [5, 8, 1] {
        refused(store.write(Some(token(number)), "stale").await, number, 9);
        refused(store.read(Some(token(number))).await, number, 9);
    }
    assert_eq!(store.read(Some(token(9))).await.unwrap(), "nine", "a stale write left no trace");

    // A read raises, before it returns what is there.
    assert_eq!(store.read(Some(token(20))).await.unwrap(), "nine");
    refused(store.write(Some(token(19)), "between the read and the write").await, 19, 20);
    store.write(Some(token(20)), "twenty").await.unwrap();
    // The widest token that there is survives the way there and back.
    let widest = (1 << 53) - 1;
    store.write(Some(token(widest)), "widest").await.unwrap();
    refused(store.write(Some(token(widest - 1)), "stale").await, widest - 1, widest);
}

pub(crate) async fn still_fenced<S: Store>(store: &S) {
    let widest = (1 << 53) - 1;
    refused(store.write(Some(token(9)), "from before the restart").await, 9, widest);
    assert_eq!(store.read(Some(token(widest))).await.unwrap(), "widest");
}

/// On an empty store: many holders write at once, and the latest one wins, in whatever order.
pub(crate) async fn at_once<S: Store>(stores: Vec<S>) {
    let stores: Vec<Arc<S>> = stores.into_iter().map(Arc::new).collect();
    let holders = u64::try_from(stores.len()).unwrap();
    for round in 0..10 {
        let writes: Vec<_> = (0..holders)
            .map(|holder| {
                let store = Arc::clone(&stores[usize::try_from(holder).unwrap()]);
                let number = 1 + round * holders + (holder * 3 + round) % holders;
                tokio::spawn(async move {
                    let written = store.write(Some(token(number)), &number.to_string()).await;
                    (number, written)
                })
            })
            .collect();
        let newest = (round + 1) * holders;
        for write in writes {
            let (number, written) = write.await.unwrap();
            match written {
                Ok(()) => {}
                Err(FenceError::Stale(stale)) => {
                    assert_eq!(stale.presented, token(number));
                    assert!(stale.greatest > stale.presented && number < newest, "{stale}");
                }
                Err(error) => panic!("{number}: {error}"),
            }
        }
        let content = stores[0].read(Some(token(newest))).await.unwrap();
        assert_eq!(content, newest.to_string(), "a write of an earlier holder came through");
    }
}

pub(crate) fn refused<T: std::fmt::Debug>(
    result: Result<T, FenceError<String>>,
    presented: u64,
    greatest: u64,
) {
    let expected = StaleToken { presented: token(presented), greatest: token(greatest) };
    let error = result.unwrap_err();
    assert!(matches!(error, FenceError::Stale(stale) if stale == expected), "{error}");
}
