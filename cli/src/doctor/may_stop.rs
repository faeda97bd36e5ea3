//! Whether a master may be stopped now: the others must be a quorum that may vote, and every lock
//! must have a quorum of its keys there.

use super::preflight_to_json;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::inspect;
use crate::list::{self, Found};
use crate::output::millis;
use crate::style::{Paint, Style};
use quorumlock::config::NodeAddress;
use quorumlock::preflight::NodePreflight;
use quorumlock::report::{OneLine, Span};
use quorumlock::{Holder, ListedLock, NodeState, Preflight, RedlockBuilder};
use serde_json::{Value, json};
use std::time::Duration;

/// Of more readers, a master shows those that end last.
const READERS_SHOWN: usize = 100;

/// The most locks that the text names.
const NAMED: usize = 10;

/// What a master has of one hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Has,
    Lacks,
    /// It may vote, and did not say.
    Unknown,
    /// It may not vote, so its key does not count, whether or not it has one.
    NoVote,
}

/// The answer; of several, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Yes,
    NotKnown,
    No,
}

/// Finds the master that is meant: by its name in reports, or as it is configured.
fn place_among(node: &str, names: &[&str]) -> Option<usize> {
    let address = node.parse().or_else(|_| format!("redis://{node}").parse::<NodeAddress>());
    let shown = address.map_or_else(|_| node.to_owned(), |address| address.to_string());
    let shown = shown.split_once("://").map_or(&*shown, |(_, shown)| shown);
    let is_it = |name: &&str| {
        let end = shown.strip_prefix(name);
        *name == node || end.is_some_and(|end| end.is_empty() || end.starts_with(['/', '?', '#']))
    };
    names.iter().position(is_it)
}

/// Answers about the master of this name, with its reasons in a few lines.
pub(super) async fn may_stop(
    preflight: &Preflight,
    node: &str,
    builder: RedlockBuilder,
    style: Style,
) -> Result<(Exit, String, Value)> {
    let nodes = preflight.nodes();
    let names: Vec<&str> = nodes.iter().map(|node| &*node.node).collect();
    let Some(place) = place_among(node, &names) else {
        let problem = "--may-stop names none of the masters, which are";
        return Err(Failure::usage(format!("{problem} {}", OneLine(names.join(", ")))));
    };
    let stopped = &nodes[place].node;
    let left = |node: &NodePreflight| node.votes_in().filter(|_| node.node != *stopped);
    let is_enough =
        |wait: &Duration| preflight.is_quorum(|node| left(node).is_some_and(|left| left <= *wait));
    // How long it takes until the others are a quorum that may vote; `None` if time does not help.
    let quorum_in = nodes.iter().filter_map(left).filter(is_enough).min();
    // If the others are no quorum, no lock is looked at.
    let has_looked = quorum_in == Some(Duration::ZERO);
    let found = match has_looked {
        true => list::find(&builder.connect().await?, "", false).await,
        false => Found::default(),
    };
    let judged = |answer: Answer| -> Vec<&ListedLock> {
        found.locks.iter().filter(|lock| judge_lock(preflight, place, lock) == answer).collect()
    };
    let (losing, not_known) = (judged(Answer::No), judged(Answer::NotKnown));
    let without = format!("without {}", OneLine(stopped));
    let others = nodes.iter().filter(|node| left(node) == Some(Duration::ZERO)).count();
    let counted = format!("{without}, {others} of {} masters may vote", nodes.len());
    let all = found.locks.len();
    let (answer, reason) = match (has_looked, losing.len(), not_known.len(), &found.error) {
        (false, ..) => {
            let wait = quorum_in.map(|left| format!("; a quorum may vote in {}", Span(left)));
            (Answer::No, format!("{counted}, which is no quorum{}", wait.unwrap_or_default()))
        }
        (_, 0, 0, None) => {
            let why = format!("{counted}, and no lock loses its quorum of keys ({all} found)");
            (Answer::Yes, why)
        }
        (_, 0, 0, Some(error)) => (Answer::NotKnown, error.to_string()),
        (_, 0, unknown, _) => {
            let unknown = format!("{unknown} of {all} locks have a quorum of keys");
            (Answer::NotKnown, format!("too few masters say whether {unknown}"))
        }
        (_, losing, ..) => {
            let why = format!("{without}, {losing} of {all} locks would have no quorum of keys");
            (Answer::No, why)
        }
    };
    let (exit, head, paint, word) = match answer {
        Answer::Yes => (Exit::SUCCESS, "may stop", Paint::Good, "yes"),
        Answer::NotKnown => (Exit::NOT_KNOWN, "not known", Paint::Warning, "not_known"),
        Answer::No => (Exit::MAY_NOT_STOP, "may not stop", Paint::Bad, "no"),
    };
    let listed = if losing.is_empty() { &not_known } else { &losing };
    let mut lines = vec![style.wrap(0, 4, &format!("{}: {reason}", style.paint(head, paint)))];
    lines.extend(listed.iter().take(NAMED).map(|lock| style.wrap(4, 6, &lock.to_string())));
    if listed.len() > NAMED {
        lines.push(format!("    and {} more", listed.len() - NAMED));
    }
    let to_json = |locks: &[&ListedLock]| locks.iter().map(|lock| list::to_json(lock)).collect();
    let [losing, not_known] =
        [losing, not_known].map(|few| has_looked.then(|| -> Value { to_json(&few) }));
    let mut value = preflight_to_json(preflight, exit);
    value["may_stop"] = json!({
        "node": &**stopped,
        "answer": word,
        "reason": reason,
        "quorum_in_ms": quorum_in.map(millis),
        "locks": has_looked.then_some(all),
        "losing": losing,
        "not_known": not_known,
    });
    Ok((exit, lines.join("\n"), value))
}

fn judge_lock(preflight: &Preflight, stopped: usize, lock: &ListedLock) -> Answer {
    let nodes = preflight.nodes();
    let place = |node: &NodePreflight| nodes.iter().position(|other| other.node == node.node);
    let is_quorum = |wanted: &dyn Fn(usize) -> bool| {
        preflight.is_quorum(|node| place(node).is_some_and(wanted))
    };
    let holds = holds(lock, |place| nodes[place].votes_in() == Some(Duration::ZERO));
    let answers = holds.iter().map(|keys| judge(keys, stopped, is_quorum));
    answers.max().unwrap_or(Answer::Yes)
}

/// Judges one hold by what each master has of it.
fn judge(
    keys: &[Key],
    stopped: usize,
    is_quorum: impl Fn(&dyn Fn(usize) -> bool) -> bool,
) -> Answer {
    let is = |place: usize, wanted: &[Key]| keys.get(place).is_some_and(|key| wanted.contains(key));
    let remains = |wanted: &[Key]| is_quorum(&|place| place != stopped && is(place, wanted));
    let (sure, perhaps) = (&[Key::Has][..], &[Key::Has, Key::Unknown][..]);
    if !is(stopped, perhaps) || remains(sure) {
        Answer::Yes
    } else if is_quorum(&|place| is(place, sure)) && !remains(perhaps) {
        Answer::No
    } else if is_quorum(&|place| !is(place, &[Key::Lacks])) {
        Answer::NotKnown
    } else {
        // It is left over on a few masters, and no client holds it.
        Answer::Yes
    }
}

/// Returns each hold that there may be of a lock, that of each reader if it is read, as what each
/// master has of it. A hold whose work has ended is none: no client would lose it, and the keys that
/// remain keep the others out.
fn holds(lock: &ListedLock, votes: impl Fn(usize) -> bool) -> Vec<Vec<Key>> {
    let nodes = lock.inspection().nodes();
    let holders = nodes.iter().filter_map(|node| match &node.state {
        NodeState::Held(holder) => Some(holder),
        _ => None,
    });
    let ended: Vec<&Holder> = holders.clone().filter(|holder| holder.has_ended()).collect();
    let has_ended = |hold: &Holder| ended.iter().any(|ended| ended.same_hold_as(hold));
    // A hold that several masters have is judged as often.
    let shown = holders.clone().flat_map(inspect::holds).filter(|hold| !has_ended(hold)).map(Some);
    // Readers that no master shows.
    let hidden = holders.clone().any(hides).then_some(None);
    let key = |hold: Option<&Holder>, place: usize| match &nodes[place].state {
        _ if !votes(place) => Key::NoVote,
        NodeState::Held(holder) => match hold {
            Some(hold) if inspect::is_among(hold, holder) => Key::Has,
            _ if hides(holder) => Key::Unknown,
            _ => Key::Lacks,
        },
        NodeState::Free | NodeState::Kept(_) => Key::Lacks,
        _ => Key::Unknown,
    };
    let keys = |hold| (0..nodes.len()).map(|place| key(hold, place)).collect();
    shown.chain(hidden).map(keys).collect()
}

/// Checks whether a master may have more readers than it shows.
fn hides(holder: &Holder) -> bool {
    let shown = holder.readers().len();
    holder.is_shared() && (shown == 0 || shown >= READERS_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::Key::{Has, Lacks, NoVote, Unknown};
    use super::*;

    /// Judges by a majority of each list.
    fn judged(keys: &[Key], stopped: usize, lists: &[&[usize]]) -> Answer {
        judge(keys, stopped, |wanted| {
            let majority = |list: &&[usize]| {
                list.iter().filter(|place| wanted(**place)).count() > list.len() / 2
            };
            lists.iter().all(majority)
        })
    }

    #[test]
    fn a_hold_needs_a_quorum_of_keys_on_the_masters_that_remain_and_may_vote() {
        for (keys, stopped, expected) in [
            ([Has, Has, Has, Has, Has], 0, Answer::Yes),
            ([Has, Has, Has, Has, Lacks], 0, Answer::Yes),
            ([Has, Has, Has, Lacks, Lacks], 0, Answer::No),
            // It has no key of it.
            ([Has, Has, Has, Lacks, Lacks], 4, Answer::Yes),
            ([Has, Has, Has, NoVote, Lacks], 3, Answer::Yes),
            // A key on a master that may not vote confirms no extension.
            ([Has, Has, Has, NoVote, NoVote], 0, Answer::No),
            ([Has, Has, Has, Has, NoVote], 0, Answer::Yes),
            ([Has, Has, Has, Unknown, Lacks], 0, Answer::NotKnown),
            ([Has, Has, Has, Unknown, Lacks], 3, Answer::Yes),
            ([Has, Has, Unknown, Lacks, Lacks], 0, Answer::NotKnown),
            ([Has, Has, Unknown, Lacks, Lacks], 2, Answer::NotKnown),
            ([Has, Has, NoVote, Lacks, Lacks], 0, Answer::NotKnown),
            ([Unknown; 5], 0, Answer::NotKnown),
            ([NoVote; 5], 0, Answer::Yes),
            // Left over, and held by no client.
            ([Has, Has, Lacks, Lacks, Lacks], 0, Answer::Yes),
        ] {
            let judged = judged(&keys, stopped, &[&[0, 1, 2, 3, 4]]);
            assert_eq!(judged, expected, "{keys:?} without {stopped}");
        }
    }

    #[test]
    fn of_two_lists_each_needs_its_quorum() {
        let lists: [&[usize]; 2] = [&[0, 1, 2], &[2, 3, 4]];
        for (keys, stopped, expected) in [
            ([Has, Has, Has, Has, Has], 2, Answer::Yes),
            ([Has, Has, Has, Has, Lacks], 0, Answer::Yes),
            ([Has, Has, Has, Has, Lacks], 2, Answer::No),
            ([Has, Has, Lacks, Has, Has], 3, Answer::No),
            ([Has, Has, Lacks, Has, Unknown], 3, Answer::NotKnown),
            // A quorum of the first list alone is no hold.
            ([Has, Has, Has, Lacks, Lacks], 0, Answer::Yes),
        ] {
            assert_eq!(judged(&keys, stopped, &lists), expected, "{keys:?} without {stopped}");
        }
    }

    #[test]
    fn no_outweighs_not_known_and_that_yes() {
        assert_eq!([Answer::Yes, Answer::No, Answer::NotKnown].into_iter().max(), Some(Answer::No));
        assert!(Answer::NotKnown > Answer::Yes);
    }

    #[test]
    fn a_master_is_named_as_in_reports_or_as_in_the_configuration() {
        let names = ["10.0.0.1:6379", "10.0.0.1:63790", "[::1]:6379", "/run/redis.sock"];
        for (node, expected) in [
            ("10.0.0.1:6379", Some(0)),
            ("10.0.0.1", Some(0)),
            ("redis://10.0.0.1", Some(0)),
            ("rediss://locks:p%40ss@10.0.0.1:6379/3", Some(0)),
            ("redis://:pass@10.0.0.1:63790", Some(1)),
            ("[::1]", Some(2)),
            ("[::1]:6379", Some(2)),
            ("/run/redis.sock", Some(3)),
            ("unix:///run/redis.sock?db=2", Some(3)),
            ("10.0.0.2", None),
            ("10.0.0.1:637", None),
            ("", None),
            ("1", None),
        ] {
            assert_eq!(place_among(node, &names), expected, "{node}");
        }
    }
}
