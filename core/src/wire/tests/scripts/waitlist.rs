//! The scripts of waitlists, run by an embedded master: what each answers, and the messages and the list that
//! it leaves.

mod front;
mod notices;
mod overdue;
mod slots;

use crate::shared::{Keys, Waitlist};
use crate::wire::waitlist::{Asks, Called, Found, Listed, Says, Wanted, leave_waitlist};
use crate::wire::{Packer, Replies, Reply, Token, WAITLIST, load, pack};
use quorumlock_embedded::{ClientId, Machine, Output};
use std::sync::Arc;
use std::time::Duration;

const LOCK: &str = "r";
const LIST: &str = "list";
const DUE: &str = "due";
const QUIET: Duration = Duration::from_millis(20);
const CAP: Duration = Duration::from_millis(250);

fn list() -> Waitlist {
    Waitlist { places: LIST.into(), due: DUE.into() }
}

/// The name of a waiter of a process: each has a mailbox.
fn waiter(process: u8, number: u8) -> Token {
    Token::new(u128::from(process) << 64 | u128::from(number))
}

/// What a waiter says that has waited nowhere yet.
const fn newcomer(waiter: Token) -> Asks {
    Asks { waiter, stamp: None, age: Duration::ZERO }
}

/// One master, a client that asks, and a client for each process that reads its mailbox.
struct Stage {
    machine: Machine,
    client: ClientId,
    now: Duration,
    packer: Packer,
    readers: Vec<ClientId>,
}

impl Stage {
    /// Creates a master at which these processes read their mailboxes, and one client the channel of the key.
    fn new(processes: &[u8]) -> Self {
        let now = Duration::from_micros(1_700_000_000_123_456);
        let mut machine = Machine::new(1, now);
        let client = machine.open();
        let mailbox = |process: &u8| format!("free:@{}", waiter(*process, 0).mailbox());
        let channels = processes.iter().map(mailbox).chain(["free:r".into()]);
        let readers = channels.map(|channel| {
            let reader = machine.open();
            machine.receive(reader, now, &pack(&["SUBSCRIBE", &channel]));
            reader
        });
        let readers = readers.collect();
        while machine.poll_output().is_some() {}
        let mut stage = Self { machine, client, now, packer: Packer::new(None), readers };
        assert!(matches!(stage.asks(&load(WAITLIST)).0, Reply::Text(_)));
        stage
    }

    /// Creates a master at which so many processes have come to wait for the key, which is free by then: only the last of
    /// them reads its mailbox.
    fn behind_the_gone(processes: u8) -> Self {
        let mut stage = Self::new(&[processes]);
        stage.set("theirs");
        for process in 1..=processes {
            stage.waits(waiter(process, 0));
            stage.pass(1);
        }
        stage.free();
        stage
    }

    /// Returns the answer to a command, and the messages that it has led to.
    fn asks(&mut self, command: &[u8]) -> (Reply, Vec<String>) {
        self.machine.receive(self.client, self.now, command);
        let (mut answer, mut messages) = (None, Vec::new());
        while let Some(output) = self.machine.poll_output() {
            let Output::Send(to, bytes) = output else { panic!("{output:?}") };
            let mut replies = Replies::default();
            replies.receive(&bytes);
            while let Some(reply) = replies.next().unwrap() {
                match (to == self.client, reply) {
                    (true, reply) => answer = Some(reply),
                    (false, Reply::Array(parts)) => {
                        messages.push(parts[2].text().unwrap().to_owned());
                    }
                    (false, other) => panic!("{other:?}"),
                }
            }
        }
        (answer.expect("an answer"), messages)
    }

    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    fn set(&mut self, value: &str) {
        assert_eq!(self.asks(&pack(&["SET", LOCK, value, "PX", "5000"])).0, Reply::Okay);
    }

    fn free(&mut self) {
        self.asks(&pack(&["DEL", LOCK]));
    }

    fn waits_with(&mut self, name: Token, stamp: Option<u64>) -> Listed {
        let asks = Asks { stamp, ..newcomer(name) };
        let (listed, messages) = self.asks_with(asks);
        assert_eq!(messages, [""; 0]);
        listed
    }

    fn asks_with(&mut self, asks: Asks) -> (Listed, Vec<String>) {
        self.asks_for((&Arc::<str>::from(LOCK)).into(), asks)
    }

    fn asks_for(&mut self, wanted: Wanted<'_>, asks: Asks) -> (Listed, Vec<String>) {
        let wanted = (wanted, &list());
        let command = self.packer.wait(wanted, asks, "free:", (QUIET, CAP)).to_vec();
        let (answer, messages) = self.asks(&command);
        (Listed::in_reply(&answer).unwrap_or_else(|| panic!("{answer:?}")), messages)
    }

    fn waits(&mut self, name: Token) -> Listed {
        self.waits_with(name, None)
    }

    fn calls(&mut self) -> (Called, Vec<String>) {
        self.calls_for(&LOCK.into())
    }

    fn calls_for(&mut self, key: &Keys) -> (Called, Vec<String>) {
        self.calls_as(key, Says::Held)
    }

    fn calls_as(&mut self, key: &Keys, says: Says) -> (Called, Vec<String>) {
        let command = self.packer.call((key, &list()), "free:", says).to_vec();
        let (answer, messages) = self.asks(&command);
        (Called::in_reply(&answer).unwrap_or_else(|| panic!("{answer:?}")), messages)
    }

    /// Returns those that stand in the list.
    fn listed(&self) -> Vec<String> {
        let all = self.machine.sorted_set(LIST.as_bytes(), self.now).iter();
        let names = all.map(|(member, _)| String::from_utf8(member.clone()).unwrap());
        names.filter(|name| !name.starts_with(['>', '!'])).collect()
    }

    fn life(&self) -> Option<Duration> {
        self.machine.time_to_live(LIST.as_bytes(), self.now)
    }
}

const HELD: Found = Found::Held(Some(Duration::from_secs(5)));

fn names(waiters: &[Token]) -> Vec<String> {
    waiters.iter().map(Token::to_string).collect()
}

#[test]
fn waiters_stand_in_the_order_in_which_they_came_and_each_has_one_place() {
    let mut stage = Stage::new(&[]);
    stage.set("theirs");
    let waiters = [waiter(3, 1), waiter(1, 1), waiter(2, 1)];
    for (ahead, name) in waiters.into_iter().enumerate() {
        let listed = stage.waits(name);
        assert_eq!(listed.ahead, ahead);
        assert!(matches!(listed.what, Found::Held(Some(_))));
        stage.pass(1);
    }
    // A waiter that asks again stays where it stands, also with its stamp after a call in vain.
    let listed = stage.waits(waiters[1]);
    assert_eq!(listed.ahead, 1);
    stage.asks(&leave_waitlist(LIST, waiters[1]));
    assert_eq!(stage.listed(), names(&[waiters[0], waiters[2]]));
    assert_eq!(stage.waits_with(waiters[1], listed.stamp).ahead, 1);
    assert_eq!(stage.listed(), names(&waiters));
    assert_eq!(stage.life(), Some(Duration::from_secs(120)));
}

#[test]
fn a_clock_that_was_set_back_keeps_no_waiter_out() {
    let mut stage = Stage::new(&[]);
    stage.set("theirs");
    stage.waits(waiter(1, 1));
    stage.free();
    stage.waits(waiter(2, 1));
    stage.now -= Duration::from_millis(50);
    assert_eq!(stage.waits(waiter(1, 1)).what, Found::Free);
}

#[test]
fn a_newcomer_is_behind_all_that_wait_whatever_the_clock_says() {
    const MINUTE: Duration = Duration::from_secs(60);
    const SOON: Duration = Duration::from_secs(4);
    let mut stage = Stage::new(&[]);
    stage.asks(&pack(&["SET", LOCK, "theirs"]));
    for process in 1..=5 {
        let listed = stage.waits(waiter(process, 0));
        assert_eq!(listed.ahead, usize::from(process) - 1);
        // Also behind what is no waiter: a call, and a silent release that is past.
        let marks = ["4000000000000000", "!", "4000000000000001", ">0000000000000009"];
        stage.asks(&pack(&[&["ZADD", LIST][..], &marks].concat()));
        // None is overdue by a step ahead.
        stage.now = if process == 2 { stage.now + SOON } else { stage.now - MINUTE };
    }
    // A score that no clock can have is no stamp.
    stage.asks(&pack(&["ZADD", LIST, "1e300", "x"]));
    assert!(stage.waits(waiter(7, 0)).stamp.is_some());
}

#[test]
fn a_call_takes_out_the_first_and_tells_the_last_to_watch() {
    let mut stage = Stage::new(&[1, 2, 3]);
    stage.set("theirs");
    let waiters = [1, 2, 3].map(|process| waiter(process, 9));
    for name in waiters {
        stage.waits(name);
        stage.pass(1);
    }
    let called = |waiters, listeners| Called { waiters, goes_on: false, listeners };
    // What is held again is no reason to call any.
    assert_eq!(stage.calls(), (called(3, 1), vec!["".into()]));
    stage.free();
    let [first, second, last] = waiters;
    let messages = [format!("free {first} r"), format!("watch {last} r"), "called".into()];
    assert_eq!(stage.calls(), (called(3, 1), messages.into()));
    assert_eq!(stage.listed(), names(&[second, last]));
    assert_eq!(stage.waits(second).what, Found::OtherCalled(QUIET));
    // One that waits alone watches no call of its own.
    // The last watches this call, too.
    let messages = [format!("free {second} r"), "called".into()];
    assert_eq!(stage.calls(), (called(2, 1), messages.into()));
    let messages = [format!("free {last} r"), "called".into()];
    assert_eq!(stage.calls(), (called(1, 1), messages.into()));
    assert_eq!((stage.listed(), stage.life()), (vec![], Some(Duration::from_secs(1))));
    assert_eq!(stage.calls(), (called(0, 1), vec!["".into()]));
    assert_eq!(stage.life(), None, "a release that finds no waiter ends the list");
}

#[test]
fn the_last_watches_all_calls_of_20_ms_unless_it_is_called_itself() {
    let mut stage = Stage::new(&[1, 2, 3, 4, 5, 6, 7]);
    let enter = |stage: &mut Stage, process: u8| {
        stage.set("theirs");
        stage.waits(waiter(process, 0));
        stage.free();
        stage.pass(1);
    };
    (1..=6).for_each(|process| enter(&mut stage, process));
    // Returns the process that is to watch, after so many ms.
    let watches = |stage: &mut Stage, ms: u64| {
        stage.pass(ms);
        let messages = stage.calls().1;
        let watch = messages.iter().find_map(|message| message.strip_prefix("watch "))?;
        (1..=7).find(|process| watch.starts_with(&waiter(*process, 0).to_string()))
    };
    let watching = [0, 20, 1, 0, 0].map(|ms| watches(&mut stage, ms));
    assert_eq!(watching, [Some(6), None, Some(6), None, None]);
    enter(&mut stage, 7);
    assert_eq!(watches(&mut stage, 0), Some(7), "the one that watched was called");
}

#[test]
fn waiters_whose_connections_are_gone_are_passed_over_in_one_call() {
    let mut stage = Stage::new(&[7, 9]);
    stage.set("theirs");
    for process in 1..=9 {
        stage.waits(waiter(process, 0));
        stage.pass(1);
    }
    stage.free();
    let messages =
        [format!("free {} r", waiter(7, 0)), format!("watch {} r", waiter(9, 0)), "called".into()];
    assert_eq!(stage.calls().1, messages);
    assert_eq!(stage.listed(), names(&[waiter(8, 0), waiter(9, 0)]));
    // Those at the end, too.
    stage.waits(waiter(10, 0));
    stage.machine.close(stage.readers[1]);
    let mut none = stage.calls().1;
    assert_eq!((none.pop(), none.len()), (Some("".into()), 0));
    assert_eq!(stage.listed(), [""; 0]);
}

#[test]
fn a_call_passes_over_so_many_and_another_goes_on() {
    let mut stage = Stage::behind_the_gone(200);
    for left in [136, 72, 8] {
        let called = Called { waiters: left, goes_on: true, listeners: 1 };
        assert_eq!(stage.calls(), (called, vec!["".into()]));
        assert_eq!(stage.listed().len() as u64, left);
    }
    let called = Called { waiters: 1, goes_on: false, listeners: 1 };
    let messages = vec![format!("free {} r", waiter(200, 0)), "called".into()];
    assert_eq!(stage.calls(), (called, messages));
}

#[test]
fn a_master_that_denies_publish_loses_no_waiter_and_one_without_memory_calls() {
    let mut stage = Stage::new(&[1, 2]);
    stage.set("theirs");
    for process in 1..=2 {
        stage.waits(waiter(process, 0));
        stage.pass(1);
    }
    stage.free();
    stage.machine.deny(&["zadd"]).unwrap();
    assert_eq!(stage.calls().1.len(), 3);
    for right in ["publish", "pttl", "time", "zcard", "zrange", "zrem"] {
        stage.machine.deny(&[right]).unwrap();
        let lock = (&LOCK.into(), &list());
        let command = stage.packer.call(lock, "free:", Says::Held).to_vec();
        let (answer, messages) = stage.asks(&command);
        assert!(answer.is_denied() && messages.is_empty(), "{right}: {answer:?}");
    }
    stage.machine.deny(&[]).unwrap();
    assert_eq!(stage.listed().len(), 1);
}

#[test]
fn an_answer_names_a_holder_that_was_not_called() {
    let mut stage = Stage::new(&[1, 2]);
    let holder = |process: u8, number: u8| format!("{}:a label", waiter(process, number));
    let process = |number: u8| waiter(number, 0).mailbox().to_string();
    stage.set(&holder(8, 1));
    assert_eq!(stage.waits(waiter(1, 1)).sight.uncalled(), Some(&*process(8)));
    stage.free();
    assert_eq!(stage.calls().1[0], format!("free {} r", waiter(1, 1)));
    // The waiter that was called holds the key, and its process may pass it on within itself.
    for number in [2, 3] {
        stage.set(&holder(1, number));
        assert_eq!(stage.waits(waiter(2, 1)).sight.uncalled(), None);
    }
    stage.set(&holder(9, 1));
    assert_eq!(stage.waits(waiter(2, 1)).sight.uncalled(), Some(&*process(9)));
    // A call is known for a minute.
    stage.asks(&pack(&["SET", LOCK, &holder(1, 4)]));
    stage.pass(60_000);
    assert_eq!(stage.waits(waiter(2, 1)).sight.uncalled(), Some(&*process(1)));
}

#[test]
fn a_list_that_is_full_gives_no_place() {
    let mut stage = Stage::new(&[]);
    stage.set("theirs");
    let mut full = vec!["ZADD".to_owned(), LIST.into()];
    for number in 0..1_u32 << 14 {
        full.extend([number.to_string(), format!("{number:032x}")]);
    }
    stage.asks(&pack(&full));
    let listed = stage.waits(waiter(1, 1));
    assert_eq!((listed.stamp, listed.ahead), (None, 1 << 14));
    assert_eq!(stage.listed().len(), 1 << 14);
}
