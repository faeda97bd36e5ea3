//! From the lines of a history to the operations of each resource. The README has the format.

use crate::edn::Edn;
use crate::spec::{Answer, Fence, HoldsWith, Lock, LockOp, Store, Write};
use porcupine_rs::{Model, Operation};
use std::collections::BTreeMap;
use std::fmt;

/// An operation that never returned.
const NEVER: u64 = i64::MAX as u64;

/// Each resource's operations on its lock, with its fencing tokens, and at its store.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) locks: BTreeMap<String, Vec<Operation<Lock>>>,
    pub(crate) fences: BTreeMap<String, Vec<Operation<Fence>>>,
    pub(crate) stores: BTreeMap<String, Vec<Operation<Store>>>,
}

/// A line that is not of a history, or that cannot follow those before it.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    /// From one on.
    pub line: usize,
    pub problem: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for Malformed {}

impl History {
    /// Reads a history. Lines of faults and of the run, whose process is no number, are not judged.
    ///
    /// # Errors
    ///
    /// The first line that is not understood. Nothing is left out in silence.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        let mut processes: BTreeMap<u64, Process> = BTreeMap::new();
        for (number, line) in (1..).zip(text.split_terminator('\n')) {
            let read = Edn::parse(line).and_then(|line| match line.get("process") {
                Edn::Integer(id) => {
                    processes.entry(*id).or_insert_with(|| Process::new(*id)).follow(&line)
                }
                Edn::Keyword(_) => Ok(()),
                _ => Err(missing("process")),
            });
            read.map_err(|problem| Malformed { line: number, problem })?;
        }
        let mut history = Self::default();
        processes.values().for_each(|process| history.add(process));
        Ok(history)
    }

    /// Returns the number of holds, each once for every resource, and of writes.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let holds = self.locks.values().map(|ops| ops.len() / 2).sum();
        (holds, self.stores.values().map(Vec::len).sum())
    }

    /// Adds what one process has done. An acquire without a hold constrains nothing: no client relied on
    /// what it may have left, which only keeps others out until it expires.
    fn add(&mut self, process: &Process) {
        for (resource, write) in &process.writes {
            self.stores.entry(resource.clone()).or_default().push(write.clone());
        }
        let (Some(wish), Some(hold)) = (&process.wish, &process.hold) else { return };
        // Until its deadline the client chooses the end, and from then on no client does.
        let end = match hold.released {
            Some((call, end)) if call <= hold.until => (call, end),
            _ => (hold.until, NEVER),
        };
        let (hold_id, reads, permits) = (process.id, wish.reads, wish.permits);
        for resource in &wish.resources {
            let about = || format!("{} of {}", process.client, resource);
            let acquire = LockOp::Acquire { hold: hold_id, reads, permits };
            let lock = self.locks.entry(resource.clone()).or_default();
            lock.push(operation(wish.call, hold.from, acquire, about()));
            lock.push(operation(end.0, end.1, LockOp::End { hold: hold_id }, about()));
            if wish.fenced {
                // Without a token, which no lock can begin with.
                let held = HoldsWith(hold.token.unwrap_or(0));
                let fence = self.fences.entry(resource.clone()).or_default();
                fence.push(operation(hold.from, end.0, held, about()));
            }
        }
    }
}

fn operation<M: Model<Metadata = String>>(
    call: u64,
    end: u64,
    op: M::Op,
    about: String,
) -> Operation<M> {
    let time = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
    let (call_time, return_time) = (time(call), time(end.max(call)));
    Operation { client_id: None, call_time, return_time, op, metadata: Some(about) }
}

fn missing(key: &str) -> String {
    format!("`:{key}` is missing or of another type")
}

/// A process of a history: one acquire, and the hold that came of it.
#[derive(Debug)]
struct Process {
    id: u64,
    client: String,
    /// The operation that has not returned.
    pending: Option<(String, u64)>,
    wish: Option<Wish>,
    hold: Option<Hold>,
    writes: Vec<(String, Operation<Store>)>,
}

#[derive(Debug)]
struct Wish {
    call: u64,
    resources: Vec<String>,
    reads: bool,
    fenced: bool,
    permits: usize,
}

#[derive(Debug)]
struct Hold {
    from: u64,
    until: u64,
    token: Option<u64>,
    /// The call of the release, and its return.
    released: Option<(u64, u64)>,
}

impl Process {
    fn new(id: u64) -> Self {
        let (client, pending, wish, hold) = (format!("process {id}"), None, None, None);
        Self { id, client, pending, wish, hold, writes: Vec::new() }
    }

    /// Takes the next line of this process.
    fn follow(&mut self, line: &Edn) -> Result<(), String> {
        let text = |key| line.get(key).as_keyword().ok_or_else(|| missing(key));
        let (kind, f) = (text("type")?, text("f")?);
        let at = line.get("time").as_integer().ok_or_else(|| missing("time"))?;
        if let Some(client) = line.get("client").as_text() {
            self.client = format!("{client} (process {})", self.id);
        }
        if kind == "invoke" {
            if let Some((other, _)) = self.pending.replace((f.to_owned(), at)) {
                return Err(format!("process {} is still in `:{other}`", self.id));
            }
            return self.invoke(f, at, line.get("value"));
        }
        let Some((_, call)) = self.pending.take().filter(|(invoked, _)| invoked == f) else {
            return Err(format!("process {} has not invoked `:{f}`", self.id));
        };
        if at < call {
            return Err(format!("`:{f}` returns at {at}, before its call at {call}"));
        }
        self.complete(kind, f, at, line.get("value"))
    }

    fn invoke(&mut self, f: &str, at: u64, value: &Edn) -> Result<(), String> {
        match (f, &mut self.hold) {
            ("acquire", None) if self.wish.is_none() => {
                self.wish = Some(Wish::of(at, value)?);
                Ok(())
            }
            ("acquire", _) => Err("a second `:acquire`: each has a process of its own".to_owned()),
            ("write", _) => {
                let resource =
                    value.get("resource").as_text().ok_or_else(|| missing("resource"))?;
                let token = value.get("token").as_integer().ok_or_else(|| missing("token"))?;
                let write = Write { token, answer: Answer::Unknown };
                let write = operation(at, NEVER, write, format!("{} to {resource}", self.client));
                self.writes.push((resource.to_owned(), write));
                Ok(())
            }
            ("deadline", Some(_)) => Ok(()),
            ("release", Some(hold)) if hold.released.is_none() => {
                hold.released = Some((at, NEVER));
                Ok(())
            }
            ("deadline" | "release", _) => Err(format!("`:{f}` without a hold")),
            _ => Err(format!("no operation is called `:{f}`")),
        }
    }

    fn complete(&mut self, kind: &str, f: &str, at: u64, value: &Edn) -> Result<(), String> {
        let until = || value.get("until").as_integer().ok_or_else(|| missing("until"));
        match (f, kind, &mut self.hold) {
            ("acquire", "ok", _) => {
                let (until, token) = (until()?, value.get("token").as_integer());
                self.hold = Some(Hold { from: at, until, token, released: None });
            }
            ("deadline", "ok", Some(hold)) => hold.until = hold.until.max(until()?),
            ("release", "ok", Some(hold)) => {
                hold.released = hold.released.map(|(call, _)| (call, at));
            }
            ("write", "ok" | "fail", _) => {
                if let Some((_, write)) = self.writes.last_mut() {
                    write.return_time = i64::try_from(at).unwrap_or(i64::MAX);
                    write.op.answer = if kind == "ok" { Answer::Accepted } else { Answer::Stale };
                }
            }
            (_, "fail" | "info", _) => {}
            _ => return Err(format!("no operation ends with `:{kind}`")),
        }
        Ok(())
    }
}

impl Wish {
    fn of(call: u64, value: &Edn) -> Result<Self, String> {
        let resources = value.get("resources").as_vector().filter(|all| !all.is_empty());
        let resources = resources.and_then(|all| {
            all.iter().map(|name| name.as_text().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        let claim = value.get("claim").as_keyword().unwrap_or_default();
        if !["alone", "fenced", "shared", "fair", "fair-fenced", "warm"].contains(&claim) {
            return Err(missing("claim"));
        }
        let permits = value.get("permits").as_integer().and_then(|count| count.try_into().ok());
        Ok(Self {
            call,
            resources: resources.ok_or_else(|| missing("resources"))?,
            reads: claim == "shared",
            fenced: claim.ends_with("fenced"),
            permits: permits.filter(|count| *count > 0).ok_or_else(|| missing("permits"))?,
        })
    }
}
