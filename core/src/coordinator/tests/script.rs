//! Scenarios as tables: one step per line.
//!
//! ```text
//! acquire 1 r wait 1s          request 1: resource r, by default ttl 10s and wait 0;
//!                              keep 60s, keep forever: with a keeper; fenced; delay 2s; least 20s;
//!                              warm 2s;
//!                              label me; candidate me, with its term;
//!                              `r+s`: several resources; `s@r=3`: s, announced on r as 3; probing;
//!                              `3of:r`: any of the slots r0, r1 and r2, announced on r;
//!                              `read:r`, `write:r`: with the readers `in:r` and the hint `next:r`
//! ask 8 r who ..               asks these holders for r by hand
//! extend 2 of 1                request 2 on the hold that request 1 has won
//! detach 2 of 1                request 2 on that hold
//! downgrade 2 of 1             request 2 on that hold, which becomes a reader's
//! adopt 3 of 2 [by other]      what request 2 has detached; as if the label were another's
//! give back 2 [of 3]           releases that, in no other hands, while request 3 adopts it
//! inspect 4 r | inspect 4 r all | force 5 r who  its holder; its readers and waiters; takes it away
//! look 7 r a b | look 7 all a b  when a and b are free: asks the first node of r, or all
//! listen 6 r | unlisten 6 r    hears what is published about r
//! back 1                       gives it back, or releases it if it is not kept warm
//! release 3 of 1 [in time] | finish 3 of 1 | drop 1 | forget 1 | lapsed 1 | cancel 1 | shutdown
//! n1-3,n5 < SET r #1 NX ..     what these masters were sent, next in order; `..` for any rest
//! n1 < DIAL | CLOSE | -        the machine dials, closes; nothing more was done there
//! n1 > ok                      what the master answers: see `words::reply`
//! n1 opens                     connects, and answers the handshake as a healthy master
//! n1 greets                    the same up to a CLIENT KILL, which the script has to answer
//! n1 asks | beats              what follows HELLO in a handshake; a heartbeat
//! n1 given p for 10s | every 2s  credentials with this password; `-`: none, for a reason
//! n1 connects | breaks | unreachable | restarts | stale
//! n1 takes 7 | takes all       how many more bytes the socket takes
//! = acquired 1 until 9898ms    the next event; `= -` for none
//! wall 1000                    the wall clock shows this many microseconds
//! +5ms                         time passes
//! ~5ms                         time passes, but not for the machine: it is held up
//! next 205ms                   poll_timeout names this instant
//! debts 3 | drained true | fault n1 down .. | no faults
//! stale n1 why | stale n1 -    why its credentials could not be renewed
//! jitter least | middle | most | none, when there are no random bytes
//! ```
//!
//! At the end everything must have been named. Once the stage is cleared (all holds dropped, all
//! masters healthy), nothing may be left in the machine's tables.

use super::stage::{DRIFT, MIDDLE, NO_RANDOMNESS, Stage};
use super::words::{millis, reply};
use crate::questions::{Beside, Question};
use crate::quorum::Nanos;
use crate::shared::AtLeast;
use crate::shared::{AcquireRequest, Keys, Label, ReadWrite, RequestId, Slots, Waitlist};
use crate::status::{NodeStanding, NodeStatus};
use crate::wire::Renewal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Stage {
    /// Plays the script to its end.
    pub(super) fn play(&mut self, script: &str) {
        self.steps(script);
        for (node, wire) in self.wires.iter().enumerate() {
            assert!(wire.unseen.is_empty(), "n{} was sent more: {:?}", node + 1, wire.unseen);
        }
        assert!(self.unseen.is_empty(), "more events: {:?}", self.unseen);
        self.clear();
    }

    /// Plays the steps of a script that continues elsewhere.
    pub(super) fn steps(&mut self, script: &str) {
        for (number, line) in script.lines().enumerate() {
            // A remark follows a space: `redis://` does not start one.
            let step = line.split(" //").next().unwrap_or_default().trim();
            if !step.is_empty() {
                let result = self.step(step);
                assert!(result.is_ok(), "line {}: {step}\n{}", number, result.unwrap_err());
                self.pump();
            }
        }
    }

    fn step(&mut self, step: &str) -> Result<(), String> {
        let words: Vec<&str> = step.split_whitespace().collect();
        let number = |place: usize| -> u64 {
            words.get(place).and_then(|word| word.parse().ok()).expect("a number")
        };
        let now = self.now;
        match words[0] {
            "acquire" => {
                let option = |name: &str| {
                    let place = words.iter().position(|word| *word == name)?;
                    words.get(place + 1).copied()
                };
                let wait = option("wait").map_or(Nanos::ZERO, |limit| match limit {
                    "forever" => Nanos::FOREVER,
                    limit => Nanos::of(span(limit)),
                });
                let ttl = option("ttl").map_or(Duration::from_secs(10), span);
                let keep_alive = option("keep").map(|limit| match limit {
                    "forever" => Nanos::FOREVER,
                    limit => Nanos::of(span(limit)),
                });
                let acquire = AcquireRequest {
                    keys: keys(words[2], ""),
                    fences: words.contains(&"fenced").then(|| keys(words[2], "fence:").into()),
                    ttl: ttl.into(),
                    lock_delay: option("delay").map_or(Duration::ZERO, span).into(),
                    wait,
                    keep_alive,
                    label: option("label")
                        .map(|text| Arc::new(Label::Holder(text.into())))
                        .or_else(|| {
                            option("candidate").map(|text| Arc::new(Label::Candidate(text.into())))
                        }),
                    at_least: option("least").map(|time| AtLeast::new(span(time), DRIFT).into()),
                    keep_warm: option("warm").map_or(Nanos::ZERO, |time| Nanos::of(span(time))),
                    is_fair: words.contains(&"fair"),
                    probes: words.contains(&"probing"),
                };
                self.acquire(number(1), acquire);
            }
            "cancel" => self.machine.handle_cancel(now, RequestId(number(1))),
            "extend" => {
                let hold = self.hold(number(3));
                self.machine.handle_extend(now, RequestId(number(1)), hold);
            }
            "release" => {
                let hold = self.hold(number(3));
                let in_time = step.ends_with("in time");
                let request = Some(RequestId(number(1)));
                self.machine.handle_release(now, request, hold, in_time);
            }
            "detach" => {
                let hold = self.hold(number(3));
                self.machine.handle_detach(now, RequestId(number(1)), hold);
            }
            "downgrade" => {
                let hold = self.hold(number(3));
                self.machine.handle_downgrade(now, RequestId(number(1)), hold);
            }
            "adopt" => {
                let mut lock = self.detached(number(3));
                if let Some(label) = words.get(5) {
                    lock.label = Some((*label).into());
                }
                self.asked.push(number(1));
                self.machine.handle_adopt(now, RequestId(number(1)), lock);
            }
            "give" => {
                let lock = self.detached(number(2));
                let adopting = words.get(4).and_then(|word| word.parse().ok()).map(RequestId);
                self.machine.handle_give_back(now, lock, adopting);
            }
            "finish" => {
                let hold = self.hold(number(3));
                self.machine.handle_end_well(hold);
                self.machine.handle_release(now, Some(RequestId(number(1))), hold, false);
            }
            "back" => {
                let hold = self.hold(number(1));
                if !self.machine.handle_leave_idle(now, hold, true) {
                    self.machine.handle_release(now, None, hold, true);
                }
            }
            "ask" => {
                let holders: Vec<_> = words[3..].iter().map(|word| (*word).into()).collect();
                let about = (words[2], words[2]);
                self.machine.handle_ask(now, RequestId(number(1)), about, &holders);
            }
            "drop" => self.machine.handle_release(now, None, self.hold(number(1)), false),
            "forget" => self.machine.handle_forget(now, self.hold(number(1))),
            "lapsed" => self.machine.handle_lapsed(now, self.hold(number(1))),
            "wall" => self.machine.handle_wall_clock(now, number(1)),
            "inspect" => {
                let beside =
                    Beside { readers: "readers".into(), waitlist: Waitlist::of("waitlist:", "r") };
                let beside = words.get(3).map(|_| &beside);
                let question = Question::inspect(RequestId(number(1)), words[2], beside);
                self.machine.handle_question(now, question);
            }
            "listen" => {
                self.machine.handle_listen(now, RequestId(number(1)), words[2].into());
            }
            "look" => {
                let keys: Vec<_> = words[3..].iter().map(|key| (*key).into()).collect();
                let channel = Some(words[2]).filter(|name| *name != "all").map(Arc::from);
                let question = Question::look(RequestId(number(1)), &keys, channel.as_ref());
                self.machine.handle_question(now, question);
            }
            "ways" => {
                let keys = Keys::several(words[2..].iter().map(|key| (*key).into())).expect("keys");
                let question = Question::in_the_way(RequestId(number(1)), &keys);
                self.machine.handle_question(now, question);
            }
            "unlisten" => self.machine.handle_unlisten(RequestId(number(1)), words[2]),
            "force" => {
                let (request, value) = (RequestId(number(1)), words[3].to_owned());
                let question = Question::force_release(request, words[2], None, value);
                self.machine.handle_question(now, question);
            }
            "withdraw" => self.machine.handle_withdraw(now),
            "shutdown" => self.machine.handle_shutdown(now),
            "=" => return next(&mut self.unseen, rest(step)),
            "next" => {
                let named = self.machine.poll_timeout().map(|at| millis(at.as_nanos()));
                return same(named.as_deref().unwrap_or("-"), words[1]);
            }
            "debts" => return same(&self.machine.masters().debts().to_string(), words[1]),
            "drained" => return same(&self.machine.masters().is_drained().to_string(), words[1]),
            "jitter" => {
                let picked = match words[1] {
                    "least" => 0,
                    "middle" => MIDDLE,
                    "most" => u64::MAX,
                    "none" => NO_RANDOMNESS,
                    what => panic!("no jitter is called {what}"),
                };
                self.jitter.store(picked, Ordering::Relaxed);
            }
            "stale" => {
                let place = places(words[1]).start;
                let problem =
                    self.machine.masters().status(self.now).nodes()[place].not_renewed.clone();
                return same(problem.as_deref().unwrap_or("-"), rest(rest(step)));
            }
            "no" => return same(&format!("{:?}", self.faults()), "[]"),
            "fault" => {
                let faults = self.faults().into_iter();
                let mut found = faults.filter(|fault| fault.starts_with(words[1])).collect();
                return next(&mut found, &rest(step).to_lowercase());
            }
            time if time.starts_with('+') => self.pass(span(&time[1..])),
            time if time.starts_with('~') => self.now = self.now.after(span(&time[1..])),
            nodes => {
                for node in nodes.split(',').flat_map(places) {
                    self.node_step(node, &words[1..], step)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the masters that cannot be used, and why.
    fn faults(&self) -> Vec<String> {
        let fault = |node: &NodeStatus| {
            let (kind, cause) = match &node.standing {
                NodeStanding::Down(cause) => ("down", cause),
                NodeStanding::Rejected(cause) => ("rejected", cause),
                NodeStanding::Unfit(cause) => ("unfit", cause),
                NodeStanding::Disagrees(cause) => ("disagreement", cause),
                _ => return None,
            };
            Some(format!("{} {kind} {cause}", node.node).to_lowercase())
        };
        self.machine.masters().status(self.now).nodes().iter().filter_map(fault).collect()
    }

    fn node_step(&mut self, node: usize, words: &[&str], step: &str) -> Result<(), String> {
        match words[0] {
            "<" => {
                let expected = step.split_once("< ").map_or("", |(_, expected)| expected);
                return next(&mut self.wires[node].unseen, expected)
                    .map_err(|error| format!("n{}: {error}", node + 1));
            }
            ">" => self.says(node, &reply(step.split_once("> ").map_or("", |(_, text)| text))),
            "opens" => {
                self.greets(node);
                if !self.machine.at.cx.masters.sessions[node].is_open() {
                    return Err(format!("n{} is not open", node + 1));
                }
            }
            "greets" => self.greets(node),
            "asks" => return self.is_asked(node, &["SCRIPT LOAD acquire", "SCRIPT LOAD extend"]),
            "beats" => return self.is_asked(node, &[]),
            "given" => {
                let renewal = match words.get(2..) {
                    Some(["for", life]) => Renewal::Within(span(life)),
                    Some(["every", pause]) => Renewal::Every(span(pause)),
                    _ => Renewal::Never,
                };
                self.given(node, words[1], renewal);
            }
            "connects" => self.connects(node),
            "breaks" => self.breaks(node),
            "unreachable" => {
                let epoch = self.wires[node].epoch;
                self.machine.handle_closed(self.now, node, epoch, "connection refused");
            }
            // The server is another process now; what it knew about connections is gone.
            "restarts" => {
                self.wires[node].run_id.push('+');
                self.wires[node].client_id = 0;
                self.breaks(node);
            }
            "takes" => self.wires[node].room = words[1].parse().ok(),
            what => panic!("a master does not know how to {what}"),
        }
        Ok(())
    }
}

impl Stage {
    /// Checks that the master is asked for its identity and its clients' settings, and for what
    /// else belongs to a handshake.
    fn is_asked(&mut self, node: usize, loads: &[&str]) -> Result<(), String> {
        let who = ["INFO server", "INFO replication", "INFO memory"];
        let agreement = ["EVAL agree 1 quorumlock:agreement .."];
        for command in who.iter().chain(loads).chain(&agreement) {
            next(&mut self.wires[node].unseen, command)
                .map_err(|error| format!("n{}: {error}", node + 1))?;
        }
        Ok(())
    }
}

/// Takes the next of `unseen`, which must be `expected`.
fn next(unseen: &mut std::collections::VecDeque<String>, expected: &str) -> Result<(), String> {
    if expected == "-" {
        return same(&format!("{unseen:?}"), "[]");
    }
    match (unseen.pop_front(), expected.strip_suffix("..")) {
        (None, _) => Err("nothing happened".into()),
        (Some(happened), Some(start)) if happened.starts_with(start) => Ok(()),
        (Some(happened), _) => same(&happened, expected),
    }
}

fn same(happened: &str, expected: &str) -> Result<(), String> {
    if happened == expected { Ok(()) } else { Err(format!("instead: {happened}")) }
}

/// Parses `r`, or several: `r+s`; or `s@r=3`, or `3of:r`.
pub(super) fn keys(words: &str, prefix: &str) -> Keys {
    if let Some((mode, key)) = words.split_once(':').filter(|_| prefix.is_empty()) {
        let beside =
            ReadWrite { readers: format!("in:{key}").into(), hint: format!("next:{key}").into() };
        match mode {
            "read" => return Keys::read(key.into(), beside),
            "write" => return Keys::write(key.into(), beside),
            _ => {}
        }
    }
    if let Some((permits, channel)) = words.split_once("of:") {
        let permits: u8 = permits.parse().expect("a number");
        let names = (0..permits).map(|slot| format!("{channel}{slot}").into());
        return Keys::any_of(Slots::new(channel.into(), names)).expect("a slot");
    }
    if let Some((key, (channel, message))) =
        words.split_once('@').and_then(|(key, announced)| Some((key, announced.split_once('=')?)))
    {
        return Keys::announced_on(key.into(), channel.into(), message.into());
    }
    let keys = words.split('+').map(|key| format!("{prefix}{key}").into());
    Keys::several(keys).expect("a key")
}

fn rest(step: &str) -> &str {
    step.split_once(' ').map_or("", |(_, rest)| rest.trim())
}

/// Parses `n2` or `n2-4`.
fn places(nodes: &str) -> std::ops::Range<usize> {
    let place = |word: &str| -> usize {
        word.trim_start_matches('n').parse().unwrap_or_else(|_| panic!("no step: {nodes}"))
    };
    let (first, last) = nodes.split_once('-').unwrap_or((nodes, nodes));
    place(first) - 1..place(last)
}

/// Parses `2.5ms`, `200us`, `10s`.
pub(super) fn span(words: &str) -> Duration {
    let digits = words.trim_end_matches(char::is_alphabetic);
    let number: f64 = digits.parse().unwrap_or_else(|_| panic!("{words} is no span"));
    let nanos = match &words[digits.len()..] {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        unit => panic!("{unit} is no unit"),
    };
    Duration::from_nanos((number * nanos).round() as u64)
}
