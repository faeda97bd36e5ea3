//! Redis as the store.

use crate::support::other::{FENCE, KEY, OneKey, Redis};
use crate::support::{Store, token};
use crate::{cases, storm};
use quorumlock_fencing::{FenceError, redis::FencedScript};
use redis::{AsyncCommands, RedisError};

#[tokio::test(flavor = "multi_thread")]
async fn it_refuses_what_is_stale_and_after_a_restart() {
    let mut server = Redis::start();
    cases::play(&OneKey::open(&server.url()).await).await;
    server.restart();
    cases::still_fenced(&OneKey::open(&server.url()).await).await;

    let server = Redis::start();
    let mut stores = Vec::new();
    for _ in 0..16 {
        stores.push(OneKey::open(&server.url()).await);
    }
    cases::at_once(stores).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_script_has_its_own_keys_and_arguments_and_its_own_error() {
    let server = Redis::start();
    let mut con = OneKey::open(&server.url()).await.0;
    let script = FencedScript::new(
        "if #KEYS ~= 2 or #ARGV ~= 1 then return redis.error_reply('OTHER count') end
        redis.call('SET', KEYS[2], ARGV[1])
        return {KEYS[1], KEYS[2], ARGV[1]}",
    );
    let mut call = script.present("f", token(9));
    let answer: Vec<String> = call.key("a").key("b").arg("c").invoke_async(&mut con).await.unwrap();
    assert_eq!(answer, ["a", "b", "c"]);

    // Redis rolls nothing back: the token is raised, and its own error comes as it is.
    let failed: Result<(), RedisError> =
        script.present("f", token(20)).invoke_async(&mut con).await;
    let error = FenceError::from(failed.unwrap_err());
    assert!(matches!(&error, FenceError::Store(own) if own.code() == Some("OTHER")), "{error}");
    let stale =
        script.present("f", token(19)).key("a").key("b").arg("d").invoke_async(&mut con).await;
    let stale = FenceError::<RedisError>::from(Result::<(), _>::unwrap_err(stale));
    assert!(matches!(stale, FenceError::Stale(_)), "{stale}");
    assert_eq!(con.get::<_, String>("b").await.unwrap(), "c");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fence_that_has_no_token_is_damaged_and_a_token_stays_text() {
    let server = Redis::start();
    let store = OneKey::open(&server.url()).await;
    let mut con = store.0.clone();
    for forged in ["", "0", "007", "-1", "nan", "1e3", "9007199254740992", "99999999999999999999"] {
        let () = con.set(FENCE, forged).await.unwrap();
        let error = store.write(Some(token(9)), "write").await.unwrap_err();
        assert!(matches!(error, FenceError::Damaged(_)), "{forged:?}: {error}");
    }
    assert!(!con.exists::<_, bool>(KEY).await.unwrap());
    let () = con.del(FENCE).await.unwrap();
    let () = con.rpush(FENCE, "another type").await.unwrap();
    let error = store.write(Some(token(9)), "write").await.unwrap_err();
    assert!(matches!(error, FenceError::Store(_)), "{error}");

    let () = con.del(FENCE).await.unwrap();
    store.write(Some(token(1_795_158_604_154_900)), "write").await.unwrap();
    assert_eq!(con.get::<_, String>(FENCE).await.unwrap(), "1795158604154900");
    // A time to live ends with the next write.
    let () = con.expire(FENCE, 100).await.unwrap();
    store.write(Some(token(1_795_158_604_154_900)), "write").await.unwrap();
    assert_eq!(con.ttl::<_, i64>(FENCE).await.unwrap(), -1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_paused_holders_loses_nothing_with_the_kit() {
    let server = Redis::start();
    storm::both::<OneKey>(&server.url()).await;
}
