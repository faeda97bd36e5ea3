//! An object of S3, Google Cloud Storage, Azure and the like, whose writes are fenced.
//!
//! ```
//! use object_store::{memory::InMemory, path::Path};
//! use quorumlock_fencing::{FenceError, FencingToken, object_store::{get, put}};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let [old, new]: [FencingToken; 2] = ["7".parse()?, "9".parse()?];
//! let (store, path) = (InMemory::new(), Path::from("balance"));
//! put(&store, &path, old, b"100").await?;
//! assert_eq!(get(&store, &path, new).await?, "100"); // From here on, the earlier holder is refused.
//! assert!(matches!(put(&store, &path, old, b"110").await, Err(FenceError::Stale(_))));
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
    replace(store, path, token, Some(content)).await.map(drop)
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
    replace(store, path, token, None).await
}

/// Puts the content, or else what is there, under the token, on condition that nothing has changed
/// since it has compared. Returns what was there.
async fn replace(
    store: &(impl ObjectStore + ?Sized),
    path: &Path,
    token: FencingToken,
    content: Option<&[u8]>,
) -> Result<Bytes, FenceError<Error>> {
    let mut tries = TRIES;
    loop {
        let range = content.map(|_| 0..HEADER as u64);
        let (seen, was, same) =
            match store.get_opts(path, GetOptions::new().with_range(range)).await {
                Ok(found) => {
                    let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
                    let mode = PutMode::Update(UpdateVersion { e_tag, version });
                    let same = PutOptions { attributes: found.attributes.clone(), ..mode.into() };
                    let sealed = found.bytes().await?;
                    (Some(open(&sealed)?.0), sealed.slice(HEADER..), same)
                }
                Err(Error::NotFound { .. }) => (None, Bytes::new(), PutMode::Create.into()),
                Err(error) => return Err(error.into()),
            };
        StaleToken::check(token, seen.unwrap_or(token))?;
        if content.is_none() && seen == Some(token) {
            return Ok(was);
        }
        let sealed = seal(token, content.unwrap_or(&was));
        match store.put_opts(path, sealed.into(), same).await {
            Ok(_) => return Ok(was),
            // Another writer has been faster.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. })
                if tries.next().is_some() => {}
            Err(error) => return Err(error.into()),
        }
    }
}

from_store_error!(Error);
