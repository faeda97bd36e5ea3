//! The standing of the nodes, as last reported: only changes are reported.

use super::Outlet;
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use quorumlock_core::status::Margin;
use std::sync::Arc;

/// Every node as last reported, and the quorum that they form.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    margin: Option<Margin>,
}

struct Node {
    name: Arc<str>,
    /// `None` until it has been reached or has failed, once.
    standing: Option<&'static str>,
    /// Why its credentials could not be renewed.
    problem: Option<Arc<str>>,
    owed: usize,
}

impl Nodes {
    pub(super) fn new(names: impl Iterator<Item = Arc<str>>) -> Self {
        let nodes =
            names.map(|name| Node { name, standing: None, problem: None, owed: 0 }).collect();
        Self { nodes, margin: None }
    }

    /// Reports what has changed since the last look.
    pub(super) fn look(&mut self, machine: &Coordinator, now: Instant, outlet: &Outlet) {
        let mut changed = false;
        for (place, node) in self.nodes.iter_mut().enumerate() {
            let name = &*node.name;
            if let Some(standing) = machine.masters().standing(now, place)
                && node.standing != Some(standing.as_str())
            {
                changed = true;
                let before = node.standing.replace(standing.as_str());
                outlet.each(|observer| observer.stands(place, name, before, &standing));
            }
            let problem = machine.masters().renewal_problem(place);
            if node.problem.as_ref() != problem {
                let had_problem = node.problem.is_some();
                node.problem = problem.cloned();
                let cause = problem.map(|cause| &**cause);
                outlet.each(|observer| observer.renews(place, name, had_problem, cause));
            }
            let owed = machine.masters().owed(place);
            if node.owed != owed {
                let before = std::mem::replace(&mut node.owed, owed);
                outlet.each(|observer| observer.owes(place, name, before, owed));
            }
        }
        // It follows from the standing of the nodes.
        if let Some(margin) = machine.masters().margin(now).filter(|_| changed)
            && self.margin != Some(margin)
        {
            let before = self.margin.replace(margin);
            outlet.each(|observer| observer.quorum(before, margin));
        }
    }

    /// Revokes what was reported.
    pub(super) fn forget(&mut self, outlet: &Outlet) {
        for (place, node) in self.nodes.drain(..).enumerate() {
            let had_problem = node.problem.is_some();
            outlet
                .each(|observer| observer.forgotten(place, node.standing, had_problem, node.owed));
        }
        let margin = self.margin.take();
        outlet.each(|observer| observer.quorum_forgotten(margin));
    }
}
