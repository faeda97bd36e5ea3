//! What a command runs under: a lock, a permit, or the lock of a reader.

use quorumlock::{Acquire, Released, Unfenced};
use quorumlock::{AcquireError, ExtendError, Guard, Kind, Lease, Lost, ReadAcquire, ReadGuard};
use std::future::IntoFuture;
use std::ops::Deref;

/// An acquisition that was given its options.
pub(super) trait Begins {
    type Held: Held;

    async fn begin(self) -> Result<Self::Held, AcquireError>;
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

    async fn begin(self) -> Result<Guard<K>, AcquireError> {
        self.into_future().await
    }
}

impl Begins for ReadAcquire {
    type Held = ReadGuard;

    async fn begin(self) -> Result<ReadGuard, AcquireError> {
        self.into_future().await
    }
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
