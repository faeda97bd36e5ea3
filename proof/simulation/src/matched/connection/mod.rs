//! Each client and each master, as the pages see them that speak of connections: `order`, `sent`
//! and `debts`.
//!
//! These pages speak neither of lists nor of what masters agree to, so all worlds are matched that
//! have no flaw of the simulation's own. What they assume is looked up for each master: no page has
//! a predecessor that may not be killed, and `sent` needs masters that report their uptime, and
//! clients that go by it.

mod debts;
mod looks;
mod order;
mod sent;
mod token;

use super::super::commands::{Deed, Words, has, text};
use super::super::setup::Setup;
use super::super::world::World;
use super::exact::Span;
use super::formulas::Proof;
use super::steps::Steps;
use super::{Connection, Counts, resources};
use debts::Debts;
use evaluator::Page;
use order::Order;
use quorumlock_core::coordinator::Judged;
use sent::Sent;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

pub(super) const DAY: Duration = Duration::from_secs(86_400);

/// What one client and one master are matched with, each page as far as its assumptions hold.
struct Pair {
    order: Option<Order>,
    sent: Option<Sent>,
    debts: Option<Debts>,
}

/// A command that is queued.
#[derive(Clone, Copy)]
pub(super) struct Queued {
    /// Where it begins among all bytes of the connection, and where it ends.
    pub(super) begins: usize,
    pub(super) end: usize,
    /// Whether the vote counts that it asks for, if it asks for one.
    pub(super) counts: Option<bool>,
}

/// All clients and masters of one world.
pub(super) struct Connections {
    pages: Option<[Arc<Page>; 3]>,
    pairs: BTreeMap<(usize, usize), Pair>,
    /// When each master has started, where it was not up from the first.
    boots: BTreeMap<usize, i64>,
}

impl Connections {
    pub(super) fn new(setup: &Setup) -> Self {
        let pages = setup.proof.as_ref().map(|Proof(_, pages, _)| pages.clone());
        Self { pages, pairs: BTreeMap::new(), boots: BTreeMap::new() }
    }

    pub(super) const fn is_on(&self) -> bool {
        self.pages.is_some()
    }

    pub(super) fn count(&self, counts: &mut Counts) {
        for Pair { order, sent, debts } in self.pairs.values() {
            let order = order.as_ref().map(|order| &order.steps);
            let sent = sent.as_ref().map(|sent| &sent.steps);
            order.into_iter().chain(sent).for_each(|steps| counts.add_steps(steps));
            debts.iter().for_each(|debts| debts.count(counts));
        }
        // A page of which nothing was matched counts as well.
        for page in self.pages.iter().flatten() {
            counts.add_steps(&Steps::new(page.clone()));
        }
    }

    /// Returns whether page `debts` has nothing to hear of a connection that is open.
    fn is_known_open(&self, client: usize, node: usize) -> bool {
        let pair = self.pairs.get(&(client, node));
        pair.and_then(|pair| pair.debts.as_ref()).is_none_or(|debts| debts.is_open)
    }

    /// Returns whether page `debts` has no token of a client at a master.
    fn owes_nothing(&self, client: usize, node: usize) -> bool {
        let pair = self.pairs.get(&(client, node));
        pair.and_then(|pair| pair.debts.as_ref()).is_none_or(Debts::is_empty)
    }

    /// Does something for the pages of a client and a master.
    fn with(
        &mut self,
        (client, node, epoch): Connection,
        then: impl FnOnce(&mut Pair) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(pair) = self.pairs.get_mut(&(client, node)) else { return Ok(()) };
        then(pair).map_err(|wrong| {
            let between = format!("{} and n{}", super::super::client::name(client), node + 1);
            format!("{wrong}\nbetween {between}, {epoch:?}\n{}", pair.shown())
        })
    }

    /// A client queues a command.
    pub(super) fn queues(
        &mut self,
        now: i64,
        line: Connection,
        words: &Words,
        Queued { begins, end, counts }: Queued,
    ) -> Result<(), String> {
        if !concerns_keys(words) {
            return Ok(());
        }
        let what = hash(words);
        self.with(line, |Pair { order, sent, debts }| {
            order.each(|order| order.sends(line.2, what, end as i64))?;
            debts.each(|debts| looks::queues(debts, now, line, (words, begins)))?;
            match counts {
                Some(counts) => sent.each(|sent| sent.sends(now, line.2, (what, counts))),
                None => Ok(()),
            }
        })
    }

    /// A master executes a command.
    pub(super) fn runs(&mut self, now: i64, line: Connection, words: &Words) -> Result<(), String> {
        if !concerns_keys(words) {
            return Ok(());
        }
        let what = hash(words);
        self.with(line, |Pair { order, sent, .. }| {
            order.each(|order| order.runs(line.2, what))?;
            sent.each(|sent| sent.runs(now, line.2, what))
        })
    }

    /// A client may have opened a connection, and judged its master.
    pub(super) fn judges(
        &mut self,
        now: i64,
        line: Connection,
        judged: Judged,
    ) -> Result<(), String> {
        self.with(line, |Pair { order, sent, .. }| {
            if judged.is_open {
                order.each(|order| order.opens(line.2))?;
            }
            sent.each(|sent| sent.judges(now, line.2, judged))
        })
    }
}

impl Pair {
    fn shown(&self) -> String {
        let order = self.order.as_ref().map(|order| order.steps.shown());
        let sent = self.sent.as_ref().map(|sent| sent.steps.shown());
        let debts = self.debts.as_ref().map(Debts::shown);
        [order, sent, debts].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

/// A page that is matched, or not.
trait Each<T> {
    fn each(&mut self, then: impl FnOnce(&mut T) -> Result<(), String>) -> Result<(), String>;
}

impl<T> Each<T> for Option<T> {
    fn each(&mut self, then: impl FnOnce(&mut T) -> Result<(), String>) -> Result<(), String> {
        self.as_mut().map_or(Ok(()), then)
    }
}

/// Returns whether a command may set, prolong or delete the key of a resource.
fn concerns_keys(words: &Words) -> bool {
    let deeds = [Deed::Acquire, Deed::Extend, Deed::Release, Deed::Shorten];
    deeds.contains(&Deed::of(words)) && !resources(words).is_empty()
}

fn hash(words: &Words) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

/// Returns the uptime in an answer to INFO, if it has one.
fn uptime(answer: &[u8]) -> Option<Duration> {
    const FIELD: &str = "uptime_in_seconds:";
    if !has(answer, FIELD.as_bytes()) {
        return None;
    }
    let answer = text(answer);
    let seconds = answer.split(FIELD).nth(1)?.split("\r\n").next()?;
    seconds.parse().ok().map(Duration::from_secs)
}

impl World {
    /// A client makes a connection.
    pub(in super::super) fn match_connected(&mut self, line: Connection) {
        let Some([order, sent, debts]) = self.matched.connections.pages.clone() else { return };
        let ((client, node, epoch), now) = (line, self.agenda.now as i64);
        if !self.matched.connections.pairs.contains_key(&(client, node)) {
            let denied = |rights: &[&str]| {
                self.setup.denies.contains(node)
                    && self.setup.denied.iter().any(|right| rights.contains(right))
            };
            let may_kill = !denied(&["client|kill", "info"]);
            let order = may_kill.then(|| Order::new(order));
            let debts = may_kill.then(|| Debts::new(debts, self.clients[client].clock));
            let goes_by_uptime = self.setup.goes_by_uptime() && !denied(&["info"]);
            let sent = goes_by_uptime.then(|| self.begin_sent(sent, client, node)).transpose();
            let sent = sent.unwrap_or_else(|wrong| {
                self.find_unmatched(Err(wrong));
                None
            });
            self.matched.connections.pairs.insert((client, node), Pair { order, sent, debts });
        }
        let result = self.matched.connections.with(line, |Pair { order, sent, .. }| {
            order.each(|order| order.connects(epoch))?;
            sent.each(|sent| sent.connects(now, epoch))
        });
        self.find_unmatched(result);
    }

    fn begin_sent(&self, page: Arc<Page>, client: usize, node: usize) -> Result<Sent, String> {
        let ppm = self.masters[node].clock.ppm;
        let from_the_first = match self.setup.young {
            true => 0,
            false => -Span::of(DAY).at_most(ppm),
        };
        let boot = self.matched.connections.boots.get(&node).copied().unwrap_or(from_the_first);
        let quarantine = self.setup.kind(self.clients[client].seat).quarantine;
        let now = self.agenda.now as i64;
        Sent::new(page, (now, boot), (self.clients[client].clock, ppm), quarantine)
    }

    /// A client gives a connection up.
    pub(in super::super) fn match_broken(&mut self, line: Connection) {
        let now = self.agenda.now as i64;
        self.match_undone((line.0, line.1));
        let result = self.matched.connections.with(line, |Pair { order, sent, debts }| {
            order.each(|order| order.breaks(line.2))?;
            sent.each(|sent| sent.breaks(now, line.2))?;
            debts.each(|debts| debts.closes(now))
        });
        self.find_unmatched(result);
    }

    /// A master has killed a connection, or has ended, or has read its end.
    pub(in super::super) fn match_dead(&mut self, line: Connection) {
        let result = self.matched.connections.with(line, |Pair { order, sent, .. }| {
            order.each(|order| order.dies(line.2))?;
            sent.each(|sent| {
                sent.dies(line.2);
                Ok(())
            })
        });
        self.find_unmatched(result);
    }

    /// A master has started: it `keeps` what it had, or not.
    pub(in super::super) fn match_started(&mut self, node: usize, keeps: bool) {
        let now = self.agenda.now as i64;
        self.matched.connections.boots.insert(node, now);
        let of = |(_, at): &&(usize, usize)| *at == node;
        let pairs: Vec<_> = self.matched.connections.pairs.keys().filter(of).copied().collect();
        for (client, node) in pairs {
            let line = (client, node, Default::default());
            let result = self.matched.connections.with(line, |Pair { sent, debts, .. }| {
                sent.each(|sent| sent.restarts(now))?;
                debts.each(|debts| if keeps { Ok(()) } else { debts.restarts(now) })
            });
            self.find_unmatched(result);
        }
    }

    /// A master answers what is about no resource.
    pub(in super::super) fn match_answered(&mut self, line: Connection, answer: &[u8]) {
        if let Some(uptime) = uptime(answer).filter(|_| self.matched.connections.is_on()) {
            let now = self.agenda.now as i64;
            let result = self.matched.connections.with(line, |Pair { sent, .. }| {
                sent.each(|sent| {
                    sent.reports(now, line.2, uptime);
                    Ok(())
                })
            });
            self.find_unmatched(result);
        }
    }
}
