//! The reasons why a lock was not taken over from another process.

use super::{Closed, InvalidSetting, LossReason, count, if_slow, listed};
use crate::report::{Answer, Escaped, NodeReport};
use quorumlock_core::quorum::Membership;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The reason why a lock was not adopted.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AdoptErrorKind {
    /// It came too late, and is lost for good.
    #[error(transparent)]
    TooLate(#[from] TooLate),
    /// Too few masters confirmed: another try may succeed.
    #[error(transparent)]
    Unadopted(#[from] Unadopted),
    /// This client has a guard of it, or of one of its resources.
    #[error(transparent)]
    HeldHere(#[from] HeldHere),
    /// The call cannot succeed as it is: fix it. It sent nothing.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// The lock is lost for good. Another client may hold it now, or may have held it since it was
/// detached.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct TooLate {
    /// The resource.
    pub resource: Arc<str>,
    /// The reason: [`LossReason::QuorumGone`], with what every master said, or
    /// [`LossReason::Lapsed`] if its keep-alive is over, or if it was adopted and then not picked up
    /// before its deadline.
    pub reason: LossReason,
}

impl fmt::Display for TooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is lost: ", Escaped(&self.resource))?;
        match &self.reason {
            LossReason::QuorumGone(nodes) => {
                write!(f, "too few masters have held its key all along{}", listed(nodes))
            }
            _ => f.write_str("its time was over"),
        }
    }
}

/// Too few masters confirmed in time that they hold the key. The masters that did confirm have
/// given it another ttl.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "{} of {} masters confirmed {:?}, {quorum} needed{}{}",
    count(nodes, &Answer::Held),
    nodes.len(),
    Escaped(resource),
    listed(nodes),
    if_slow(nodes)
)]
#[non_exhaustive]
pub struct Unadopted {
    /// The resource.
    pub resource: Arc<str>,
    /// The answer of every master.
    pub nodes: Vec<NodeReport>,
    pub(crate) quorum: Membership,
}

/// This client has a guard of the lock, or of one of its resources: it was adopted already, or it is
/// another lock, and the one to be adopted is lost.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{:?} is held by this client", Escaped(resource))]
#[non_exhaustive]
pub struct HeldHere {
    /// The resource.
    pub resource: Arc<str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_says_what_became_of_the_lock() {
        let resource: Arc<str> = "orders:42".into();
        let too_late = |reason| TooLate { resource: resource.clone(), reason }.to_string();
        assert_eq!(too_late(LossReason::Lapsed), "\"orders:42\" is lost: its time was over");
        let gone = "\"orders:42\" is lost: too few masters have held its key all along";
        assert_eq!(too_late(LossReason::QuorumGone(Vec::new())), gone);
        let quorum = Membership::of(2).unwrap();
        let unadopted = Unadopted { resource: resource.clone(), nodes: Vec::new(), quorum };
        let error = AdoptErrorKind::from(unadopted).to_string();
        assert_eq!(error, "0 of 0 masters confirmed \"orders:42\", 2 needed");
        let error = AdoptErrorKind::from(HeldHere { resource }).to_string();
        assert_eq!(error, "\"orders:42\" is held by this client");
    }
}
