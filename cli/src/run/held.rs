//! What a command runs under: a lock, a permit, or the lock of a reader.

use quorumlock::{Acquire, AcquireFuture, ReadAcquire, Released, Unfenced};
use quorumlock::{AcquireError, ExtendError, Guard, Kind, Lease, Lost, ReadGuard};
use std::future::IntoFuture;
use std::ops::Deref;

/// An acquisition that was given its options.
pub(super) trait Begins: IntoFuture<Output = Result<Self::Held, AcquireError>> {
    type Held: Held;

    /// Returns how many are ahead in the queue, if it waits in turn and that is known.
    fn ahead(_: &Self::IntoFuture) -> Option<usize> {
        None
    }
}

/// A guard of any kind.
pub(super) trait Held: Deref<Target = Lease<Self::Kind>> {
    type Kind: Kind;

    async fn extend(&self) -> Result<(), ExtendError>;
    async fn release(self) -> Result<Released, Lost>;
    fn forget(self);
}

impl<K: Kind> Begins for Acquire<K> {
    type Held = Guard<K>;

    fn ahead(acquire: &AcquireFuture<K>) -> Option<usize> {
        acquire.ahead()
    }
}

impl Begins for ReadAcquire {
    type Held = ReadGuard;
}

impl<K: Kind> Held for Guard<K> {
    type Kind = K;

    async fn extend(&self) -> Result<(), ExtendError> {
        Self::extend(self).await.map(drop)
    }

    async fn release(self) -> Result<Released, Lost> {
        Self::release(self).await
    }

    fn forget(self) {
        Self::forget(self);
    }
}

impl Held for ReadGuard {
    type Kind = Unfenced;

    async fn extend(&self) -> Result<(), ExtendError> {
        Self::extend(self).await.map(drop)
    }

    async fn release(self) -> Result<Released, Lost> {
        Self::release(self).await
    }

    fn forget(self) {
        Self::forget(self);
    }
}
