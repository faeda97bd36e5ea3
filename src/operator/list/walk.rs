//! The task that scans the masters, one after the other, and asks all of them about what it finds.

use super::merge::{self, Verdict};
use super::own::Lister;
use super::page::{self, KEYS_PER_LOOK};
use super::{Item, ListedLock};
use crate::address::Address;
use crate::failure::{ListError, NodeProblem};
use crate::operator::preflight::side_connection::SideConnection;
use crate::operator::preflight::{
    Finding, FindingKind, Permission, TIMEOUTS_PER_ANSWER, not_alone, warms_up_for,
};
use crate::options::Options;
use crate::report::{Answer, Refusal};
use quorumlock_core::coordinator::wire::{self, Reply};
use quorumlock_core::coordinator::{RestartGuard, Seen, ServerFacts};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The locks to list, and their masters.
pub(super) struct Walk {
    pub(super) masters: Vec<Address>,
    pub(super) membership: Membership,
    pub(super) options: Options,
    pub(super) prefix: String,
    /// List what is not held, too.
    pub(super) leftovers: bool,
    pub(super) lister: Lister,
}

/// A master that is asked, or the answer in its place.
type Node = Result<SideConnection, Answer>;

/// A master that has said what it is, or what is wrong with it.
type Met = Result<(SideConnection, ServerFacts), FindingKind>;

/// The stream was dropped.
struct Dropped;

struct Walker {
    walk: Walk,
    nodes: Vec<Node>,
    problems: Vec<NodeProblem>,
    items: mpsc::Sender<Item>,
}

impl Walk {
    /// Lists everything, and how that ended.
    pub(super) async fn run(self, items: mpsc::Sender<Item>) {
        let patience = self.patience();
        let mut dials = JoinSet::new();
        for (node, master) in self.masters.iter().cloned().enumerate() {
            let connect_timeout = self.options.connect_timeout;
            dials.spawn(async move { (node, meet(&master, connect_timeout, patience).await) });
        }
        let down = || Err(FindingKind::Unreachable("the dial panicked".into()));
        let mut met: Vec<_> = self.masters.iter().map(|_| down()).collect();
        while let Some(dialled) = dials.join_next().await {
            if let Ok((node, result)) = dialled {
                met[node] = result;
            }
        }
        let problems = Vec::new();
        let mut walker = Walker { walk: self, nodes: Vec::new(), problems, items };
        let ended = walker.run(met).await;
        if let Ok(ended) = ended {
            // There is no reader if the stream was dropped.
            let _ = walker.items.send(Item::End(ended)).await;
        }
    }

    /// Checks whether the key is that of a lock, or a permit, of such a name.
    fn asks_for(&self, key: &str) -> bool {
        self.options.lock_of(key).is_some_and(|(resource, _)| resource.starts_with(&self.prefix))
    }

    fn patience(&self) -> Duration {
        self.options.operation_timeout.saturating_mul(TIMEOUTS_PER_ANSWER)
    }

    /// Returns how long a master that reports this uptime does not vote yet.
    fn warms_up_for(&self, facts: &ServerFacts) -> Option<Duration> {
        let uptime = facts.uptime.filter(|_| self.options.restart_guard == RestartGuard::On)?;
        warms_up_for(uptime, self.options.quarantine())
    }
}

/// Connects to one master, which is to say what it is.
async fn meet(master: &Address, connect_timeout: Duration, patience: Duration) -> Met {
    let (mut connection, hello) = SideConnection::open(master, connect_timeout, patience).await?;
    connection.enter(&hello, &master.login).await?;
    let mut facts = ServerFacts::default();
    facts.learn_hello(&hello);
    for section in ["server", "replication"] {
        facts.learn_info(&connection.ask("INFO", &wire::info(section)).await?);
    }
    not_alone(&facts).map_or(Ok((connection, facts)), Err)
}

impl Walker {
    async fn run(&mut self, met: Vec<Met>) -> Result<Result<(), ListError>, Dropped> {
        self.admit(met).await?;
        let membership = self.walk.membership;
        let (mut scanned, mut listed) = (NodeSet::EMPTY, BTreeSet::new());
        for node in 0..self.nodes.len() {
            let is_complete = !merge::may_miss(membership, scanned);
            if is_complete && !self.walk.leftovers {
                break;
            }
            if self.scan(node, &mut listed).await? {
                scanned.insert(node);
            }
        }
        let answering: NodeSet = self
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(at, node)| node.is_ok().then_some(at))
            .collect();
        let is_complete = membership.is_quorum(answering) && !merge::may_miss(membership, scanned);
        let problems = || ListError::Incomplete(self.problems.clone());
        Ok(if is_complete { Ok(()) } else { Err(problems()) })
    }

    /// Takes in the masters that may vote. The others are problems.
    async fn admit(&mut self, met: Vec<Met>) -> Result<(), Dropped> {
        let mut ids: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        for (node, met) in met.into_iter().enumerate() {
            let name = self.walk.masters[node].name.clone();
            let twin = |facts: &ServerFacts| {
                let id = facts.run_id.as_ref()?;
                let (_, twin) = ids.iter().find(|(other, _)| other == id)?;
                Some(FindingKind::SameServer(twin.clone()))
            };
            let alone = met.and_then(|met| twin(&met.1).map_or(Ok(met), Err));
            let (answer, problem) = match alone {
                Err(kind) => (stands_for(&kind), with_remedy(kind)),
                Ok((connection, facts)) => {
                    ids.extend(facts.run_id.clone().map(|id| (id, name)));
                    let Some(remaining) = self.walk.warms_up_for(&facts) else {
                        self.nodes.push(Ok(connection));
                        continue;
                    };
                    // It may have forgotten the holder: what it says counts for nothing.
                    let refusal = Refusal::WarmingUp { remaining };
                    let problem = refusal.to_string();
                    (Answer::Refused(refusal), problem)
                }
            };
            self.nodes.push(Err(answer));
            self.tell(node, problem).await?;
        }
        Ok(())
    }

    /// Lists what the master has, unless it was listed before; `false` if it cannot be scanned.
    async fn scan(
        &mut self,
        node: usize,
        listed: &mut BTreeSet<Arc<str>>,
    ) -> Result<bool, Dropped> {
        for pattern in page::patterns(&self.walk.options, &self.walk.prefix) {
            if !self.scan_for(&pattern, node, listed).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn scan_for(
        &mut self,
        pattern: &str,
        node: usize,
        listed: &mut BTreeSet<Arc<str>>,
    ) -> Result<bool, Dropped> {
        let mut next = Some(Box::from("0"));
        while let Some(cursor) = next {
            let Ok(connection) = &mut self.nodes[node] else { return Ok(false) };
            let reply = match connection.ask("SCAN", &page::scan(&cursor, pattern)).await {
                Ok(reply) => reply,
                Err(kind) => {
                    self.lose(node, kind).await?;
                    return Ok(false);
                }
            };
            let page = match page::scanned(&reply) {
                Ok(page) => page,
                Err(error) => {
                    let permission = Permission::Scan;
                    let kind = match reply.is_denied() {
                        true => FindingKind::Withheld { permission, error },
                        false => FindingKind::Fails { permission, error },
                    };
                    self.tell(node, with_remedy(kind)).await?;
                    return Ok(false);
                }
            };
            next = page.next;
            let is_new = |key: &Arc<str>| self.walk.asks_for(key) && !listed.contains(key);
            let mut keys: Vec<Arc<str>> = page.keys.into_iter().filter(is_new).collect();
            keys.sort_unstable();
            keys.dedup();
            for keys in keys.chunks(KEYS_PER_LOOK) {
                for lock in self.look(keys).await? {
                    listed.insert(lock.inspection.key().into());
                    self.send(Item::Lock(Box::new(lock))).await?;
                }
            }
        }
        Ok(true)
    }

    /// Asks all masters about these keys; returns what is to be listed.
    async fn look(&mut self, keys: &[Arc<str>]) -> Result<Vec<ListedLock>, Dropped> {
        let mut answers: Vec<Vec<Seen>> = Vec::new();
        let options = &self.walk.options;
        let readers: Vec<_> = keys.iter().map(|key| options.readers_of(key)).collect();
        let replies = self.ask_all("EVAL", |_| page::look(keys, &readers)).await?;
        for (node, reply) in replies.into_iter().enumerate() {
            let silent = self.nodes[node].as_ref().err().cloned();
            answers.push(match (reply, silent) {
                (Some(reply), _) => match page::looked(&reply, keys.len()) {
                    Ok(seen) => seen,
                    Err(error) => {
                        let permission = Permission::Eval;
                        let problem = FindingKind::Fails { permission, error: error.clone() };
                        self.tell(node, with_remedy(problem)).await?;
                        vec![Err(page::unknown(error)); keys.len()]
                    }
                },
                (None, silent) => vec![Err(silent.unwrap_or(Answer::Outstanding)); keys.len()],
            });
        }
        let Walk { masters, membership, options, leftovers, .. } = &self.walk;
        let mut locks = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            let Some((resource, slot)) = options.lock_of(key) else { continue };
            let seen = masters.iter().zip(&answers);
            let seen = seen.map(|(master, seen)| (master.name.clone(), seen[place].clone()));
            let merged = merge::merge(resource.into(), key.clone(), seen.collect(), *membership);
            let Some((verdict, lock)) = merged else { continue };
            let is_listed = match verdict {
                Verdict::Held => true,
                Verdict::Unclear => *leftovers || lock.is_ours(),
                Verdict::Leftover => *leftovers,
            };
            locks.extend(is_listed.then(|| lock.at_slot(slot)));
        }
        self.count_waiting(&mut locks).await?;
        self.find_enlisted(&mut locks).await?;
        let patience = self.walk.patience();
        self.walk.lister.mark(&mut locks, patience).await;
        Ok(locks)
    }

    /// Finds the clients that wait in a list. They listen to no channel of the key, except for the first.
    async fn find_enlisted(&mut self, locks: &mut [ListedLock]) -> Result<(), Dropped> {
        if locks.is_empty() {
            return Ok(());
        }
        let options = &self.walk.options;
        let waitlist = |lock: &ListedLock| options.waitlist(&page::channel(options, lock));
        let lists: Vec<_> = locks.iter().map(waitlist).collect();
        let replies = self.ask_all("EVAL", |_| page::waitlists(&lists)).await?;
        let found = replies.iter().flatten().filter_map(|reply| page::listed(reply, locks.len()));
        let found: Vec<_> = found.collect();
        for (place, lock) in locks.iter_mut().enumerate() {
            // A waiter stands in the list of one master.
            let listed = found.iter().map(|lists| lists[place].0).sum();
            lock.waiters.extend(found.iter().flat_map(|lists| lists[place].1.iter().copied()));
            lock.waiting = lock.waiting.map(|listening| listening.max(listed));
        }
        Ok(())
    }

    /// Adds up, over all masters, how many listen for a release of each lock. A client listens at
    /// one master for each key, or semaphore. If one master does not say, the sum is not known.
    async fn count_waiting(&mut self, locks: &mut [ListedLock]) -> Result<(), Dropped> {
        if locks.is_empty() {
            return Ok(());
        }
        let options = &self.walk.options;
        let channels: Vec<Arc<str>> =
            locks.iter().map(|lock| page::channel(options, lock)).collect();
        let databases: Vec<i64> =
            self.walk.masters.iter().map(|master| master.login.database).collect();
        let question =
            |node: usize| page::count_waiting(&wire::channels(databases[node]), &channels);
        let replies = self.ask_all("PUBSUB NUMSUB", question).await?;
        let counts: Option<Vec<_>> =
            replies.iter().flatten().map(|reply| page::counted(reply, channels.len())).collect();
        for (place, lock) in locks.iter_mut().enumerate() {
            lock.waiting = counts.as_ref().map(|counts| counts.iter().map(|row| row[place]).sum());
        }
        Ok(())
    }

    /// Asks all masters at once. A master without an answer yields `None`, and is lost.
    async fn ask_all(
        &mut self,
        name: &str,
        question: impl Fn(usize) -> Vec<u8>,
    ) -> Result<Vec<Option<Reply>>, Dropped> {
        let mut answers: Vec<Option<Result<Reply, FindingKind>>> = Vec::new();
        for (at, node) in self.nodes.iter_mut().enumerate() {
            answers.push(None);
            if let Ok(connection) = node {
                connection.send(&question(at));
            }
        }
        let all = poll_fn(|cx| {
            let mut is_done = true;
            for (node, answer) in self.nodes.iter_mut().zip(&mut answers) {
                let Ok(connection) = node else { continue };
                if answer.is_none() {
                    match connection.poll_next(cx) {
                        Poll::Ready(reply) => *answer = Some(reply),
                        Poll::Pending => is_done = false,
                    }
                }
            }
            if is_done { Poll::Ready(()) } else { Poll::Pending }
        });
        let patience = self.walk.patience();
        let _those_without_an_answer_are_lost = timeout(patience, all).await;
        let mut replies = Vec::new();
        for (node, answer) in answers.into_iter().enumerate() {
            replies.push(match answer {
                Some(Ok(reply)) => Some(reply),
                _ if self.nodes[node].is_err() => None,
                Some(Err(kind)) => self.lose(node, kind).await.map(|()| None)?,
                None => {
                    let silent = SideConnection::silent(name, patience);
                    self.lose(node, silent).await.map(|()| None)?
                }
            });
        }
        Ok(replies)
    }

    async fn lose(&mut self, node: usize, kind: FindingKind) -> Result<(), Dropped> {
        self.nodes[node] = Err(stands_for(&kind));
        self.tell(node, with_remedy(kind)).await
    }

    /// Reports what is wrong with a master, once.
    async fn tell(&mut self, node: usize, problem: impl Into<Arc<str>>) -> Result<(), Dropped> {
        let node = self.walk.masters[node].name.clone();
        if self.problems.iter().any(|known| known.node == node) {
            return Ok(());
        }
        let problem = NodeProblem { node, problem: problem.into() };
        self.problems.push(problem.clone());
        self.send(Item::Problem(problem)).await
    }

    async fn send(&mut self, item: Item) -> Result<(), Dropped> {
        self.items.send(item).await.map_err(|_| Dropped)
    }
}

/// Returns the answer in place of a master that cannot be asked.
fn stands_for(kind: &FindingKind) -> Answer {
    Answer::Refused(match kind {
        FindingKind::Unreachable(cause) | FindingKind::Silent(cause) => {
            Refusal::Down(cause.clone())
        }
        other => Refusal::Unfit(other.to_string().into()),
    })
}

fn with_remedy(kind: FindingKind) -> String {
    let Finding { kind, remedy, .. } = kind.into();
    format!("{kind}: {remedy}")
}
