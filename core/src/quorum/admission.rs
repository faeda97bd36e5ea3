//! The rule by which the masters' first answers admit a client or not.

use super::{Membership, NodeSet};

/// The outcome for a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// The client is admitted, even with masters that are down, or unfit and not needed.
    Granted,
    /// Without the unfit masters there is no quorum, or no master was allowed to be unfit.
    Unfit,
    /// Another client has different settings, and both could win at the same time, or the masters that
    /// know it cannot be spared, or no master was allowed to know one: the later client gives way.
    Disagreement,
}

/// Decides whether a client is admitted. `unfit` masters answered, and cannot be used as they are;
/// `disagreeing` masters know a client with other settings. Those that are down or warming up are in
/// neither set: they recover by themselves. `at_odds`: one of those other clients could win at the same
/// time, or has other numbers.
///
/// One unfit master costs its vote, as one that is down does. Otherwise a password that was rotated
/// at one of five masters would keep every new process from its locks. The same holds for a master with
/// a note of a client that the other masters keep away: a client that runs goes on without that master.
pub fn admit(
    membership: Membership,
    unfit: NodeSet,
    disagreeing: NodeSet,
    at_odds: bool,
    strict: bool,
) -> Admission {
    if !membership.can_spare(unfit) || strict && unfit.len() > 0 {
        Admission::Unfit
    } else if at_odds
        || !membership.can_spare(unfit.union(disagreeing))
        || strict && disagreeing.len() > 0
    {
        Admission::Disagreement
    } else {
        Admission::Granted
    }
}
