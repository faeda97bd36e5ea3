//! Whether what the masters said when they were first asked lets a client be.

use super::{Membership, NodeSet};

/// What becomes of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// It may be, also with masters that are down, or unfit and not needed.
    Granted,
    /// Without the unfit masters there is no quorum, or none was to be unfit.
    Unfit,
    /// Another client goes by other terms: the later one gives way, whatever it could do without.
    Disagreement,
}

/// `unfit` answered, and cannot be used as they are; `disagreeing` know a client with other terms.
/// Those that are down or warming up are in neither: they mend themselves.
///
/// One unfit master costs its vote, as one that is down does: otherwise a password that was rotated
/// at one of five masters would keep every new process from its locks.
pub(crate) const fn admit(
    membership: Membership,
    unfit: NodeSet,
    disagreeing: NodeSet,
    strict: bool,
) -> Admission {
    if !membership.can_spare(unfit) || strict && unfit.len() > 0 {
        Admission::Unfit
    } else if disagreeing.len() > 0 {
        Admission::Disagreement
    } else {
        Admission::Granted
    }
}
