//! Commands and events as words, and words as the replies of a master.

use crate::lock::NotAdopted;
use crate::obstacle::Obstacle;
use crate::questions::{Seen, StoredValue};
use crate::report::{LossReason, NodeReport};
use crate::shared::{AttemptId, Event, FailureKind, NotExtended, Release};
use crate::wire::{self, Reply};
use std::collections::BTreeMap;
use std::time::Duration;

const WITHDRAW: &str = include_str!("../../wire/scripts/withdraw.lua").trim_ascii_end();
const INSPECT: &str = include_str!("../../wire/scripts/inspect.lua").trim_ascii_end();
const AGREE: &str = include_str!("../../wire/scripts/agree.lua").trim_ascii_end();

/// Tokens by the order in which they were first seen: `#1`, `#2`.
pub(super) struct Tokens {
    sign: char,
    seen: Vec<String>,
    /// Scripts and their hashes, by name.
    scripts: Vec<(&'static str, String)>,
    /// Whether a release by hash is distinguished from one in full.
    pub(super) ways: bool,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self::of('#')
    }

    /// Creates tokens with another sign before the number.
    pub(super) fn of(sign: char) -> Self {
        let named = [
            ("acquire", wire::ACQUIRE),
            ("extend", wire::EXTEND),
            ("release", wire::RELEASE),
            ("release_all", wire::RELEASE_ALL),
            ("acquire_read", wire::ACQUIRE_READ),
            ("extend_read", wire::EXTEND_READ),
            ("release_read", wire::RELEASE_READ),
            ("waitlist", wire::WAITLIST),
            ("top_up", wire::TOP_UP),
            ("shorten", wire::SHORTEN),
            ("shorten_hint", wire::SHORTEN_HINT),
            ("notify", wire::NOTIFY),
            ("inspect", INSPECT),
            ("look", wire::LOOK),
            ("withdraw", WITHDRAW),
            ("agree", AGREE),
        ];
        let hash = |script| redis::Script::new(script).get_hash().to_owned();
        let both = |(name, script)| [(name, String::from(script)), (name, hash(script))];
        let scripts = named.into_iter().flat_map(both).collect();
        Self { sign, seen: Vec::new(), scripts, ways: false }
    }

    fn script(&self, text: &str) -> Option<&'static str> {
        self.scripts.iter().find_map(|(name, body)| (body == text).then_some(*name))
    }

    pub(super) fn name(&mut self, token: &str) -> String {
        let known = self.seen.iter().position(|other| other == token);
        let place = known.unwrap_or_else(|| {
            self.seen.push(token.to_owned());
            self.seen.len() - 1
        });
        format!("{}{}", self.sign, place + 1)
    }
}

/// Checks for 32 hex digits, and a label if there is one.
fn is_token(text: &str) -> bool {
    let random = text.split_once(':').map_or(text, |(random, _)| random);
    random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns a command with its arguments; scripts and tokens by their names.
pub(super) fn command(sent: &Reply, tokens: &mut Tokens) -> String {
    let ways = tokens.ways;
    let Reply::Array(parts) = sent else { panic!("{sent:?} is no command") };
    let words = parts.iter().map(|part| match part.text().expect("a bulk string") {
        text if tokens.script(text).is_some() => tokens.script(text).unwrap_or_default().into(),
        "" => "''".into(),
        text if is_token(text) => tokens.name(text),
        text => text.to_owned(),
    });
    let mut words = words.collect::<Vec<_>>();
    if words.first().is_some_and(|verb| verb == "EVALSHA") && words[1] == "waitlist" {
        // By its verb, which is behind the keys.
        let keys: usize = words[2].parse().expect("a number of keys");
        words[1] = words.remove(3 + keys);
    }
    match words.as_slice() {
        [evalsha, script, rest @ ..]
            if !ways
                && evalsha == "EVALSHA"
                && (script.starts_with("release") || script == "leave") =>
        {
            format!("EVAL {script} {}", rest.join(" "))
        }
        _ => words.join(" "),
    }
}

/// Returns an event in words; a win is noted under the number of its request.
pub(super) fn event(event: &Event, holds: &mut BTreeMap<u64, AttemptId>) -> String {
    match event {
        Event::Connected => "connected".into(),
        Event::Acquired { request, attempt, deadline, ballot } => {
            holds.insert(request.0, *attempt);
            let with = ballot.map_or_else(String::new, |ballot| format!(" with {ballot}"));
            format!("acquired {} until {}{with}", request.0, millis(deadline.as_nanos()))
        }
        Event::NotAcquired { request, failure, waited } => {
            let kind = match &failure.kind {
                FailureKind::Contended(_) => "contended",
                FailureKind::NoQuorum | FailureKind::TooLate => "no quorum",
                FailureKind::Disagreement(_) => "disagreement",
                FailureKind::Overloaded => "overloaded",
            };
            let (tried, waited) = (failure.attempts, span(*waited));
            let holder = match &failure.kind {
                FailureKind::Contended(Obstacle::Permits { all, free_in }) => {
                    let left = free_in.map_or_else(|| "?".into(), span);
                    let request = request.0;
                    return format!("all {all} taken {request} at {tried} after {waited}: {left}");
                }
                FailureKind::Contended(Obstacle::Holder(Some(label))) => format!(" by {label}"),
                _ => String::new(),
            };
            let answers = answers(&failure.reports);
            let ahead = failure.ahead.map_or_else(String::new, |ahead| format!(", {ahead} ahead"));
            format!("{kind} {} at {tried} after {waited}{holder}{ahead}: {answers}", request.0)
        }
        Event::NoRandomness { request } => format!("no randomness {}", request.0),
        Event::Extended { request, result, .. } => {
            let who = request.map_or_else(|| "by its keeper".into(), |id| id.0.to_string());
            match result {
                Ok(extended) => {
                    format!("extended {who} until {}", millis(extended.deadline.as_nanos()))
                }
                Err(NotExtended::Lost) => format!("extend {who} lost"),
                Err(NotExtended::Unconfirmed(reports)) => {
                    format!("extend {who} unconfirmed: {}", answers(reports))
                }
            }
        }
        Event::Released { request, release } => match release {
            Release::Released => format!("released {}", request.0),
            Release::Lost(why) => format!("release {} lost: {}", request.0, loss(why)),
            Release::Unconfirmed(reports) => {
                format!("release {} unconfirmed: {}", request.0, answers(reports))
            }
        },
        Event::Inspected { request, nodes, waiting } => {
            let found: Vec<String> = nodes.iter().map(|(_, state)| seen(state)).collect();
            let waiting = waiting.map_or_else(String::new, |many| format!(", {many} waiting"));
            format!("inspected {}: {}{waiting}", request.0, found.join(" | "))
        }
        Event::ForceReleased { request, result } => match result {
            Ok(reports) => format!("forced {}: {}", request.0, answers(reports)),
            Err(reports) => format!("not forced {}: {}", request.0, answers(reports)),
        },
        Event::Broken(invariant) => format!("broken: {}", invariant.as_str()),
        Event::Lost { attempt, reason } => {
            let request = holds.iter().find_map(|(request, id)| (id == attempt).then_some(request));
            format!("lost {}: {}", request.expect("a hold"), loss(reason))
        }
        Event::Asked { request, heard } => format!("asked {}: {heard}", request.0),
        Event::Keep { .. } => panic!("it begins at once"),
        Event::Wanted { attempt } => {
            let request = holds.iter().find_map(|(request, id)| (id == attempt).then_some(request));
            format!("wanted {}", request.expect("a hold"))
        }
        Event::InTheWay { request, found } => {
            let word = |obstacle: &Option<_>| obstacle.as_ref().map_or("nothing", Obstacle::as_str);
            let found: Vec<_> = found.iter().map(word).collect();
            format!("in the way of {}: {}", request.0, found.join(" "))
        }
        Event::Looked { request, free_in } => {
            let free_in = free_in.iter().map(|time| time.map_or_else(|| "?".into(), span));
            format!("looked {}: {}", request.0, free_in.collect::<Vec<_>>().join(" "))
        }
        Event::Ahead { request, ahead: Some(ahead) } => format!("{ahead} ahead of {}", request.0),
        Event::Ahead { request, ahead: None } => format!("{} has left the queues", request.0),
        Event::Heard { listener, message: Some(message) } => {
            format!("heard {} {message}", listener.0).trim_end().into()
        }
        Event::Heard { listener, message: None } => format!("listens {}", listener.0),
        Event::Detached { request, result, .. } => match result {
            Ok(lock) if lock.unsettled.is_empty() => format!("detached {}", request.0),
            Ok(lock) => format!("detached {} without {}", request.0, lock.unsettled.join(" ")),
            Err(NotExtended::Lost) => format!("detach {} lost", request.0),
            Err(NotExtended::Unconfirmed(reports)) => {
                format!("detach {} unconfirmed: {}", request.0, answers(reports))
            }
        },
        Event::Adopted { request, result } => match result {
            Ok(adopted) => {
                holds.insert(request.0, adopted.attempt);
                let last = if adopted.is_last { ", the last" } else { "" };
                let until = millis(adopted.deadline.as_nanos());
                format!("adopted {} until {until}{last}", request.0)
            }
            Err(NotAdopted::HeldHere) => format!("adopt {}: held here", request.0),
            Err(NotAdopted::Lost(why)) => format!("adopt {} lost: {}", request.0, loss(why)),
            Err(NotAdopted::Unconfirmed(reports)) => {
                format!("adopt {} unconfirmed: {}", request.0, answers(reports))
            }
        },
        Event::Downgraded { request, result, .. } => match result {
            Ok(extended) => {
                let until = millis(extended.deadline.as_nanos());
                format!("downgraded {} until {until}", request.0)
            }
            Err(NotExtended::Lost) => format!("downgrade {} lost", request.0),
            Err(NotExtended::Unconfirmed(reports)) => {
                format!("downgrade {} unconfirmed: {}", request.0, answers(reports))
            }
        },
        Event::Observed(observation) => format!("observed {observation:?}"),
    }
}

fn seen(seen: &Seen) -> String {
    match seen {
        Ok(None) => "free".into(),
        Ok(Some(StoredValue { value, remaining: Some(left), .. })) => {
            format!("{value} for {}", span(*left))
        }
        Ok(Some(StoredValue { value, remaining: None, .. })) => format!("{value} for ever"),
        Err(answer) => answer.to_string(),
    }
}

fn loss(reason: &LossReason) -> String {
    match reason {
        LossReason::QuorumGone(reports) => format!("quorum gone: {}", answers(reports)),
        other => other.as_str().into(),
    }
}

/// Returns each master's answer, in their order.
fn answers(reports: &[NodeReport]) -> String {
    for (node, report) in reports.iter().enumerate() {
        assert_eq!(*report.node, *format!("n{}", node + 1), "a report under another name");
    }
    reports.iter().map(|report| report.answer.to_string()).collect::<Vec<_>>().join(" | ")
}

/// Returns a master's reply in RESP3.
pub(super) fn reply(words: &str) -> Vec<u8> {
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
    match first {
        "ok" => "+OK\r\n".into(),
        "nil" => "_\r\n".into(),
        "hello" => format!(
            "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:{rest}\r\n"
        )
        .into(),
        "valkey" => format!(
            "%4\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$7\r\nversion\r\n$5\r\n9.1.2\r\n$5\r\nproto\r\n:3\r\n\
             $2\r\nid\r\n:{rest}\r\n"
        )
        .into(),
        // `redis 8.6.3 1`: a version, and the id of the connection.
        "redis" => {
            let (version, id) = rest.split_once(' ').expect("a version and an id");
            let version = bulk("version") + &bulk(version);
            format!("%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n{version}$2\r\nid\r\n:{id}\r\n").into()
        }
        // `server run1`, or `server run1 up 7`: seconds.
        "server" => {
            let (run_id, uptime) = rest.split_once(" up ").unwrap_or((rest, "86400"));
            let uptime = format!("uptime_in_seconds:{uptime}\r\n");
            info(&format!("# Server\r\nredis_version:7.0.15\r\nrun_id:{run_id}\r\n{uptime}"))
        }
        // `memory` of a master that is never full, or `memory 900 allkeys-lru`: the bytes, the policy.
        "memory" => {
            let (bytes, policy) = rest.split_once(' ').unwrap_or(("0", "noeviction"));
            info(&format!("# Memory\r\nmaxmemory:{bytes}\r\nmaxmemory_policy:{policy}\r\n"))
        }
        // The answers after the role in a handshake, and to a heartbeat.
        "agreed" => ["memory", "text c0ffee", "text c0ffee", "confirmed"].map(reply).concat(),
        "known" => ["master", "memory", "confirmed"].map(reply).concat(),
        "master" => info("# Replication\r\nrole:master\r\nconnected_slaves:0\r\n"),
        "replica" => {
            let (host, port) = rest.split_once(':').expect("host:port");
            info(&format!("role:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\n"))
        }
        "text" => bulk(rest).into(),
        // `refuses 0 1500 7 2000`: the reason, milliseconds, the fence, the node's clock. Of several keys, the place of the
        // one in the way follows.
        "refuses" => {
            let words: Vec<&str> = rest.split(' ').collect();
            let (why, left, fence, clock) = (words[0], words[1], bulk(words[2]), bulk(words[3]));
            let place = words.get(4).unwrap_or(&"0");
            format!("*5\r\n:{why}\r\n:{left}\r\n{fence}{clock}:{place}\r\n").into()
        }
        // `listed 0 1500 7 2 aa 5`: what was found, milliseconds, the stamp, how many are ahead, the process
        // that holds it, the latest call, of that process. `5/bb`: of another. Of a semaphore, a slot follows.
        "listed" => {
            let words: Vec<&str> = rest.split(' ').chain(["", ""]).collect();
            let call = words[5].replace('/', " ");
            let by = if call.is_empty() || call.contains(' ') { "" } else { &format!(" {}", words[4]) };
            let sight = bulk(words[2]) + ":" + words[3] + "\r\n" + &bulk(words[4]) + &bulk(&(call + by));
            let slot = words.get(6).filter(|word| !word.is_empty());
            let (parts, slot) = slot.map_or((6, String::new()), |slot| (7, format!(":{slot}\r\n")));
            format!("*{parts}\r\n:{}\r\n:{}\r\n{sight}{slot}", words[0], words[1]).into()
        }
        // `called 1 2 3`: a waiter was, listeners, waiters.
        "called" => format!("*3\r\n:{}\r\n", rest.replace(' ', "\r\n:")).into(),
        // `held 1500 who`: the answer to a look.
        "held" => {
            let (left, value) = rest.split_once(' ').expect("a value");
            format!("*2\r\n:{left}\r\n{}", bulk(value)).into()
        }
        // `stands 1500 who`: milliseconds, the value.
        "stands" => {
            let (left, value) = rest.split_once(' ').expect("a value");
            format!("*2\r\n{}:{left}\r\n", bulk(value)).into()
        }
        // `queued 3`, or `queued 3 1500 who`: how many wait; what stands.
        "queued" => {
            let (many, stands) = rest.split_once(' ').unwrap_or((rest, "-2 "));
            let (left, value) = stands.split_once(' ').expect("a value");
            let value = if left == "-2" { "_\r\n" } else { &bulk(value) };
            format!("*4\r\n{value}:{left}\r\n*0\r\n:{many}\r\n").into()
        }
        "confirmed" => b"*2\r\n:1700000000000\r\n:0\r\n".into(),
        "remembers" => b"*2\r\n:1700000000000\r\n:1\r\n".into(), // the server process, too
        "looked" => b"*2\r\n:0\r\n:0\r\n".into(),
        // `disagrees 900 max_ttl 60000`: milliseconds left, field, theirs; several with ` & `.
        "disagrees" => {
            let parts = rest.split(" & ").map(|difference| {
                let (left, text) = difference.split_once(' ').expect("what is left");
                let (field, theirs) = match text.strip_prefix("lists ") {
                    Some(lists) => ("lists", lists.replace(" + ", "\n")),
                    None => text.rsplit_once(' ').map(|(f, t)| (f, t.into())).expect("a field"),
                };
                format!("{}{}:{left}\r\n", bulk(field), bulk(&theirs))
            });
            let parts: Vec<String> = parts.collect();
            format!("*{}\r\n:0\r\n:0\r\n{}", 2 + 3 * parts.len(), parts.concat()).into()
        }
        // `config appendonly yes appendfsync always`
        "config" => {
            let words: Vec<&str> = rest.split(' ').collect();
            let texts: String = words.iter().map(|text| bulk(text)).collect();
            format!("%{}\r\n{texts}", words.len() / 2).into()
        }
        // `subscribed r`, `unsubscribed r`, `freed r`: the messages of channels.
        "subscribed" => push("subscribe", rest, ":1"),
        "unsubscribed" => push("unsubscribe", rest, ":0"),
        "freed" => push("message", rest, "$0\r\n"),
        // `says r 3`: a message with words.
        "says" => {
            let (key, message) = rest.split_once(' ').expect("what is said");
            push("message", key, &format!("${}\r\n{message}", message.len()))
        }
        "push" => format!(">2\r\n$7\r\nmessage\r\n${}\r\n{rest}\r\n", rest.len()).into(),
        "raw" => rest.replace("\\r\\n", "\r\n").into(),
        _ if first.parse::<i64>().is_ok() => format!(":{first}\r\n").into(),
        _ if first.starts_with('-') => format!("{words}\r\n").into(),
        _ => panic!("no reply is called {words}"),
    }
}

pub(super) fn push(kind: &str, key: &str, last: &str) -> Vec<u8> {
    let channel = format!("quorumlock:free:0:{key}");
    let (kinds, channels) = (kind.len(), channel.len());
    format!(">3\r\n${kinds}\r\n{kind}\r\n${channels}\r\n{channel}\r\n{last}\r\n").into()
}

fn info(text: &str) -> Vec<u8> {
    format!("={}\r\ntxt:{text}\r\n", text.len() + 4).into()
}

/// Returns nanoseconds as milliseconds: `9898ms`, `2.5ms`.
pub(super) fn millis(nanos: u64) -> String {
    let (whole, rest) = (nanos / 1_000_000, nanos % 1_000_000);
    let fraction = format!("{rest:06}");
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}ms"),
        digits => format!("{whole}.{digits}ms"),
    }
}

fn span(span: Duration) -> String {
    millis(u64::try_from(span.as_nanos()).expect("a sane span"))
}
