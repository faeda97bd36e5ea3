//! Spontaneous steps: time passes, nodes restart.

use super::protocol::Agreement;
use super::state::{Link, Node, Round, State, bit};

impl Agreement {
    /// Advances every clock by one tick.
    pub(super) fn tick(&self, state: &mut State) -> Option<()> {
        let longest = self.decisions.longest_warming();
        for node in &mut state.nodes[..self.config.nodes] {
            node.up = (node.up + 1).min(longest);
            node.left = node.left.saturating_sub(1);
            if node.left == 0 {
                (node.owner, node.counted) = (0, false);
            }
            for link in &mut node.links[..self.count()] {
                self.link_ages(link);
                if !link.relies() && link.unseen > 0 {
                    // The client has to connect again, whatever it believes.
                    link.close();
                } else if link.unseen > 0 {
                    link.unseen = (link.unseen + 1).min(longest + 1);
                }
            }
        }
        for client in 0..self.count() {
            let actor = &mut state.actors[client];
            let held = actor.left > 0;
            actor.left = actor.left.saturating_sub(1);
            let mut ends = held && actor.left == 0;
            if actor.round != Round::None {
                actor.since += 1;
                ends |= self.decisions.left(client, actor.since) == 0;
            }
            if ends {
                self.end_round(state, client, false);
            }
        }
        Some(())
    }

    fn link_ages(&self, link: &mut Link) {
        link.note = link.note.saturating_sub(1);
        link.confirmed = self.decisions.older(link.confirmed);
        link.briefly = self.decisions.older(link.briefly);
        link.answered = self.decisions.older(link.answered);
        link.under_way = self.decisions.older_unread(link.under_way);
        for (client, ticks) in link.reported.iter_mut().enumerate() {
            *ticks = ticks.saturating_sub(1);
            if *ticks == 0 {
                link.hidden &= !bit(client);
            }
        }
        if link.answered == 0 {
            link.failed = false;
        }
    }

    /// Restarts a node, which comes back empty. What was in flight to it and from it is lost with
    /// its connections.
    pub(super) fn restart(&self, state: &mut State, place: usize, unseen: u8) -> Option<()> {
        state.restarts = state.restarts.checked_sub(1)?;
        let Node { links, up, .. } = state.nodes[place];
        let mut node = Node { links, ..Node::default() };
        for (client, link) in node.links[..self.count()].iter_mut().enumerate() {
            let misses = unseen >> client & 1 == 1;
            // Only a client that relies on a confirmation can miss it.
            if misses && !link.relies() {
                return None;
            }
            let before = *link;
            let believed = if link.unseen > 0 { link.unseen } else { up + 1 };
            link.close();
            link.note = 0;
            if misses {
                (link.confirmed, link.briefly) = (before.confirmed, before.briefly);
                (link.answered, link.unseen) = (before.answered, believed);
            }
        }
        state.nodes[place] = node;
        Some(())
    }
}
