//! Errors, typed by what the caller does next.
//!
//! This module has every error type of the crate. The root re-exports the types that a call
//! returns as its `Err`, and not what these contain, such as [`Contended`]. All can be cloned and
//! compared, their fields are public, and each prints as one line.
//!
//! | from | error | next |
//! |---|---|---|
//! | [`connect`](crate::RedlockBuilder::connect) | [`ConnectError`] | fix the configuration |
//! | [`acquire`](crate::Redlock::acquire) | [`AcquireError::Contended`] | wait, or do without |
//! | | [`AcquireError::NoQuorum`] | raise an alarm, try again later; wait, if masters are warming up |
//! | | [`AcquireError::Disagreement`] | fix the configuration, or the masters' clocks |
//! | | [`AcquireError::Overloaded`] | ask for fewer locks at once, or wait longer |
//! | | [`AcquireError::InvalidSetting`] | fix the call |
//! | | [`AcquireError::WrongContext`] | call from another context |
//! | | [`AcquireError::NoRandomness`] | try again; if it persists, fix the system or its sandbox |
//! | | [`AcquireError::Closed`] | connect again; in a fork, for the first time |
//! | [`check`](crate::Lease::check), [`lost`](crate::Lease::lost) | [`Lost`] | stop before the next side effect |
//! | [`release`](crate::Guard::release) | [`Lost`] | check what was done: it may have overlapped with another holder's work |
//! | [`extend`](crate::Guard::extend) | [`ExtendError::Lost`] | stop before the next side effect |
//! | | [`ExtendError::Unextended`] | try again before the deadline |
//! | [`detach`](crate::Guard::detach) | [`DetachError`] | as for the error inside; the guard is back |
//! | [`downgrade`](crate::WriteGuard::downgrade) | [`DowngradeError`] | as for the error inside; the guard is back |
//! | [`adopt`](crate::Redlock::adopt) | [`AdoptError`] | as for the error inside; the value is back |
//! | | [`AdoptErrorKind::TooLate`] | acquire the lock, or do without |
//! | | [`AdoptErrorKind::Unadopted`] | try again: each try gives the keys another ttl |
//! | [`run`](crate::Acquire::run) | [`RunError`] | as for the error inside |
//! | [`Once::run`](crate::Once::run) | [`OnceError`] | as for the error inside; [`OnceError::Failed`] is the body's own |
//! | [`Reentrant::acquire`](crate::Reentrant::acquire) | [`ReentrantError`] | as for the error inside |
//! | [`inspect`](crate::Redlock::inspect), [`force_release`](crate::Redlock::force_release) | [`InspectError`] | fix the call, or try again |
//! | [`list`](crate::Redlock::list) | [`ListError`] | fix the call, or see what is wrong with the masters inside |
//! | [`preflight`](crate::Redlock::preflight) | [`PreflightError`] | fix the configuration, or call from another context |
//! | [`status`](crate::Redlock::status) | [`Closed`] | connect again |
//! | [`wait_until_ready`](crate::Redlock::wait_until_ready) | [`ReadyError`] | wait longer, or fix what the status inside names |
//! | [`shutdown`](crate::Redlock::shutdown) | [`ShutdownError`] | nothing: the keys expire |
//! | [`FenceCheck::admit`](crate::fencing::FenceCheck::admit) | [`StaleToken`] | refuse the write |
//! | a [`FencingToken`](crate::FencingToken) that is read | [`InvalidToken`] | refuse the write |
//!
//! If a round was decided, the error carries what every master said.

pub use crate::adopt::AdoptError;
#[cfg(feature = "config")]
pub use crate::failure::ConfigError;
pub use crate::failure::{
    AcquireError, AdoptErrorKind, Closed, ConnectError, Contended, Disagreement, ExtendError,
    HeldHere, InvalidSetting, ListError, LossReason, Lost, NoQuorum, NoRandomness, NodeProblem,
    NotReady, OnceError, Overloaded, PreflightError, ReadyError, ReentrantError, RunError,
    ShutdownError, TooLate, Unadopted, Unextended, WrongContext,
};
#[doc(inline)]
pub use crate::fencing::{InvalidToken, StaleToken};
pub use crate::guard::{DetachError, DowngradeError};
pub use crate::inspect::InspectError;
