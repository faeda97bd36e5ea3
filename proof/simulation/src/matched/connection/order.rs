//! One client and one master, as page `order` sees them: the connections between them, and the
//! commands on each that may set, prolong or delete a key.
//!
//! A connection that was given up before it opened has none of these commands on it: it is dead to
//! the page, whether or not the master knows.

use super::super::steps::Steps;
use evaluator::{Element, Page};
use quorumlock_core::coordinator::Epoch;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A connection, as far as the page does not say it.
struct Link {
    link: Element,
    /// The commands that have been queued and not executed, by what they are.
    queued: VecDeque<(u64, Element)>,
    /// The last that was executed.
    ran: Option<Element>,
}

pub(super) struct Order {
    pub(super) steps: Steps,
    node: Element,
    links: BTreeMap<Epoch, Link>,
}

impl Order {
    pub(super) fn new(page: Arc<Page>) -> Self {
        let mut steps = Steps::new(page);
        let node = steps.state.add("Node");
        Self { steps, node, links: BTreeMap::new() }
    }

    /// A connection is made.
    pub(super) fn connects(&mut self, epoch: Epoch) -> Result<(), String> {
        let made = self.links.len() as i64;
        let state = &mut self.steps.state;
        let link = state.add("Link");
        state.set("master", &[link], self.node);
        let changes = [state.to("used", &[link], 1), state.to("made", &[link], made)];
        self.links.insert(epoch, Link { link, queued: VecDeque::new(), ran: None });
        self.steps.step("connect", &[("k0", link), ("d0", made)], &changes)
    }

    /// The client counts a connection as open, or uses it as such.
    pub(super) fn opens(&mut self, epoch: Epoch) -> Result<(), String> {
        let Some(link) = self.link(epoch).filter(|link| !self.is("opened", *link)) else {
            return Ok(());
        };
        let to = self.steps.state.to("opened", &[link], 1);
        self.steps.step("open", &[("k0", link)], &[to])
    }

    /// A command is queued, at this place among all bytes of the connection.
    pub(super) fn sends(&mut self, epoch: Epoch, what: u64, place: i64) -> Result<(), String> {
        self.opens(epoch)?;
        let Some(Link { link, queued, .. }) = self.links.get_mut(&epoch) else {
            return Err("page order: a command is queued without a connection".to_owned());
        };
        let state = &mut self.steps.state;
        let command = state.add("Command");
        state.set("on", &[command], *link);
        queued.push_back((what, command));
        let changes = [state.to("sent", &[command], 1), state.to("place", &[command], place)];
        self.steps.step("send", &[("c0", command), ("d0", place)], &changes)?;
        if self.is("dead", self.links[&epoch].link) {
            self.steps.state.set_live("Command", command, false);
        }
        Ok(())
    }

    /// A master executes a command.
    pub(super) fn runs(&mut self, epoch: Epoch, what: u64) -> Result<(), String> {
        let state = &mut self.steps.state;
        let found = self.links.get_mut(&epoch).and_then(|link| {
            let at = link.queued.iter().position(|(other, _)| *other == what)?;
            Some((link.queued.remove(at)?.1, &mut link.ran))
        });
        let Some((command, ran)) = found else {
            return Err("page order: a master executes what was never sent".to_owned());
        };
        // Of those that have run, the last one says what the others said.
        let before = ran.replace(command);
        state.set_live("Command", command, true);
        let to = state.to("ran", &[command], 1);
        self.steps.step("run", &[("c0", command)], &[to])?;
        before.into_iter().for_each(|before| self.steps.state.set_live("Command", before, false));
        Ok(())
    }

    /// The client gives a connection up.
    pub(super) fn breaks(&mut self, epoch: Epoch) -> Result<(), String> {
        let Some(link) = self.link(epoch).filter(|link| !self.is("broken", *link)) else {
            return Ok(());
        };
        let to = self.steps.state.to("broken", &[link], 1);
        self.steps.step("break", &[("k0", link)], &[to])?;
        if !self.is("opened", link) {
            self.dies(epoch)?;
        }
        self.puts_aside(epoch);
        Ok(())
    }

    /// The master executes nothing more of a connection.
    pub(super) fn dies(&mut self, epoch: Epoch) -> Result<(), String> {
        let Some(link) = self.link(epoch).filter(|link| !self.is("dead", *link)) else {
            return Ok(());
        };
        let to = self.steps.state.to("dead", &[link], 1);
        self.steps.step("die", &[("k0", link)], &[to])?;
        self.puts_aside(epoch);
        Ok(())
    }

    fn link(&self, epoch: Epoch) -> Option<Element> {
        self.links.get(&epoch).map(|link| link.link)
    }

    fn is(&self, what: &str, link: Element) -> bool {
        self.steps.state.is(what, &[link])
    }

    /// Puts aside what is on a dead connection, and the connection once it is given up as well: it
    /// stays dead. If the master executes any of it, that command comes back, and is refused.
    fn puts_aside(&mut self, epoch: Epoch) {
        let Some(Link { link, queued, ran }) = self.links.get(&epoch) else { return };
        let state = &mut self.steps.state;
        if !state.is("dead", &[*link]) {
            return;
        }
        let commands = queued.iter().map(|(_, command)| *command).chain(*ran);
        commands.for_each(|command| state.set_live("Command", command, false));
        if state.is("broken", &[*link]) {
            state.set_live("Link", *link, false);
        }
    }
}
