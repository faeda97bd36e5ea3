//! Objects, in stores with both kinds of e-tags.

use crate::support::objects::{OneObject, TagsOfContent, path};
use crate::support::{Store, token};
use crate::{cases, storm};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::{
    Attribute, Attributes, Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
};
use quorumlock_fencing::object_store::{get, put};
use quorumlock_fencing::{FenceError, envelope};
use std::sync::Arc;

fn both_kinds() -> [Arc<dyn ObjectStore>; 2] {
    [Arc::new(InMemory::new()), Arc::new(TagsOfContent::default())]
}

#[tokio::test(flavor = "multi_thread")]
async fn it_refuses_what_is_stale() {
    for store in both_kinds() {
        let one = OneObject(Arc::clone(&store));
        cases::play(&one).await;
        cases::still_fenced(&one).await;
    }
    for store in both_kinds() {
        cases::at_once((0..16).map(|_| OneObject(Arc::clone(&store))).collect()).await;
    }
}

#[tokio::test]
async fn a_raise_between_the_check_and_the_put_fails_the_put_though_the_content_is_the_same() {
    let store = TagsOfContent::default();
    // Of an object, and of none.
    for base in [0, 100] {
        put(&store, &path(), token(base + 5), b"old").await.unwrap();
        *store.before_put.lock().await = Some(token(base + 9));
        let stale = put(&store, &path(), token(base + 7), b"stale").await.unwrap_err();
        let greatest = token(base + 9);
        assert!(matches!(stale, FenceError::Stale(stale) if stale.greatest == greatest), "{stale}");
        assert_eq!(get(&store, &path(), token(base + 9)).await.unwrap(), "old");
    }
    let empty = TagsOfContent::default();
    *empty.before_put.lock().await = Some(token(9));
    let stale = put(&empty, &path(), token(7), b"stale").await;
    assert!(matches!(stale, Err(FenceError::Stale(_))), "{stale:?}");
    assert_eq!(get(&empty, &path(), token(9)).await.unwrap(), "");

    // With the token in the metadata, the condition of an earlier holder would still be true.
    let raised = |number: &'static str| PutOptions {
        attributes: Attributes::from_iter([(Attribute::Metadata("token".into()), number)]),
        ..PutOptions::default()
    };
    store.put_opts(&path(), "same".into(), raised("7")).await.unwrap();
    let meta = store.head(&path()).await.unwrap();
    store.put_opts(&path(), "same".into(), raised("9")).await.unwrap();
    let version = object_store::UpdateVersion { e_tag: meta.e_tag, version: meta.version };
    let mode = PutMode::Update(version);
    store.put_opts(&path(), "stale".into(), PutOptions { mode, ..raised("7") }).await.unwrap();
}

#[tokio::test]
async fn a_put_whose_reply_is_lost_is_done_once_more() {
    let store = TagsOfContent::default();
    for number in [7, 8] {
        *store.lose_reply.lock().await = true;
        put(&store, &path(), token(number), b"write").await.unwrap();
        assert_eq!(get(&store, &path(), token(number)).await.unwrap(), "write");
    }
}

#[tokio::test]
async fn an_object_without_a_token_is_refused_and_attributes_are_kept() {
    let store = InMemory::new();
    let unfenced = "of a writer without a token, and longer than the line";
    store.put(&path(), unfenced.into()).await.unwrap();
    let error = put(&store, &path(), token(9), b"write").await.unwrap_err();
    assert!(matches!(error, FenceError::Damaged(_)), "{error}");
    let error = get(&store, &path(), token(9)).await.unwrap_err();
    assert!(matches!(error, FenceError::Damaged(_)), "{error}");
    store.put(&path(), "".into()).await.unwrap();
    put(&store, &path(), token(9), b"write").await.unwrap_err();

    let attributes = Attributes::from_iter([(Attribute::ContentType, "text/plain")]);
    let options = PutOptions { attributes: attributes.clone(), ..PutOptions::default() };
    let sealed = envelope::seal(token(7), b"write");
    store.put_opts(&path(), sealed.into(), options).await.unwrap();
    get(&store, &path(), token(8)).await.unwrap();
    put(&store, &path(), token(9), b"write").await.unwrap();
    let found = store.get(&path()).await.unwrap();
    assert_eq!(found.attributes, attributes);
    let sealed = found.bytes().await.unwrap();
    assert_eq!(envelope::open(&sealed), Ok((token(9), &b"write"[..])));
}

#[tokio::test]
async fn a_store_without_conditional_puts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    put(&store, &path(), token(7), b"first").await.unwrap();
    let error = put(&store, &path(), token(8), b"second").await.unwrap_err();
    assert!(matches!(error, FenceError::Store(Error::NotImplemented { .. })), "{error}");
    assert_eq!(get(&store, &path(), token(7)).await.unwrap(), "first");
}

#[tokio::test]
async fn a_store_that_refuses_every_condition_is_given_up() {
    let store = TagsOfContent::default();
    put(&store, &path(), token(7), b"write").await.unwrap();
    *store.refuse_all.lock().await = true;
    let error = put(&store, &path(), token(8), b"write").await.unwrap_err();
    assert!(matches!(error, FenceError::Store(Error::Precondition { .. })), "{error}");
    let error = get(&store, &path(), token(8)).await.unwrap_err();
    assert!(matches!(error, FenceError::Store(Error::Precondition { .. })), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_paused_holders_loses_nothing_with_the_kit() {
    for store in both_kinds() {
        storm::in_tasks(Arc::new(OneObject(store))).await;
    }
}

#[tokio::test]
async fn a_delete_forgets_the_fence_and_an_empty_content_does_not() {
    let one = OneObject(Arc::new(InMemory::new()));
    one.write(Some(token(9)), "").await.unwrap();
    assert!(one.write(Some(token(7)), "stale").await.is_err());
    one.0.delete(&path()).await.unwrap();
    one.write(Some(token(7)), "stale").await.unwrap();
}
