//! An object of S3, Google Cloud Storage, Azure and the like, whose writes are fenced.
//!
//! ```
//! use object_store::{memory::InMemory, path::Path};
//! use quorumlock_fencing::{FencingToken, object_store::{get, put}};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let [old, new]: [FencingToken; 2] = ["7".parse()?, "9".parse()?];
//! let (store, path) = (InMemory::new(), Path::from("balance"));
//! put(&store, &path, old, b"100").await?;
//! assert_eq!(get(&store, &path, new).await?, "100"); // From here on, the earlier holder is refused.
//! assert!(put(&store, &path, old, b"110").await.unwrap_err().stale().is_some());
//! put(&store, &path, new, b"50").await?;
//! # Ok(())
//! # }
//! ```
//!
//! The object has the token in its first line: readers without a lock use
//! [`envelope::open`](crate::envelope::open). It can't be in the metadata of the object. On S3, the
//! e-tag may depend on the content alone, so a raise there would leave it as it was, and an earlier holder's
//! conditional put would come through.
//!
//! # Limits
//!
//! The store must have conditional puts ([`PutMode::Update`]). `LocalFileSystem` has none, and is refused
//! from the second put on; use the feature `file` there. A delete forgets the fence:
//! put an empty content in its place. Rules of a bucket that expire objects forget it, too.

use crate::envelope::{HEADER, open, seal};
use crate::{FenceError, FencingToken, StaleToken};
use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, PutMode, PutOptions, UpdateVersion};
use std::ops::Range;

/// More than the writers that can meet at one object. Some stores may refuse a condition for ever.
const TRIES: Range<u8> = 0..100;

/// Replaces the content of the object, if no greater token has been presented. An equal token is
/// admitted. The attributes of an object that exists are kept.
///
/// It reads the token and puts on condition that the object is the same as then, and does both
/// again each time that another writer has been faster.
///
/// # Errors
///
/// [`FenceError::Stale`] if a later holder has been here; [`FenceError::Damaged`] if the object has
/// no token; [`FenceError::Store`] if the store fails or has no conditional puts. Then the old content
/// stands or the new one, and the same put may be tried again.
///
/// # Cancel safety
///
/// If the future is dropped, the old content stands or the new one.
pub async fn put(
    store: &(impl ObjectStore + ?Sized),
    path: &Path,
    token: FencingToken,
    content: &[u8],
) -> Result<(), FenceError<Error>> {
    let sealed = Bytes::from(seal(token, content));
    let mut tries = TRIES;
    loop {
        let header = GetOptions::new().with_range(Some(0..HEADER as u64));
        let (_, _, same) = admit(store, path, token, header).await?;
        if put_if(store, path, &sealed, same, &mut tries).await? {
            return Ok(());
        }
    }
}

/// Raises the greatest token, and returns the content: empty if there was no object. No earlier
/// holder can put after that. It puts the same content under the new token, unless the token
/// is there already; if there was no object, it creates one.
///
/// # Errors
///
/// Those of [`put`].
///
/// # Cancel safety
///
/// If the future is dropped, the token is raised or not.
pub async fn get(
    store: &(impl ObjectStore + ?Sized),
    path: &Path,
    token: FencingToken,
) -> Result<Bytes, FenceError<Error>> {
    let mut tries = TRIES;
    loop {
        let (seen, content, same) = admit(store, path, token, GetOptions::new()).await?;
        let raised = || Bytes::from(seal(token, &content));
        if seen == Some(token) || put_if(store, path, &raised(), same, &mut tries).await? {
            return Ok(content);
        }
    }
}

/// Compares, and returns the token, the content, and the condition that nothing has changed since.
async fn admit(
    store: &(impl ObjectStore + ?Sized),
    path: &Path,
    presented: FencingToken,
    options: GetOptions,
) -> Result<(Option<FencingToken>, Bytes, PutOptions), FenceError<Error>> {
    let found = match store.get_opts(path, options).await {
        Ok(found) => found,
        Err(Error::NotFound { .. }) => return Ok((None, Bytes::new(), PutMode::Create.into())),
        Err(error) => return Err(error.into()),
    };
    let meta = &found.meta;
    let version = UpdateVersion { e_tag: meta.e_tag.clone(), version: meta.version.clone() };
    let attributes = found.attributes.clone();
    let same = PutOptions { attributes, ..PutMode::Update(version).into() };
    let sealed = found.bytes().await?;
    let greatest = open(&sealed)?.0;
    if presented < greatest {
        return Err(StaleToken { presented, greatest }.into());
    }
    Ok((Some(greatest), sealed.slice(HEADER..), same))
}

/// Returns whether the condition was true, and so the put is done; fails after the last try.
async fn put_if(
    store: &(impl ObjectStore + ?Sized),
    path: &Path,
    sealed: &Bytes,
    condition: PutOptions,
    tries: &mut Range<u8>,
) -> Result<bool, FenceError<Error>> {
    match store.put_opts(path, sealed.clone().into(), condition).await {
        Ok(_) => Ok(true),
        Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) if tries.next().is_some() => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

impl From<Error> for FenceError<Error> {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}
