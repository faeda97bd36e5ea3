//! The task that scans the masters, one after the other, and asks all of them about what it finds.

use super::page::{self, KEYS_PER_LOOK, Page};
use super::{Item, ListedLock};
use crate::address::Address;
use crate::driver::WeakHandle;
use crate::failure::NodeProblem;
use crate::inspect::Inspection;
use crate::operator::preflight::side_connection::{SideConnection, patience, with_each};
use crate::operator::preflight::{Finding, FindingKind, Permission, not_alone, warms_up_for};
use crate::options::Options;
use crate::report::{Answer, Refusal};
use quorumlock_core::coordinator::wire::{self, Reply};
use quorumlock_core::coordinator::{RestartGuard, Seen, ServerFacts};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The locks to list, and their masters.
pub(super) struct Walk {
    pub(super) masters: Vec<Address>,
    pub(super) membership: Membership,
    pub(super) options: Options,
    pub(super) prefix: String,
    /// List what is not held, too.
    pub(super) leftovers: bool,
    /// The client that lists; `None` once it has not answered in time.
    pub(super) client: Option<WeakHandle>,
    /// Run on a thread of its own.
    pub(super) own_thread: bool,
}

/// A master that is asked, or the answer in its place.
type Node = Result<SideConnection, Answer>;

/// A master that has said what it is, or what is wrong with it.
type Met = Result<(SideConnection, ServerFacts), FindingKind>;

struct Walker {
    walk: Walk,
    nodes: Vec<Node>,
    items: mpsc::Sender<Item>,
}

impl Walk {
    /// Lists everything, and whether that is all. Once the stream is dropped, so is this.
    pub(super) async fn run(self, items: mpsc::Sender<Item>) {
        let masters = self.masters.iter().cloned();
        let met = with_each(masters, |master| meet(master, self.options.clone())).await;
        let nodes = self.masters.iter().map(|_| Err(Answer::Outstanding)).collect();
        let mut walker = Walker { walk: self, nodes, items };
        walker.admit(met.into_iter().map(|met| met.and_then(|met| met))).await;
        let is_complete = walker.run().await;
        walker.send(Item::End(is_complete)).await;
    }

    /// Checks whether the key is that of a lock, or a permit, of such a name.
    fn asks_for(&self, key: &str) -> bool {
        self.options.lock_of(key).is_some_and(|(resource, _)| resource.starts_with(&self.prefix))
    }
}

/// Connects to one master, which is to say what it is.
async fn meet(master: Address, options: Options) -> Met {
    let (mut connection, hello) = SideConnection::open(&master, &options).await?;
    connection.enter(&hello, &master.login).await?;
    let mut facts = ServerFacts::default();
    facts.learn_hello(&hello);
    for section in ["server", "replication"] {
        facts.learn_info(&connection.ask("INFO", &wire::info(section)).await?);
    }
    not_alone(&facts).map_or(Ok((connection, facts)), Err)
}

impl Walker {
    /// Takes in the masters that may vote. The others are problems.
    async fn admit(&mut self, met: impl Iterator<Item = Met>) {
        // The masters by the ids of their servers.
        let mut ids: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for (node, met) in met.enumerate() {
            let twin = |facts: &ServerFacts| ids.get(facts.run_id.as_ref()?).cloned();
            let alone = met.and_then(|met| match twin(&met.1) {
                Some(twin) => Err(FindingKind::SameServer(twin)),
                None => Ok(met),
            });
            match alone {
                Ok((connection, facts)) => {
                    let name = self.walk.masters[node].name.clone();
                    ids.extend(facts.run_id.clone().map(|id| (id, name)));
                    let options = &self.walk.options;
                    let uptime = facts.uptime.filter(|_| options.restart_guard == RestartGuard::On);
                    let warms_up = uptime.and_then(|up| warms_up_for(up, options.quarantine()));
                    self.nodes[node] = match warms_up {
                        None => Ok(connection),
                        // It may have forgotten the holder: what it says counts for nothing.
                        Some(remaining) => {
                            let refusal = Refusal::WarmingUp { remaining };
                            self.tell(node, refusal.to_string()).await;
                            Err(Answer::Refused(refusal))
                        }
                    };
                }
                Err(kind) => _ = self.lose(node, kind).await,
            }
        }
    }

    /// Lists what enough masters have; `false` if too few can be asked, or scanned.
    async fn run(&mut self) -> bool {
        let membership = self.walk.membership;
        let (mut scanned, mut listed) = (NodeSet::EMPTY, BTreeSet::new());
        for node in 0..self.nodes.len() {
            // A lock may be held by those alone that were not scanned yet, or whatever is left over is asked for.
            let is_asked = membership.can_spare(scanned) || self.walk.leftovers;
            if is_asked && self.scan(node, &mut listed).await {
                scanned.insert(node);
            }
        }
        let answering = NodeSet::places(&self.nodes, Result::is_ok);
        membership.is_quorum(answering) && !membership.can_spare(scanned)
    }

    /// Lists what the master has, unless it was listed before; `false` if it cannot be scanned.
    async fn scan(&mut self, node: usize, listed: &mut BTreeSet<Arc<str>>) -> bool {
        for pattern in page::patterns(&self.walk.options, &self.walk.prefix) {
            let mut next = Some(Box::from("0"));
            while let Some(cursor) = next {
                let Some(page) = self.page(node, &cursor, &pattern).await else { return false };
                next = page.next;
                let is_new = |key: &Arc<str>| self.walk.asks_for(key) && !listed.contains(key);
                let mut keys: Vec<Arc<str>> = page.keys.into_iter().filter(is_new).collect();
                keys.sort_unstable();
                keys.dedup();
                for keys in keys.chunks(KEYS_PER_LOOK) {
                    for lock in self.look(keys).await {
                        listed.insert(lock.inspection.key().into());
                        self.send(Item::Lock(Box::new(lock))).await;
                    }
                }
            }
        }
        true
    }

    /// Returns the page of the master's keys at `cursor`; `None` if it cannot be scanned.
    async fn page(&mut self, node: usize, cursor: &str, pattern: &str) -> Option<Page> {
        let connection = self.nodes[node].as_mut().ok()?;
        let reply = match connection.ask("SCAN", &page::scan(cursor, pattern)).await {
            Ok(reply) => reply,
            Err(kind) => {
                self.lose(node, kind).await;
                return None;
            }
        };
        match page::scanned(&reply) {
            Ok(page) => Some(page),
            Err(error) => {
                let permission = Permission::Scan;
                let kind = match reply.is_denied() {
                    true => FindingKind::Withheld { permission, error },
                    false => FindingKind::Fails { permission, error },
                };
                self.tell(node, with_remedy(kind)).await;
                None
            }
        }
    }

    /// Asks all masters about these keys; returns what is to be listed.
    async fn look(&mut self, keys: &[Arc<str>]) -> Vec<ListedLock> {
        let options = &self.walk.options;
        let readers: Vec<_> = keys.iter().map(|key| options.readers_of(key)).collect();
        let replies = self.ask_all("EVAL", |_| page::look(keys, &readers)).await;
        let mut answers: Vec<Vec<Seen>> = Vec::new();
        for (node, reply) in replies.into_iter().enumerate() {
            let seen = reply.map(|reply| page::looked(&reply, keys.len()));
            answers.push(match seen {
                Ok(Ok(seen)) => seen,
                Ok(Err(error)) => {
                    let permission = Permission::Eval;
                    let problem = FindingKind::Fails { permission, error: error.clone() };
                    self.tell(node, with_remedy(problem)).await;
                    vec![Err(page::unknown(error)); keys.len()]
                }
                Err(answer) => vec![Err(answer); keys.len()],
            });
        }
        let Walk { masters, membership, options, leftovers, .. } = &self.walk;
        let found = |(place, key): (usize, &Arc<str>)| {
            let (resource, slot) = options.lock_of(key)?;
            let seen = masters.iter().zip(&answers);
            let seen = seen.map(|(master, seen)| (master.name.clone(), seen[place].clone()));
            let inspection =
                Inspection::new(resource.into(), key.clone(), seen.collect(), *membership);
            let lock = ListedLock::of(inspection.at_slot(slot))?;
            let is_listed = lock.is_held() || lock.is_ours() && lock.may_be_held(*membership);
            (*leftovers || is_listed).then_some(lock)
        };
        let mut locks: Vec<ListedLock> = keys.iter().enumerate().filter_map(found).collect();
        if !locks.is_empty() {
            self.find_waiters(&mut locks).await;
        }
        self.mark_own(&mut locks).await;
        locks
    }

    /// Finds the clients that wait for each lock, at all masters: how many listen for its release, and which clients
    /// are in its list.
    async fn find_waiters(&mut self, locks: &mut [ListedLock]) {
        let Walk { options, masters, .. } = &self.walk;
        let channels: Vec<Arc<str>> =
            locks.iter().map(|lock| lock.inspection.channel(options)).collect();
        let lists: Vec<_> = channels.iter().map(|channel| options.waitlist(channel)).collect();
        let databases: Vec<_> =
            masters.iter().map(|master| wire::channels(master.login.database)).collect();
        let count = |node: usize| page::count_waiting(&databases[node], &channels);
        let counted = self.ask_all("PUBSUB NUMSUB", count).await;
        let counts = counted.iter().flatten().map(|reply| page::counted(reply, locks.len()));
        // If one master does not say, the sum is not known.
        let counts: Option<Vec<_>> = counts.collect();
        let listed = self.ask_all("EVAL", |_| page::waitlists(&lists)).await;
        let lists = listed.iter().flatten().filter_map(|reply| page::listed(reply, locks.len()));
        let lists: Vec<_> = lists.collect();
        for (place, lock) in locks.iter_mut().enumerate() {
            // A client listens at one master for each key, or semaphore, and a waiter is in the list of one. Those in a
            // list listen to no channel of the key, except for the first.
            let listening = counts.as_ref().map(|counts| counts.iter().map(|row| row[place]).sum());
            let listed = lists.iter().map(|lists| lists[place].0).sum();
            lock.waiting = listening.map(|listening: u64| listening.max(listed));
            lock.waiters.extend(lists.iter().flat_map(|lists| lists[place].1.iter().copied()));
        }
    }

    /// Marks the locks that this client holds. Its runtime may not run, and then no more is asked.
    async fn mark_own(&mut self, locks: &mut [ListedLock]) {
        let Some(client) = &self.walk.client else { return };
        let keys: Vec<Arc<str>> = locks.iter().map(|lock| lock.inspection.key().into()).collect();
        match timeout(patience(&self.walk.options), client.clone().own(keys)).await {
            Ok(own) => {
                for (place, lock) in locks.iter_mut().enumerate() {
                    lock.inspection.learn(&own, place);
                    lock.holder.learn(&own, place);
                }
            }
            Err(_) => self.walk.client = None,
        }
    }

    /// Asks all masters at once. A master that does not answer is lost.
    async fn ask_all(
        &mut self,
        name: &'static str,
        question: impl Fn(usize) -> Vec<u8>,
    ) -> Vec<Result<Reply, Answer>> {
        let nodes = std::mem::take(&mut self.nodes).into_iter().enumerate();
        let asked = with_each(nodes, |(place, mut node)| {
            let question = question(place);
            async move {
                let reply = match &mut node {
                    Ok(connection) => Ok(connection.ask(name, &question).await),
                    Err(answer) => Err(answer.clone()),
                };
                (node, reply)
            }
        });
        let mut replies = Vec::new();
        for (place, asked) in asked.await.into_iter().enumerate() {
            let (node, reply) =
                asked.unwrap_or_else(|panicked| (Err(Answer::Outstanding), Ok(Err(panicked))));
            self.nodes.push(node);
            replies.push(match reply {
                Ok(Ok(reply)) => Ok(reply),
                Ok(Err(kind)) => Err(self.lose(place, kind).await),
                Err(answer) => Err(answer),
            });
        }
        replies
    }

    /// Asks a master no more; returns the answer in its place.
    async fn lose(&mut self, node: usize, kind: FindingKind) -> Answer {
        let answer = Answer::Refused(match &kind {
            FindingKind::Unreachable(cause) | FindingKind::Silent(cause) => {
                Refusal::Down(cause.clone())
            }
            other => Refusal::Unfit(other.to_string().into()),
        });
        self.nodes[node] = Err(answer.clone());
        self.tell(node, with_remedy(kind)).await;
        answer
    }

    /// Reports what is wrong with a master.
    async fn tell(&mut self, node: usize, problem: String) {
        let node = self.walk.masters[node].name.clone();
        self.send(Item::Problem(NodeProblem { node, problem: problem.into() })).await;
    }

    async fn send(&mut self, item: Item) {
        // Without a reader, this task ends.
        let _ = self.items.send(item).await;
    }
}

fn with_remedy(kind: FindingKind) -> String {
    let Finding { kind, remedy, .. } = kind.into();
    format!("{kind}: {remedy}")
}
