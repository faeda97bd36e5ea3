//! States that differ only by the names of nodes and clients.

use super::config::{CLIENTS, Config};
use super::state::{Actor, Known, Link, NO_HOLDER, Node, State};
use crate::masters::{Classes, NODES, listed};

/// New names for clients that keep the configuration the same, with new places for their nodes. In
/// addition, the nodes of a class, which are in the same lists, can change places.
#[derive(Debug)]
pub(super) struct Renaming {
    nodes: [usize; NODES],
    clients: [usize; CLIENTS],
    count: usize,
    classes: Classes,
}

impl Renaming {
    /// Returns one renaming for each possible order of clients.
    pub(super) fn all(config: &Config) -> Vec<Self> {
        let lists = || config.clients.iter().map(|client| client.lists);
        let classes = Classes::of(config.nodes, |node| listed(lists(), node));
        let of_nodes = orders(config.nodes);
        let all = orders(config.clients.len()).into_iter().filter_map(|clients| {
            let nodes = of_nodes.iter().find(|nodes| fits(config, nodes, &clients))?;
            let mut renaming = Self {
                nodes: std::array::from_fn(|place| place),
                clients: std::array::from_fn(|place| place),
                count: clients.len(),
                classes: classes.clone(),
            };
            renaming.nodes[..nodes.len()].copy_from_slice(nodes);
            renaming.clients[..clients.len()].copy_from_slice(&clients);
            Some(renaming)
        });
        all.collect()
    }

    /// Returns the same state with the new names, its nodes in order.
    pub(super) fn renamed(&self, state: &State) -> State {
        let unchanged = self.clients[..self.count].iter().enumerate().all(|(old, new)| old == *new);
        let mut renamed = *state;
        if !unchanged {
            for (old, node) in state.nodes.iter().enumerate() {
                renamed.nodes[self.nodes[old]] = self.node(node);
            }
            for (old, actor) in state.actors.iter().enumerate() {
                renamed.actors[self.clients[old]] = self.actor(actor);
            }
        }
        self.classes.sort(&mut renamed.nodes);
        renamed
    }

    fn node(&self, node: &Node) -> Node {
        let owner = match node.owner {
            0 | NO_HOLDER => node.owner,
            owner => self.clients[usize::from(owner) - 1] as u8 + 1,
        };
        let mut renamed = Node { owner, ..*node };
        for (old, link) in node.links.iter().enumerate() {
            renamed.links[self.clients[old]] = self.link(link);
        }
        renamed
    }

    fn link(&self, link: &Link) -> Link {
        let (tells, hidden) = (self.bits(link.tells), self.bits(link.hidden));
        let mut renamed = Link { tells, hidden, ..*link };
        for (old, ticks) in link.reported.iter().enumerate() {
            renamed.reported[self.clients[old]] = *ticks;
        }
        renamed
    }

    fn actor(&self, actor: &Actor) -> Actor {
        let known = |sets: Known| Known {
            could: self.bits(sets.could),
            beside: self.bits(sets.beside),
            after: self.bits(sets.after),
        };
        Actor { of_round: known(actor.of_round), of_hold: known(actor.of_hold), ..*actor }
    }

    fn bits(&self, bits: u8) -> u8 {
        let set = (0..CLIENTS).filter(|old| bits >> old & 1 == 1);
        set.fold(0, |all, old| all | 1 << self.clients[old])
    }
}

/// Returns whether every client has the same settings as the one whose name it gets.
fn fits(config: &Config, nodes: &[usize], clients: &[usize]) -> bool {
    let moved = |list: u8| {
        let members = (0..config.nodes).filter(|node| list >> node & 1 == 1);
        members.fold(0_u8, |all, node| all | 1 << nodes[node])
    };
    config.clients.iter().enumerate().all(|(old, client)| {
        let mut lists = client.lists.map(moved);
        let mut other = config.clients[clients[old]];
        lists.sort_unstable();
        other.lists.sort_unstable();
        super::config::Client { lists, ..*client } == other
    })
}

/// Returns every order of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = all.iter().flat_map(|order: &Vec<usize>| {
            let rest = (0..count).filter(|next| !order.contains(next));
            rest.map(|next| order.iter().copied().chain([next]).collect()).collect::<Vec<_>>()
        });
        all = longer.collect();
    }
    all
}
