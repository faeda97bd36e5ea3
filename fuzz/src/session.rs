//! The real machine, with three masters whose replies the bytes choose, while callers come and go,
//! connections break and time passes.

use super::bytes::Bytes;
use quorumlock::{Redlock, fuzzing};
use quorumlock_core::coordinator::wire::Login;
use quorumlock_core::coordinator::{
    AcquireRequest, Action, AtLeast, AttemptId, Beside, Coordinator, Epoch, Event, Keys, Label,
    Question, Random, RequestId, Settings, Waitlist,
};
use quorumlock_core::quorum::{ClockDrift, Instant, Nanos};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Replies of masters to all other requests.
const REPLIES: [&[u8]; 28] = [
    b"+OK\r\n",
    b"_\r\n",
    b":0\r\n",
    b":1\r\n",
    b":2\r\n",
    b":-1\r\n",
    b":-2\r\n",
    b":9223372036854775807\r\n",
    // Held, stale, and too far from its clock.
    b"*4\r\n:0\r\n:900\r\n$16\r\n1700000000000000\r\n$16\r\n1700000000000000\r\n",
    b"*4\r\n:-1\r\n:0\r\n$16\r\n1700000000000000\r\n$16\r\n1700000000000001\r\n",
    b"*4\r\n:-2\r\n:0\r\n$1\r\n0\r\n$16\r\n1800000000000001\r\n",
    // To a waiter in turn: held, with a stamp; others are first; it would be granted.
    b"*7\r\n:0\r\n:900\r\n$1\r\n0\r\n$4\r\n1000\r\n$4\r\n1007\r\n:0\r\n$3\r\nabc\r\n",
    b"*7\r\n:2\r\n:900\r\n$1\r\n0\r\n$4\r\n1000\r\n$4\r\n1008\r\n:3\r\n$0\r\n\r\n",
    b"*7\r\n:-3\r\n:0\r\n$1\r\n0\r\n$4\r\n1000\r\n$4\r\n1009\r\n:0\r\n$0\r\n\r\n",
    b">3\r\n$7\r\nmessage\r\n$19\r\nquorumlock:free:0:a\r\n$32\r\n0000000000000000c000000000000006\r\n",
    // For the agreement: confirmed, and two that differ.
    b"*2\r\n:1700000000000\r\n:0\r\n",
    b"*5\r\n:0\r\n:1\r\n$7\r\nmax_ttl\r\n$5\r\n90000\r\n:900\r\n",
    b"*5\r\n:0\r\n:0\r\n$5\r\nlists\r\n$3\r\na b\r\n:60000\r\n",
    b"*2\r\n$3\r\nabc\r\n:900\r\n",
    b"-NOSCRIPT No matching script.\r\n",
    b"-LOADING Redis is loading the dataset in memory\r\n",
    b"-NOPERM this user has no permissions\r\n",
    b"-READONLY You can't write against a read only replica.\r\n",
    b">3\r\n$9\r\nsubscribe\r\n$19\r\nquorumlock:free:0:a\r\n:1\r\n",
    b">3\r\n$11\r\nunsubscribe\r\n$19\r\nquorumlock:free:0:a\r\n:0\r\n",
    b">3\r\n$7\r\nmessage\r\n$19\r\nquorumlock:free:0:a\r\n$0\r\n\r\n",
    b"$13\r\nrole:replica\r\n",
    b"%0\r\n",
];

const SPANS: [Duration; 6] = [
    Duration::from_micros(1),
    Duration::from_millis(1),
    Duration::from_millis(60),
    Duration::from_millis(250),
    Duration::from_secs(3),
    Duration::from_secs(60),
];

/// Bytes that the machine must never exceed in unsent commands to one master.
const MOST_UNSENT: usize = 4 << 20;

const NODES: usize = 3;

pub(super) fn run(data: &[u8]) {
    let mut data = Bytes(data);
    let Some(mut play) = Play::of_defaults() else { return };
    if data.byte() % 4 > 0 {
        play.open_all();
    }
    while !data.is_empty() {
        play.step(&mut data);
    }
}

/// A healthy master's reply to the question about the clients' settings.
const CONFIRMED: &str = "*2\r\n:1700000000000\r\n:0\r\n";

/// Returns a healthy master's replies to all that it is asked before it may vote.
fn handshake(node: usize) -> Vec<u8> {
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    let run_id = ["a", "b", "c"][node].repeat(40);
    let hash = bulk(&"0".repeat(40));
    let replies = [
        "%1\r\n$2\r\nid\r\n:7\r\n",
        &bulk(&format!("run_id:{run_id}\r\nuptime_in_seconds:864000\r\n")),
        &bulk("role:master\r\n"),
        &bulk("maxmemory:0\r\n"),
        &hash,
        &hash,
        CONFIRMED,
        ">3\r\n$9\r\nsubscribe\r\n$35\r\nquorumlock:free:0:@0000000000000000\r\n:1\r\n",
    ];
    replies.concat().into_bytes()
}

struct Counted(u128);

impl Random for Counted {
    fn bits(&mut self) -> Option<u128> {
        self.0 += 1 << 61 | 1;
        Some(self.0)
    }
}

/// A machine, and what its driver does.
pub(super) struct Play {
    machine: Coordinator,
    pub(super) now: Instant,
    epochs: [Epoch; NODES],
    last_request: u64,
    /// Requests without an answer, and the keys of those that acquire.
    open: BTreeMap<RequestId, Option<Keys>>,
    /// Holds that are not over, each with its keys and its deadline.
    holds: BTreeMap<AttemptId, (Keys, Instant)>,
    /// The deadlines of all locks that were won.
    pub(super) won: Vec<Instant>,
}

impl Play {
    fn of_defaults() -> Option<Self> {
        let nodes = (1..=NODES).map(|node| format!("redis://n{node}"));
        Some(Self::new(fuzzing::settings(&Redlock::builder().nodes(nodes)).ok()?))
    }

    pub(super) fn new(settings: Settings) -> Self {
        let names = (1..=NODES).map(|node| (format!("n{node}:6379").into(), Login::default()));
        let now = Instant::from_nanos(1_000_000_000);
        let mut machine = Coordinator::new(now, settings, names, Box::new(Counted(0)));
        machine.handle_wall_clock(now, 1_700_000_000_000_000);
        let mut play = Self {
            machine,
            now,
            epochs: [Epoch::default(); NODES],
            last_request: 0,
            open: BTreeMap::new(),
            holds: BTreeMap::new(),
            won: Vec::new(),
        };
        play.pump();
        play
    }

    /// Connects every master, all of them fit.
    pub(super) fn open_all(&mut self) {
        for node in 0..NODES {
            self.connect(node);
            self.reply(node, &handshake(node));
        }
        // Each master is asked once more, ahead of the first acquire's commands, which are taken back.
        self.acquire(wanted(&mut Bytes(&[])));
        let request = RequestId(self.last_request);
        self.open.remove(&request);
        self.machine.handle_cancel(self.now, request);
        for node in 0..NODES {
            self.reply(node, &[CONFIRMED, "+OK\r\n:1\r\n"].concat().into_bytes());
        }
    }

    fn connect(&mut self, node: usize) {
        self.machine.handle_connected(self.now, node, self.epochs[node]);
        self.pump();
    }

    pub(super) fn reply(&mut self, node: usize, bytes: &[u8]) {
        self.machine.handle_bytes(self.now, node, self.epochs[node], bytes);
        self.pump();
    }

    pub(super) fn acquire(&mut self, acquire: AcquireRequest) {
        let request = self.next_request(Some(acquire.keys.clone()));
        self.machine.handle_acquire(self.now, request, acquire);
        self.pump();
    }

    fn next_request(&mut self, keys: Option<Keys>) -> RequestId {
        self.last_request += 1;
        let request = RequestId(self.last_request);
        self.open.insert(request, keys);
        request
    }

    fn step(&mut self, data: &mut Bytes<'_>) {
        let (what, node) = (data.byte(), data.below(NODES));
        match what % 16 {
            0..4 => self.reply(node, REPLIES[data.below(REPLIES.len())]),
            4 => {
                let len = data.below(64);
                self.reply(node, data.take(len));
            }
            5..7 => self.acquire(wanted(data)),
            7 => {
                let request = self.pick(data);
                // For an acquire, whether or not it is answered by now; nothing else can be taken
                // back.
                if !matches!(self.open.get(&request), Some(None)) {
                    self.open.remove(&request);
                    self.machine.handle_cancel(self.now, request);
                }
            }
            8 => self.with_hold(data, |play, attempt, _| {
                let request = play.next_request(None);
                play.machine.handle_extend(play.now, request, attempt);
            }),
            9 => self.with_hold(data, |play, attempt, in_time| {
                play.holds.remove(&attempt);
                if play.machine.handle_leave_idle(play.now, attempt, in_time) {
                    return;
                }
                let request = in_time.then(|| play.next_request(None));
                if in_time {
                    play.machine.handle_end_well(attempt);
                }
                play.machine.handle_release(play.now, request, attempt, in_time);
            }),
            10 => self.with_hold(data, |play, attempt, _| {
                play.holds.remove(&attempt);
                play.machine.handle_forget(play.now, attempt);
            }),
            11 => {
                let request = self.next_request(None);
                let key: Arc<str> = "a".into();
                if data.below(2) == 0 {
                    let beside = Beside {
                        readers: "readers".into(),
                        waitlist: Waitlist::of("waitlist:", "r"),
                    };
                    let question = Question::inspect(request, &key, Some(&beside));
                    self.machine.handle_question(self.now, question);
                } else {
                    let question = Question::force_release(request, &key, None, "t");
                    self.machine.handle_question(self.now, question);
                }
            }
            12 => self.machine.handle_closed(self.now, node, self.epochs[node], "reset by peer"),
            13 => {
                self.connect(node);
                self.reply(node, &handshake(node));
            }
            _ => self.pass(SPANS[data.below(SPANS.len())]),
        }
        self.pump();
    }

    fn pick(&self, data: &mut Bytes<'_>) -> RequestId {
        RequestId(self.last_request.saturating_sub(data.below(4) as u64))
    }

    fn with_hold(&mut self, data: &mut Bytes<'_>, act: impl FnOnce(&mut Self, AttemptId, bool)) {
        let (at, flag) = (data.below(4), data.below(2) == 0);
        if let Some(attempt) = self.holds.keys().nth(at % self.holds.len().max(1)).copied() {
            act(self, attempt, flag);
        }
    }

    /// Lets time pass as for a driver that is never late.
    fn pass(&mut self, span: Duration) {
        let until = self.now.after(span);
        let mut turns = 0;
        while let Some(at) = self.machine.due_at().filter(|at| *at <= until) {
            turns = if at > self.now { 0 } else { turns + 1 };
            assert!(turns < 1_000, "{at:?} is still due after a thousand turns");
            self.now = self.now.max(at);
            self.machine.handle_timeout(self.now);
            self.machine.handle_caught_up(self.now);
            self.pump();
        }
        self.now = until;
    }

    fn pump(&mut self) {
        while let Some(action) = self.machine.poll_action() {
            if let Action::Dial { node, epoch } = action {
                assert!(epoch > self.epochs[node], "an epoch is used twice");
                self.epochs[node] = epoch;
            }
        }
        for node in 0..NODES {
            let (epoch, bytes) = self.machine.transmit(node);
            let len = bytes.len();
            assert!(len < MOST_UNSENT, "{len} bytes for one master");
            self.machine.handle_written(self.now, node, epoch, len);
        }
        while let Some(event) = self.machine.poll_event() {
            self.note(event);
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Connected | Event::Observed(_) => {}
            Event::Acquired { request, attempt, deadline, .. } => {
                assert!(deadline > self.now, "won, and over");
                let keys = self.answered(request).flatten();
                let Some(keys) = keys else { return };
                let wanted: BTreeSet<_> = keys.iter().collect();
                for (other, until) in self.holds.values().filter(|(_, until)| *until > self.now) {
                    let both = other.iter().any(|key| wanted.contains(key));
                    assert!(!both, "two hold one key, the other until {until:?}");
                }
                self.holds.insert(attempt, (keys, deadline));
                self.won.push(deadline);
            }
            Event::Extended { request, attempt, result } => {
                request.into_iter().for_each(|request| drop(self.answered(request)));
                if let (Ok(to), Some((_, until))) = (result, self.holds.get_mut(&attempt)) {
                    let to = to.deadline;
                    assert!(to >= *until && *until > self.now, "extended {until:?} to {to:?}");
                    *until = to;
                }
            }
            Event::Ahead { .. }
            | Event::Asked { .. }
            | Event::Wanted { .. }
            | Event::Heard { .. }
            | Event::InTheWay { .. }
            | Event::Looked { .. } => {}
            Event::Keep { attempt } => self.machine.handle_keep(self.now, attempt),
            Event::Broken(invariant) => panic!("broken: {}", invariant.as_str()),
            Event::Lost { attempt, .. } => drop(self.holds.remove(&attempt)),
            Event::NotAcquired { request, .. }
            | Event::NoRandomness { request }
            | Event::Released { request, .. }
            | Event::Inspected { request, .. }
            | Event::ForceReleased { request, .. }
            | Event::Detached { request, .. }
            | Event::Adopted { request, .. }
            | Event::Downgraded { request, .. } => drop(self.answered(request)),
        }
    }

    /// Checks that a caller gets one answer, and none after a cancel.
    fn answered(&mut self, request: RequestId) -> Option<Option<Keys>> {
        let asked = self.open.remove(&request);
        assert!(asked.is_some(), "{request:?} is answered, and no caller waits for it");
        asked
    }
}

fn wanted(data: &mut Bytes<'_>) -> AcquireRequest {
    let flags = data.byte();
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let names = [["a", "b", "c"][data.below(3)], if flag(0) { "b" } else { "a" }];
    let keys = Keys::several(names.map(Arc::from)).unwrap_or(Keys::from("a"));
    let fences = flag(1).then(|| Keys::several(names.map(|name| format!("f:{name}").into())));
    AcquireRequest {
        is_fair: flag(3) && keys.len() == 1,
        keys,
        fences: fences.flatten().map(Arc::new),
        ttl: Duration::from_secs(if flag(2) { 10 } else { 1 }).into(),
        lock_delay: Duration::from_secs(u64::from(flag(3))).into(),
        wait: [Nanos::ZERO, Nanos::of(Duration::from_secs(5)), Nanos::FOREVER][data.below(3)],
        keep_alive: flag(4).then_some(Nanos::FOREVER),
        label: match (flag(5), flag(6)) {
            (false, _) => None,
            (true, false) => Some(Arc::new(Label::Holder("me".into()))),
            (true, true) => Some(Arc::new(Label::Candidate("me".into()))),
        },
        at_least: flag(7)
            .then(|| AtLeast::new(Duration::from_secs(3), ClockDrift::default()).into()),
        keep_warm: Nanos::of(Duration::from_secs(u64::from(flag(2)))),
        probes: flag(6),
    }
}

#[cfg(test)]
mod tests;
