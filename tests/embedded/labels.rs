//! The label of one call: on the masters, in inspections, and in the error of a refused caller.

use quorumlock::Redlock;
use quorumlock::embedded::Masters;
use std::time::Duration;

async fn client(masters: &Masters, label: &str) -> Redlock {
    masters.builder().label(label).connect().await.unwrap()
}

async fn label(redlock: &Redlock, resource: &str) -> Option<String> {
    let inspection = redlock.inspect(resource).await.unwrap();
    inspection.holder().and_then(|holder| holder.label()).map(str::to_owned)
}

#[tokio::test]
async fn a_label_of_the_call_replaces_the_builders_for_that_call() {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = client(&masters, "usual").await;
    for (number, (call, expected)) in
        [(None, Some("usual")), (Some("10.0.0.7:8080"), Some("10.0.0.7:8080")), (Some(""), None)]
            .into_iter()
            .enumerate()
    {
        for fenced in [false, true] {
            let name = format!("r{number}{fenced}");
            let acquire = redlock.acquire(name.as_str());
            let acquire = match call {
                Some(label) => acquire.label(label),
                None => acquire,
            };
            let released = if fenced {
                let guard = acquire.fenced().await.unwrap();
                assert_eq!(label(&redlock, &name).await.as_deref(), expected);
                guard.extend().await.unwrap();
                guard.release().await
            } else {
                let guard = acquire.await.unwrap();
                assert_eq!(label(&redlock, &name).await.as_deref(), expected);
                guard.extend().await.unwrap();
                guard.release().await
            };
            released.unwrap();
        }
    }
    let nested = redlock.reentrant().acquire("n").label("nested").await.unwrap();
    assert_eq!(label(&redlock, "n").await.as_deref(), Some("nested"));
    drop(nested);
    redlock.shutdown().await.unwrap();
    let left = masters[0].keys();
    assert!(left.iter().all(|key| key.contains("quorumlock:")), "{left:?}");
}

#[tokio::test]
async fn a_refused_caller_learns_the_label_of_the_holder() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (holder, other) = (client(&masters, "usual").await, client(&masters, "other").await);
    let guard = holder.acquire("r").label("10.0.0.7:8080").await.unwrap();
    let waiting = other.acquire("r").timeout(Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(waiting.holder(), Some("10.0.0.7:8080"));
    assert!(waiting.to_string().starts_with("\"r\" is held by 10.0.0.7:8080: "), "{waiting}");
    let tried = other.try_acquire("r").await.unwrap_err();
    assert_eq!(tried.holder(), Some("10.0.0.7:8080"), "{tried}");
    let here = holder.try_acquire("r").await.unwrap_err();
    assert_eq!(here.holder(), None, "no master was asked");
    drop(guard);
}

#[tokio::test]
async fn a_label_is_the_host_and_the_process_unless_it_is_switched_off() {
    let masters = Masters::start_in_memory(3).unwrap();
    let process = format!(":{}", std::process::id());
    let other = masters.builder().connect().await.unwrap();
    for (builder, is_named) in [
        (masters.builder(), true),
        (masters.builder().label(""), false),
        (masters.builder().label("worker-7").label(""), false),
    ] {
        let holder = builder.connect().await.unwrap();
        let guard = holder.acquire("r").fenced().await.unwrap();
        let label = label(&holder, "r").await;
        assert_eq!(label.as_ref().is_some_and(|label| label.ends_with(&process)), is_named);
        let error = other.try_acquire("r").await.unwrap_err();
        assert_eq!(error.holder(), label.as_deref(), "{error}");
        guard.release().await.unwrap();
    }
}
