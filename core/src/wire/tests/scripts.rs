//! The scripts that grant and that fence, run by embedded masters: the answer of each, and the keys
//! after it.

mod read;
mod rights;
mod waitlist;

use super::*;
use crate::quorum::FencingWindow;
use crate::quorum::NodeSet;
use crate::shared::Keys;
use quorumlock_embedded::{ClientId, Machine, Output};

/// The master's clock, in seconds, and in microseconds like ballots.
const NOW: Duration = Duration::from_secs(1_000);
const CLOCK: u64 = 1_000_000_000;
const SECOND: Duration = Duration::from_secs(1);

/// One master, and a connection to it.
struct Master {
    machine: Machine,
    client: ClientId,
    packer: Packer,
}

impl Master {
    fn new() -> Self {
        let mut machine = Machine::new(1, NOW);
        let client = machine.open();
        let mut master = Self { machine, client, packer: Packer::new(None) };
        master.ask(&load(ACQUIRE));
        master
    }

    fn ask(&mut self, command: &[u8]) -> Reply {
        self.machine.receive(self.client, NOW, command);
        let output = self.machine.poll_output();
        assert_eq!(self.machine.poll_output(), None);
        match output {
            Some(Output::Send(_, bytes)) => {
                let mut replies = Replies::default();
                replies.receive(&bytes);
                replies.next().unwrap().unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        let reply = self.ask(&pack(&["SET", key, value, "PX", "5000"]));
        assert_eq!(reply, Reply::Okay);
    }

    fn stands(&self, key: &str) -> Option<&str> {
        let value = self.machine.value(key.as_bytes(), NOW)?;
        Some(std::str::from_utf8(value).unwrap())
    }

    fn acquire(&mut self, claim: &Claim) -> Reply {
        let command = claim.acquire(&mut self.packer).to_vec();
        self.ask(&command)
    }

    fn release(&mut self, claim: &Claim) -> Reply {
        let command = claim.release(&mut self.packer, Way::Full).to_vec();
        self.ask(&command)
    }
}

/// Returns a claim on `r`, fenced by `number`; no ballot may be more than a second from the clock.
fn claim(number: u64) -> Claim {
    let window = FencingWindow { back: SECOND, ahead: SECOND };
    let fences = Arc::new(Keys::one("fence".into()));
    let ballot =
        Ballot { fences, number, last: number, greatest: number, window, kept: 9 * SECOND };
    Claim {
        keys: Keys::one("r".into()),
        token: Token::new(number.into()),
        life: SECOND.into(),
        ballot: Some(Box::new(ballot)),
        label: None,
        unsettled: NodeSet::EMPTY,
    }
}

/// Returns a claim on `r` with these numbers, one for each guard of its hold.
fn block(first: u64, last: u64) -> Claim {
    let mut claim = claim(first);
    claim.ballot = claim.ballot.map(|ballot| Box::new(Ballot { last, greatest: last, ..*ballot }));
    claim
}

/// Returns the script's reason for refusing an acquire; nothing if it is granted.
fn refusal(reply: &Reply) -> Option<i64> {
    match reply {
        Reply::Okay => None,
        Reply::Array(parts) => match parts[0] {
            Reply::Int(why) => Some(why),
            _ => panic!("{reply:?}"),
        },
        _ => panic!("{reply:?}"),
    }
}

#[test]
fn a_ballot_is_granted_only_above_the_fence_within_the_window() {
    const STALE: Option<i64> = Some(-1);
    const AWAY: Option<i64> = Some(-2);
    const FENCE: u64 = CLOCK - 500_000;
    for (ballot, answer) in [
        (CLOCK - 1_000_001, STALE),
        (FENCE - 1, STALE),
        (FENCE, STALE),
        (FENCE + 1, None),
        (CLOCK, None),
        (CLOCK + 1_000_000, None),
        (CLOCK + 1_000_001, AWAY),
    ] {
        let mut master = Master::new();
        master.set("fence", &FENCE.to_string());
        let reply = master.acquire(&claim(ballot));
        assert_eq!(refusal(&reply), answer, "{ballot} with {FENCE}: {reply:?}");
        let granted = answer.is_none();
        let fence = if granted { ballot } else { FENCE };
        assert_eq!(master.stands("fence"), Some(fence.to_string().as_str()));
        assert_eq!(master.stands("r").is_some(), granted, "{ballot}");
    }
}

/// The fence of another client may be within the block, and so may the end of the window.
#[test]
fn a_block_is_granted_only_if_its_first_number_is_above_the_fence_and_all_are_within_the_window() {
    const STALE: Option<i64> = Some(-1);
    const AWAY: Option<i64> = Some(-2);
    const FENCE: u64 = CLOCK - 2_000_000;
    for (fence, first, last, answer) in [
        (FENCE, CLOCK, CLOCK + 9, None),
        (CLOCK - 1, CLOCK, CLOCK + 9, None),
        (CLOCK, CLOCK, CLOCK + 9, STALE),
        (CLOCK + 5, CLOCK, CLOCK + 9, STALE),
        (CLOCK + 9, CLOCK, CLOCK + 9, STALE),
        (FENCE, CLOCK - 1_000_000, CLOCK + 1_000_000, None),
        (FENCE, CLOCK - 1_000_001, CLOCK, AWAY),
        (FENCE, CLOCK, CLOCK + 1_000_001, AWAY),
    ] {
        let mut master = Master::new();
        master.set("fence", &fence.to_string());
        let block = block(first, last);
        let case = format!("{first} to {last} with {fence}");
        assert_eq!(refusal(&master.acquire(&block)), answer, "{case}");
        let fence = if answer.is_none() { last } else { fence };
        assert_eq!(master.stands("fence"), Some(&*fence.to_string()), "{case}");
        assert_eq!(master.stands("r").is_some(), answer.is_none(), "{case}");
    }
}

#[test]
fn a_top_up_and_a_release_of_a_block_name_its_end_and_a_late_acquire_is_stale() {
    let (block, end) = (block(CLOCK, CLOCK + 9), (CLOCK + 9).to_string());
    let mut master = Master::new();
    let command = block.top_up(&mut master.packer, block.life).to_vec();
    assert_eq!(master.ask(&command), Reply::Okay);
    assert_eq!(master.stands("fence"), Some(&*end));
    let mut master = Master::new();
    assert_eq!(master.release(&block), Reply::Int(0));
    assert_eq!(master.stands("fence"), Some(&*end));
    assert_eq!(refusal(&master.acquire(&block)), Some(-1));
    assert_eq!(refusal(&master.acquire(&claim(CLOCK + 10))), None, "that of the next client");
}

#[test]
fn a_release_raises_the_fence_to_its_ballot_and_never_lowers_it() {
    for (fence, after) in [
        (None, CLOCK),
        (Some(CLOCK - 1), CLOCK),
        (Some(CLOCK), CLOCK),
        (Some(CLOCK + 1), CLOCK + 1),
    ] {
        for held in [true, false] {
            let mut master = Master::new();
            fence.iter().for_each(|fence| master.set("fence", &fence.to_string()));
            if held {
                master.set("r", &claim(CLOCK).token.to_string());
            }
            let reply = master.release(&claim(CLOCK));
            assert_eq!(reply, Reply::Int(held.into()), "{fence:?}");
            assert_eq!(master.stands("r"), None);
            assert_eq!(master.stands("fence"), Some(after.to_string().as_str()), "{fence:?}");
            // The acquire of this ballot, in case it arrives only now.
            assert_eq!(refusal(&master.acquire(&claim(CLOCK))), Some(-1), "{fence:?}");
        }
    }
}

/// Or one mad clock would close the resource for as long as a fence lives.
#[test]
fn a_release_raises_no_fence_beyond_the_window() {
    for (ballot, raised) in [(CLOCK + 1_000_000, true), (CLOCK + 1_000_001, false)] {
        for held in [true, false] {
            let mut master = Master::new();
            let claim = claim(ballot);
            if held {
                master.set("r", &claim.token.to_string());
            }
            assert_eq!(master.release(&claim), Reply::Int(held.into()), "{ballot}");
            let fence = raised.then(|| ballot.to_string());
            assert_eq!(master.stands("fence"), fence.as_deref(), "{ballot}");
            assert_eq!(master.stands("r"), None);
        }
    }
}

/// The denied command stands in for a master that is out of memory.
#[test]
fn a_release_deletes_though_no_fence_can_be_raised() {
    let mut master = Master::new();
    let claim = claim(CLOCK);
    master.set("r", &claim.token.to_string());
    master.machine.deny(&["set"]).unwrap();
    assert_eq!(master.release(&claim), Reply::Int(1));
    assert_eq!((master.stands("r"), master.stands("fence")), (None, None));
    // There is nothing to delete, and its acquire might still arrive: the release is not settled.
    let reply = master.release(&claim);
    assert!(reply.error().is_some(), "{reply:?}");
}

#[test]
fn a_partial_release_of_several_without_a_fence_is_not_settled() {
    let mut master = Master::new();
    let Claim { token, life, ballot, .. } = claim(CLOCK);
    let fences = Keys::several(["fence r", "fence s"].map(Into::into)).unwrap();
    let ballot = ballot.map(|ballot| Box::new(Ballot { fences: Arc::new(fences), ..*ballot }));
    let keys = Keys::several(["r", "s"].map(Into::into)).unwrap();
    let claim = Claim { keys, token, life, ballot, label: None, unsettled: NodeSet::EMPTY };
    master.set("s", &claim.token.to_string());
    master.machine.deny(&["set"]).unwrap();
    let reply = master.release(&claim);
    assert!(reply.error().is_some(), "{reply:?}");
    assert_eq!(master.stands("s"), None, "what is there is deleted all the same");
}

/// Returns a claim on `r` and `s`, and what stands under them while it holds.
fn of_two() -> (Claim, String) {
    let keys = Keys::several(["r", "s"].map(Into::into)).unwrap();
    let claim = Claim { keys, ballot: None, ..claim(CLOCK) };
    let ours = claim.token.to_string();
    (claim, ours)
}

#[test]
fn a_release_of_several_deletes_those_that_are_ours_beside_something_of_another_type() {
    let keys = || Keys::several(["r", "s", "t"].map(Into::into)).unwrap();
    for other in ["r", "s", "t"] {
        let mut master = Master::new();
        let claim = Claim { keys: keys(), ballot: None, ..claim(CLOCK) };
        for key in ["r", "s", "t"].into_iter().filter(|key| *key != other) {
            master.set(key, &claim.token.to_string());
        }
        master.ask(&pack(&["HSET", other, "field", "value"]));
        assert_eq!(master.release(&claim), Reply::Int(0));
        let left: Vec<_> = master.machine.keys(NOW).collect();
        assert_eq!(left, [other.as_bytes()]);
    }
}

#[test]
fn a_life_is_shortened_and_marked_where_the_key_is_ours_and_only_there() {
    let (claim, ours) = of_two();
    let (ours, done, theirs) = (&*ours, &*format!("{DONE}{ours}"), "theirs");
    let their_end = &*format!("{DONE}{theirs}");
    for (r, s, answer) in [
        (Some(ours), Some(ours), 1),
        (Some(ours), Some(theirs), 0),
        (None, Some(ours), 0),
        (Some(theirs), None, 0),
        (None, None, 0),
        // Again, since its answer was lost.
        (Some(done), Some(done), 1),
        (Some(done), Some(ours), 1),
        (Some(their_end), Some(done), 0),
    ] {
        for (life, left) in [(SECOND, 1_000), (Duration::ZERO, -2)] {
            let mut master = Master::new();
            for (key, value) in [("r", r), ("s", s)] {
                value.iter().for_each(|value| master.set(key, value));
            }
            let command = claim.shorten(&mut master.packer, life.into()).to_vec();
            assert_eq!(master.ask(&command), Reply::Int(answer), "{r:?} {s:?}");
            for (key, value) in [("r", r), ("s", s)] {
                let (left, after) = match value {
                    Some(value) if value == ours || value == done => {
                        (left, (left > 0).then_some(done))
                    }
                    Some(value) => (5_000, Some(value)),
                    None => (-2, None),
                };
                assert_eq!(master.ask(&pttl(key)), Reply::Int(left), "{key} of {r:?} {s:?}");
                assert_eq!(master.stands(key), after, "{key} of {r:?} {s:?}");
            }
        }
    }
}

/// Neither a client that comes late with its token nor a new one gets it.
#[test]
fn what_has_ended_well_is_taken_for_all_but_its_own_end() {
    let (two, _) = of_two();
    let single = Claim { keys: Keys::one("r".into()), ..two.clone() };
    let fenced = claim(CLOCK + 1);
    for claim in [&single, &two, &fenced] {
        let mut master = Master::new();
        master.ask(&load(EXTEND));
        let holder = Claim { ballot: None, ..claim.clone() };
        claim.keys.iter().for_each(|key| master.set(key, &holder.token.to_string()));
        let command = holder.shorten(&mut master.packer, SECOND.into()).to_vec();
        master.ask(&command);
        let done = format!("{DONE}{}", holder.token);
        let extend = claim.extend(&mut master.packer, (9 * SECOND).into()).to_vec();
        assert_eq!(master.ask(&extend), Reply::Int(-1), "an extension, or an adoption");
        assert_eq!(master.release(&Claim { ballot: None, ..claim.clone() }), Reply::Int(0));
        let top_up = claim.top_up(&mut master.packer, SECOND.into()).to_vec();
        assert_ne!(master.ask(&top_up), Reply::Okay);
        let reply = master.acquire(claim);
        assert_ne!(reply, Reply::Okay, "{claim:?}");
        for key in claim.keys.iter() {
            assert_eq!(master.stands(key), Some(&*done));
            assert_eq!(master.ask(&pttl(key)), Reply::Int(1_000));
        }
    }
}

#[test]
fn a_holder_is_taken_away_before_its_work_has_ended_and_after_it() {
    let (_, ours) = of_two();
    let done = format!("{DONE}{ours}");
    for (stands, seen, is_deleted) in [
        (&*ours, &*ours, true),
        (&*done, &*ours, true),
        (&*done, &*done, true),
        (&*ours, &*done, true),
        ("theirs", &*ours, false),
        ("theirs", "theirs", true),
        ("quorumlock:next:who", &*done, false),
    ] {
        let mut master = Master::new();
        master.set("r", stands);
        let reply = master.ask(&take_away("r", seen.as_bytes()));
        assert_eq!(reply, Reply::Int(is_deleted.into()), "{stands} as {seen}");
        assert_eq!(master.stands("r"), (!is_deleted).then_some(stands));
    }
}

#[test]
fn a_hint_ends_soon_and_is_not_marked() {
    let mut master = Master::new();
    master.set("hint", "id");
    assert_eq!(master.ask(&shorten_hint("hint", b"id", SECOND.into())), Reply::Int(1));
    assert_eq!(master.stands("hint"), Some("id"));
    assert_eq!(master.ask(&pttl("hint")), Reply::Int(1_000));
    assert_eq!(master.ask(&shorten_hint("hint", b"other", SECOND.into())), Reply::Int(0));
}
