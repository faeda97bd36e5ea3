//! A master with one lock and its queue, and a client that listens.

use crate::quorum::{FencingWindow, NodeSet};
use crate::shared::{Keys, Queue};
use crate::wire::{
    ACQUIRE, ASK, Ballot, Claim, EXTEND, Leaves, Millis, NEXT, PLACE_LIVES, Packer, Place, Replies,
    Reply, Token, Way, load, pack,
};
use quorumlock_embedded::{ClientId, Machine, Output};
use std::sync::Arc;
use std::time::Duration;

/// The time on the master's clock at first, in us; it is within a ms.
pub(super) const BEGIN: u64 = 1_700_000_000_123_456;
/// The life that claims ask for, and for how long a key is kept and a place lives, in ms.
pub(super) const LIFE: i64 = 10_000;
pub(super) const KEPT: i64 = 4_000;
pub(super) const PLACE: i64 = 3_000;
/// How far a ballot may be from the clock, in us.
pub(super) const WINDOW: u64 = 1_000_000;

pub(super) const LOCK: &str = "r";
pub(super) const PLACES: &str = "queue";
pub(super) const ALIVE: &str = "alive";
pub(super) const FENCE: &str = "fence";

pub(super) fn waiter(who: u8) -> String {
    Token::new(who.into()).to_string()
}

/// The token that is set under the key by a try of this waiter.
pub(super) fn token(who: u8) -> String {
    Token::new(1_000 + u128::from(who)).to_string()
}

pub(super) fn kept_for(who: u8) -> String {
    format!("{NEXT}{}", waiter(who))
}

/// Returns the claim of a client that waits in turn, and has a place.
pub(super) fn claim(who: u8, ticket: Option<u64>) -> Claim {
    let queue = Queue { places: PLACES.into(), alive: ALIVE.into() };
    Claim {
        keys: Keys::in_turn(LOCK.into(), queue),
        token: Token::new(1_000 + u128::from(who)),
        life: Millis::from(Duration::from_millis(LIFE.unsigned_abs())),
        ballot: None,
        label: None,
        unsettled: NodeSet::EMPTY,
        place: Some(Box::new(Place { waiter: Token::new(who.into()), ticket, lives: PLACE_LIVES })),
    }
}

/// The same for a client that has never waited.
pub(super) fn without_place(who: u8) -> Claim {
    Claim { place: None, ..claim(who, None) }
}

pub(super) fn fenced(claim: Claim, number: u64) -> Claim {
    let far = Duration::from_micros(WINDOW);
    let window = FencingWindow { back: far, ahead: far };
    let fences = Arc::new(Keys::one(FENCE.into()));
    let ballot = Ballot {
        fences,
        number,
        last: number,
        greatest: number,
        window,
        kept: Duration::from_secs(60),
    };
    Claim { ballot: Some(Box::new(ballot)), ..claim }
}

/// Why a try or a look is refused, and what it learns with that.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Refused {
    pub(super) why: i64,
    pub(super) left: i64,
    pub(super) fence: String,
    pub(super) clock: u64,
    pub(super) stamp: u64,
    pub(super) ahead: i64,
    pub(super) holder: String,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Answer {
    Granted,
    Refused(Refused),
    Failed(String),
}

impl Answer {
    /// Returns the reason of a refusal; nothing if it was granted.
    pub(super) fn why(&self) -> Option<i64> {
        match self {
            Self::Granted => None,
            Self::Refused(refused) => Some(refused.why),
            Self::Failed(error) => panic!("{error}"),
        }
    }

    pub(super) fn refused(self) -> Refused {
        match self {
            Self::Refused(refused) => refused,
            other => panic!("{other:?}"),
        }
    }
}

/// The mailbox of all waiters here.
const MAILBOX: &str = "free:@0000000000000000";

pub(super) struct Stage {
    pub(super) machine: Machine,
    client: ClientId,
    listener: ClientId,
    now: Duration,
    packer: Packer,
    /// The messages that let waiters look, since this was last cleared.
    pub(super) hurried: Vec<String>,
}

impl Stage {
    pub(super) fn new() -> Self {
        let now = Duration::from_micros(BEGIN);
        let mut machine = Machine::new(1, now);
        let (client, listener) = (machine.open(), machine.open());
        machine.receive(listener, now, &pack(&["SUBSCRIBE", "free:r", MAILBOX]));
        while machine.poll_output().is_some() {}
        let mut stage =
            Self { machine, client, listener, now, packer: Packer::new(None), hurried: Vec::new() };
        for script in [ACQUIRE, ASK, EXTEND] {
            stage.sends(&load(script));
        }
        stage
    }

    /// Returns a master where these have looked, in this order.
    pub(super) fn with_waiters(waiters: &[u8]) -> Self {
        let mut stage = Self::new();
        waiters.iter().for_each(|who| _ = stage.looks(*who));
        stage
    }

    pub(super) fn pass(&mut self, millis: i64) {
        self.now = match u64::try_from(millis) {
            Ok(more) => self.now + Duration::from_millis(more),
            Err(_) => self.now - Duration::from_millis(millis.unsigned_abs()),
        };
    }

    /// The clock in us.
    pub(super) fn clock(&self) -> u64 {
        u64::try_from(self.now.as_micros()).unwrap()
    }

    /// Returns the answer, and the messages on the channel of the key. Each waiter that is named there has
    /// one in its mailbox, too.
    fn heard(&mut self, command: &[u8]) -> (Reply, Vec<String>) {
        self.machine.receive(self.client, self.now, command);
        let (mut answers, mut messages, mut mail) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(Output::Send(to, bytes)) = self.machine.poll_output() {
            let mut replies = Replies::new();
            replies.receive(&bytes);
            while let Some(reply) = replies.next().unwrap() {
                match reply {
                    Reply::Array(parts) if to == self.listener => {
                        let message = parts[2].text().unwrap().to_owned();
                        let is_mail = parts[1].text() == Some(MAILBOX);
                        if is_mail { &mut mail } else { &mut messages }.push(message);
                    }
                    reply => answers.push(reply),
                }
            }
        }
        assert_eq!(answers.len(), 1, "{answers:?}");
        let (looks, mail): (Vec<String>, Vec<String>) =
            mail.into_iter().partition(|letter| letter.starts_with("look "));
        self.hurried.extend(looks);
        let named = messages.iter().filter(|name| !name.is_empty());
        assert_eq!(mail, named.map(|name| format!("next {name} r")).collect::<Vec<_>>());
        (answers.remove(0), messages)
    }

    fn sends(&mut self, command: &[u8]) -> Reply {
        let (reply, messages) = self.heard(command);
        assert_eq!(messages, [""; 0]);
        reply
    }

    pub(super) fn ask(&mut self, words: &[&str]) -> Reply {
        self.sends(&pack(words))
    }

    /// Sets what is locked, for five seconds.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        assert_eq!(self.ask(&["SET", key, value, "PX", "5000"]), Reply::Okay);
    }

    pub(super) fn looks(&mut self, who: u8) -> Answer {
        self.asks(&claim(who, None), false)
    }

    pub(super) fn tries(&mut self, who: u8) -> Answer {
        self.asks(&claim(who, None), true)
    }

    pub(super) fn asks(&mut self, claim: &Claim, tries: bool) -> Answer {
        let (queue, place) = (claim.keys.queue().unwrap(), claim.place.as_deref().unwrap());
        let command = claim.ask(&mut self.packer, queue, *place, tries).to_vec();
        answer(&self.sends(&command))
    }

    /// Returns the answer, and the messages that listeners hear.
    pub(super) fn leaves(&mut self, claim: &Claim, leaves: Leaves) -> (Reply, Vec<String>) {
        let queue = claim.keys.queue().unwrap();
        let channels = Some("free:").filter(|_| leaves != Leaves::Nothing);
        let command = claim.leave(&mut self.packer, queue, leaves, Way::Full, channels).to_vec();
        self.heard(&command)
    }

    pub(super) fn does(&mut self, pack: impl Fn(&mut Packer) -> Vec<u8>) -> Reply {
        let command = pack(&mut self.packer);
        self.sends(&command)
    }

    /// Returns the value under a key.
    pub(super) fn value(&self, key: &str) -> Option<String> {
        let value = self.machine.value(key.as_bytes(), self.now)?;
        Some(String::from_utf8(value.to_vec()).unwrap())
    }

    /// Returns what is locked, and the ms for which it stays.
    pub(super) fn lock(&mut self) -> Option<(String, i64)> {
        let Reply::Int(left) = self.ask(&["PTTL", LOCK]) else { panic!("no number") };
        Some((self.value(LOCK)?, left))
    }

    /// Returns the waiters, in order, and where each stands.
    pub(super) fn queue(&mut self) -> Vec<(u8, u64)> {
        self.scores(PLACES)
    }

    pub(super) fn alive(&mut self) -> Vec<u8> {
        let mut alive: Vec<u8> = self.scores(ALIVE).into_iter().map(|(who, _)| who).collect();
        alive.sort_unstable();
        alive
    }

    pub(super) fn scores(&mut self, key: &str) -> Vec<(u8, u64)> {
        let Reply::Array(parts) = self.ask(&["ZRANGE", key, "0", "-1", "WITHSCORES"]) else {
            panic!("no list");
        };
        let pair = |pair: &[Reply]| {
            let who = u8::from_str_radix(pair[0].text().unwrap(), 16).unwrap();
            (who, pair[1].text().unwrap().parse().unwrap())
        };
        parts.chunks(2).map(pair).collect()
    }

    pub(super) fn keys(&self) -> usize {
        self.machine.keys(self.now).count()
    }
}

fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Okay => Answer::Granted,
        Reply::Error(error) => Answer::Failed(error.to_string()),
        Reply::Array(parts) => match &parts[..] {
            [Reply::Int(why), Reply::Int(left), fence, clock, stamp, Reply::Int(ahead), holder] => {
                let text = |reply: &Reply| reply.text().unwrap().to_owned();
                Answer::Refused(Refused {
                    why: *why,
                    left: *left,
                    fence: text(fence),
                    clock: text(clock).parse().unwrap(),
                    stamp: text(stamp).parse().unwrap(),
                    ahead: *ahead,
                    holder: text(holder),
                })
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
