//! How the nodes stand, as it was told last: only changes are told.

use super::Outlet;
use super::happening::Happening;
use super::words::{Quorum, Standing};
use crate::coordinator::Coordinator;
use crate::quorum::Instant;
use std::sync::Arc;

/// Every node as it was told last, and the quorum that they make.
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

    /// Tells what has changed since the last look.
    pub(super) fn look(&mut self, machine: &Coordinator, now: Instant, outlet: &Outlet) {
        let mut changed = false;
        for (place, one) in self.told.iter_mut().enumerate() {
            if let Some(standing) = machine.standing(now, place)
                && one.standing != Some((&standing).into())
            {
                changed = true;
                let before = one.standing.replace((&standing).into());
                let (node, standing) = (&*one.name, &standing);
                outlet.tell(&Happening::Stands { place, node, before, standing });
            }
            let owed = machine.owed(place);
            if one.owed != owed {
                let before = std::mem::replace(&mut one.owed, owed);
                outlet.tell(&Happening::Owes { place, node: &one.name, before, owed });
            }
        }
        // It follows from how the nodes stand.
        if let Some(margin) = machine.margin(now).filter(|_| changed).map(Quorum::from)
            && self.margin != Some(margin)
        {
            let before = self.margin.replace(margin);
            outlet.tell(&Happening::Margin { before, margin });
        }
    }

    /// What was told counts no longer.
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
