//! The standing of the nodes, as last reported: only changes are reported.

use super::Outlet;
use super::happening::Happening;
use super::words::Quorum;
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use quorumlock_core::status::Standing;
use std::sync::Arc;

/// Every node as last reported, and the quorum that they form.
pub(super) struct Nodes {
    told: Vec<Told>,
    margin: Option<Quorum>,
}

struct Told {
    name: Arc<str>,
    /// `None` until it has been reached or has failed, once.
    standing: Option<Standing>,
    owed: usize,
}

impl Nodes {
    pub(super) fn new(names: impl Iterator<Item = Arc<str>>) -> Self {
        let told = names.map(|name| Told { name, standing: None, owed: 0 }).collect();
        Self { told, margin: None }
    }

    /// Reports what has changed since the last look.
    pub(super) fn look(&mut self, machine: &Coordinator, now: Instant, outlet: &Outlet) {
        let mut changed = false;
        for (place, one) in self.told.iter_mut().enumerate() {
            if let Some(standing) = machine.standing(now, place)
                && one.standing != Some(standing.in_a_word())
            {
                changed = true;
                let before = one.standing.replace(standing.in_a_word());
                let (node, standing) = (&*one.name, &standing);
                outlet.tell(&Happening::Stands { place, node, before, standing });
            }
            let owed = machine.owed(place);
            if one.owed != owed {
                let before = std::mem::replace(&mut one.owed, owed);
                outlet.tell(&Happening::Owes { place, node: &one.name, before, owed });
            }
        }
        // It follows from the standing of the nodes.
        if let Some(margin) = machine.margin(now).filter(|_| changed).map(Quorum::from)
            && self.margin != Some(margin)
        {
            let before = self.margin.replace(margin);
            outlet.tell(&Happening::Margin { before, margin });
        }
    }

    /// Revokes what was reported.
    pub(super) fn forget(&mut self, outlet: &Outlet) {
        for (place, one) in self.told.drain(..).enumerate() {
            let Told { standing, owed, .. } = one;
            outlet.tell(&Happening::Forgotten { place, standing, owed });
        }
        if let Some(margin) = self.margin.take() {
            outlet.tell(&Happening::MarginForgotten { margin });
        }
    }
}
