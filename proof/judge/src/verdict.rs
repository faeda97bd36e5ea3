//! The verdict on each resource, and on the history.

use crate::history::History;
use porcupine_rs::{
    CheckResult, Model, Operation, check_operations_info_timeout, check_operations_timeout,
};
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

/// Time for looking why a history is rejected.
const EXPLAINED: Duration = Duration::from_secs(5);

/// What is judged of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Lock,
    Fence,
    Store,
}

/// The judge's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// There is no right order: how far the longest one went, and what it cannot go on with.
    Rejected(String),
    /// The time was over before there was an answer.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Judgement {
    pub part: Part,
    pub resource: String,
    pub operations: usize,
    pub verdict: Verdict,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, operations) = (format!("{:?}", self.part).to_lowercase(), self.operations);
        write!(f, "{part} {}, {operations} operations: ", self.resource)?;
        match &self.verdict {
            Verdict::Accepted => f.write_str("accepted"),
            Verdict::Rejected(why) => write!(f, "REJECTED, {why}"),
            Verdict::Unknown => f.write_str("UNKNOWN, no answer within the time limit"),
        }
    }
}

/// Judges every part of every resource, within this time for all of them.
#[must_use]
pub fn judge(history: &History, limit: Duration) -> Vec<Judgement> {
    let until = Instant::now() + limit;
    let mut judgements = judge_all(Part::Lock, &history.locks, until);
    judgements.extend(judge_all(Part::Fence, &history.fences, until));
    judgements.extend(judge_all(Part::Store, &history.stores, until));
    judgements
}

fn judge_all<M: Model<Metadata = String>>(
    part: Part,
    of: &BTreeMap<String, Vec<Operation<M>>>,
    until: Instant,
) -> Vec<Judgement> {
    let judgement = |(resource, ops): (&String, &Vec<Operation<M>>)| Judgement {
        part,
        resource: resource.clone(),
        operations: ops.len(),
        verdict: verdict(ops, until.saturating_duration_since(Instant::now())),
    };
    of.iter().map(judgement).collect()
}

fn verdict<M: Model<Metadata = String>>(ops: &[Operation<M>], left: Duration) -> Verdict {
    // Whether a search that has no time at all comes to an end would be chance.
    if left.is_zero() {
        return Verdict::Unknown;
    }
    match check_operations_timeout(ops, left) {
        CheckResult::Ok => Verdict::Accepted,
        CheckResult::Illegal => Verdict::Rejected(explain(ops)),
        CheckResult::Unknown => Verdict::Unknown,
    }
}

/// Describes the longest order that the checker finds, up to the operation that it cannot place. Only the
/// words come from here: with a time limit, the checker's result would take the end of the time for a
/// rejection.
fn explain<M: Model<Metadata = String>>(ops: &[Operation<M>]) -> String {
    let (_, info) = check_operations_info_timeout(ops, EXPLAINED);
    let orders = info.partial_linearizations.into_iter().flatten();
    let longest = orders.max_by_key(Vec::len).unwrap_or_default();
    let state = longest.iter().fold(M::init(), |state, op| M::step(&state, &ops[*op].op).1);
    let left = ops.iter().enumerate().filter(|(at, _)| !longest.contains(at));
    let Some((_, op)) = left.min_by_key(|(_, op)| op.return_time) else { return String::new() };
    let about = op.metadata.as_deref().unwrap_or_default();
    format!(
        "after {} operations, with {state:?}, by {about}: {:?}, between {} and {}",
        longest.len(),
        op.op,
        op.call_time,
        op.return_time,
    )
}
