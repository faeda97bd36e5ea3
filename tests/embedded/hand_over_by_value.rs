//! A detached lock as text: what is written, and what is read only if it is right.

use proptest::prelude::*;
use quorumlock::embedded::Masters;
use quorumlock::error::AdoptErrorKind;
use quorumlock::kind::{Detachable, Fenced, Unfenced};
use quorumlock::report::Obstacle;
use quorumlock::{AcquireError, Detached, FencedDetached, Redlock};
use serde_json::{Value, json};
use std::time::Duration;

async fn masters() -> Masters {
    Masters::start_in_memory(3).unwrap()
}

/// Returns what a client detaches, with everything that there may be.
async fn written() -> Value {
    let masters = masters().await;
    let builder = masters.builder().label("me").key_prefix("app:");
    let redlock = builder.connect().await.unwrap();
    let acquire = redlock.acquire_all(["b", "a"]).ttl(Duration::from_secs(7));
    let acquire =
        acquire.lock_delay(Duration::from_secs(2)).keep_alive_for(Duration::from_secs(60));
    let acquire = acquire.min_hold(Duration::from_secs(20));
    let detached = acquire.fenced().await.unwrap().detach().await.unwrap();
    serde_json::to_value(&detached).unwrap()
}

/// Returns the error of reading `text`, which shows no token.
fn refused(text: &str) -> String {
    let error = serde_json::from_str::<FencedDetached>(text).unwrap_err().to_string();
    assert!(!error.contains("cafe"), "{error}");
    error
}

#[tokio::test]
async fn all_of_it_goes_along() {
    let mut value = written().await;
    let left = value["keep_alive_ms"].take().as_u64().unwrap();
    assert!((50_000..=60_000).contains(&left), "{left}");
    let left = value["at_least_ms"].take().as_u64().unwrap();
    assert!((10_000..=20_000).contains(&left), "{left}");
    let (token, number) = (value["token"].take(), value["fencing_token"].take());
    assert_eq!((token.as_str().unwrap().len(), number.is_u64()), (32, true));
    assert_eq!(value["greatest_asked"].take(), number);
    let expected = json!({
        "version": 1, "resource": "a, b", "keys": ["app:a", "app:b"],
        "fences": ["app:quorumlock:fence:a", "app:quorumlock:fence:b"], "token": null,
        "label": "me", "fencing_token": null, "greatest_asked": null, "ttl_ms": 7000, "lock_delay_ms": 2000,
        "at_least_ms": null, "keep_alive_ms": null, "unsettled": [],
    });
    assert_eq!(value, expected);
}

#[tokio::test]
async fn a_copy_is_refused_where_the_first_is_held() {
    let masters = masters().await;
    let connect = || masters.builder().connect();
    let (first, second) = (connect().await.unwrap(), connect().await.unwrap());
    let detached =
        first.acquire("r").keep_alive_for(Duration::MAX).await.unwrap().detach().await.unwrap();
    let text = serde_json::to_string(&detached).unwrap();
    let read = || serde_json::from_str::<Detached>(&text).unwrap();
    let guard = second.adopt(read()).await.unwrap();
    let refused = second.adopt(read()).await.unwrap_err();
    assert!(matches!(refused.kind, AdoptErrorKind::HeldHere(_)), "{refused}");
    guard.check().unwrap();
    guard.release().await.unwrap();
    let refused = first.adopt(read()).await.unwrap_err();
    assert!(matches!(refused.kind, AdoptErrorKind::TooLate(_)), "{refused}");
}

/// Adopts a copy of `text`, twice: once in each client. Both come too late.
async fn are_too_late<K: Detachable>(clients: [&Redlock; 2], text: &str) {
    for redlock in clients {
        let copy: Detached<K> = serde_json::from_str(text).unwrap();
        let refused = redlock.adopt(copy).await.unwrap_err();
        assert!(matches!(refused.kind, AdoptErrorKind::TooLate(_)), "{refused}");
        // A copy whose adoption is dropped opens nothing, either.
        drop(redlock.adopt(refused.detached));
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_has_ended_well_is_not_adopted_again_by_any_client() {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let connect = || masters.builder().label("me").connect();
    let (first, second) = (connect().await.unwrap(), connect().await.unwrap());
    let other = masters.builder().connect().await.unwrap();
    for names in [&["nightly"][..], &["a", "nightly"]] {
        let acquire = first.acquire_all(names).min_hold(Duration::from_secs(20)).await.unwrap();
        let text = serde_json::to_string(&acquire.detach().await.unwrap()).unwrap();
        let began = tokio::time::Instant::now();
        let copy: Detached = serde_json::from_str(&text).unwrap();
        second.adopt(copy).await.unwrap().release().await.unwrap();
        are_too_late::<Unfenced>([&first, &second], &text).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let waited = other.acquire("nightly").timeout(Duration::from_secs(2)).await.unwrap_err();
        let text = waited.to_string();
        assert!(text.contains(" is locked for 1") && text.contains("has ended well"), "{text}");
        let AcquireError::Contended(contended) = waited else { panic!("{text}") };
        assert!(matches!(contended.obstacle, Obstacle::Ended { free_in: Some(_) }), "{text}");
        drop(other.acquire("nightly").timeout(Duration::from_secs(30)).await.unwrap());
        assert!(began.elapsed() > Duration::from_secs(19), "{:?}", began.elapsed());
    }
    let acquire = first.acquire("nightly").min_hold(Duration::from_secs(20)).fenced();
    let guard = acquire.await.unwrap();
    let at_work = first.inspect("nightly").await.unwrap();
    assert!(!at_work.holder().unwrap().has_ended());
    let text = serde_json::to_string(&guard.detach().await.unwrap()).unwrap();
    let copy: FencedDetached = serde_json::from_str(&text).unwrap();
    second.adopt(copy).await.unwrap().release().await.unwrap();
    are_too_late::<Fenced>([&first, &second], &text).await;

    let ended = other.inspect("nightly").await.unwrap();
    let holder = ended.holder().unwrap();
    assert!(holder.has_ended() && holder.same_hold_as(at_work.holder().unwrap()));
    assert_eq!(holder.label(), Some("me"));
    assert!(ended.to_string().starts_with("\"nightly\" is done by me, locked for "), "{ended}");
    let lock = other.list("nightly").next().await.unwrap().unwrap();
    assert!(lock.is_ours() && lock.holder().has_ended() && lock.held_on() == 3);
    // An operator that has seen it at work takes it away all the same.
    other.force_release(&at_work).await.unwrap();
    drop(other.try_acquire("nightly").await.unwrap());
}

#[tokio::test]
async fn what_is_wrong_is_refused_with_the_reason() {
    let mut good = written().await;
    good["token"] = "cafe0000cafe0000cafe0000cafe0000".into();
    let _ = serde_json::from_value::<FencedDetached>(good.clone()).unwrap();
    let without_number = serde_json::from_value::<Detached>(good.clone()).unwrap_err().to_string();
    assert!(without_number.contains("read it as a FencedDetached"), "{without_number}");
    for (field, wrong, text) in [
        ("version", json!(2), "another version of quorumlock has written it"),
        ("keys", json!([]), "keys are none"),
        ("keys", json!(["a", "a"]), "one twice"),
        ("keys", json!("cafe"), "a field has a wrong value"),
        ("keys", json!(vec!["k"; 65]), "too many"),
        ("fences", json!(null), "fences, fencing_token or greatest_asked are missing"),
        ("fences", json!(["f"]), "fences, fencing_token and greatest_asked do not"),
        ("token", json!("cafe"), "token is missing, or is none"),
        ("token", json!("CAFE0000cafe0000cafe0000cafe0000"), "is none"),
        ("token", json!(["cafe"]), "a field has a wrong value"),
        ("fencing_token", json!(0), "a field has a wrong value"),
        ("fencing_token", json!(1_u64 << 53), "do not go together"),
        ("greatest_asked", json!(1), "do not go together"),
        ("greatest_asked", json!(1_u64 << 53), "do not go together"),
        ("greatest_asked", json!(null), "fences, fencing_token or greatest_asked are missing"),
        ("ttl_ms", json!(u64::MAX), "too long"),
        ("ttl_ms", json!(-1), "a field has a wrong value"),
        ("unsettled", json!(vec!["n"; 65]), "too many masters"),
        ("cafe", json!(1), "a field that is not known"),
    ] {
        let mut bad = good.clone();
        bad[field] = wrong;
        let error = refused(&bad.to_string());
        assert!(error.contains(text), "{field}: {error}");
    }
    for field in ["version", "resource", "keys", "token", "ttl_ms", "lock_delay_ms", "unsettled"] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(field);
        let error = refused(&bad.to_string());
        assert!(error.contains(field) && error.contains("missing"), "{field}: {error}");
    }
    let twice = good.to_string().replacen('{', "{\"ttl_ms\":1,", 1);
    assert!(refused(&twice).contains("ttl_ms is there twice"));
    // Formats without names: a sequence.
    let fields = ["version", "resource", "keys", "fences", "token", "label", "fencing_token"];
    let fields = fields.into_iter().chain([
        "greatest_asked",
        "ttl_ms",
        "lock_delay_ms",
        "at_least_ms",
        "keep_alive_ms",
        "unsettled",
    ]);
    let mut row: Vec<Value> = fields.map(|field| good[field].clone()).collect();
    let read: FencedDetached = serde_json::from_value(json!(row)).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), good);
    row.pop();
    assert!(refused(&json!(row).to_string()).contains("it was cut off"));
    let string = serde_json::to_string(&good.to_string()).unwrap();
    assert!(refused(&string).contains("serialized twice"));
}

#[tokio::test]
async fn a_ttl_that_cannot_work_is_refused_before_anything_is_sent() {
    let masters = masters().await;
    let redlock = masters.builder().connect().await.unwrap();
    let guard = redlock.acquire("r").await.unwrap();
    let good = serde_json::to_value(guard.detach().await.unwrap()).unwrap();
    for (field, wrong) in [
        ("ttl_ms", json!(0)),
        ("ttl_ms", json!(3_600_000)),
        ("lock_delay_ms", json!(3_600_000)),
        ("at_least_ms", json!(3_600_000)),
        ("keys", json!(["quorumlock:agreement"])),
        ("keys", json!([""])),
    ] {
        let mut bad = good.clone();
        if field == "keys" {
            bad["resource"] = wrong[0].clone();
        }
        bad[field] = wrong;
        let detached: Detached = serde_json::from_value(bad).unwrap();
        let refused = redlock.adopt(detached).await.unwrap_err();
        assert!(matches!(refused.kind, AdoptErrorKind::InvalidSetting(_)), "{field}: {refused}");
        std::mem::forget(refused);
    }
}

proptest! {
    /// Whatever is read, nothing panics, and what was understood is written the same.
    #[test]
    fn arbitrary_fields_are_read_or_refused(
        fields in proptest::collection::btree_map(
            proptest::sample::select(vec![
                "version", "resource", "keys", "fences", "token", "label", "fencing_token",
                "greatest_asked", "ttl_ms", "lock_delay_ms", "at_least_ms", "keep_alive_ms",
                "unsettled",
            ]),
            proptest::sample::select(vec![
                json!(1), json!("cafe0000cafe0000cafe0000cafe0000"), json!(["a"]), json!(null),
                json!(u64::MAX), json!(-1), json!({}), json!([]), json!(""),
            ]),
            0..12,
        )
    ) {
        let value = serde_json::to_value(&fields).unwrap();
        if let Ok(detached) = serde_json::from_value::<Detached<Fenced>>(value.clone()) {
            let again = serde_json::to_value(&detached).unwrap();
            prop_assert_eq!(&again["token"], &value["token"]);
        }
        let _ = serde_json::from_value::<Detached>(value);
    }
}
