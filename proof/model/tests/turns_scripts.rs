//! What the model says a master does for waiters in turn is what their scripts do: every small case,
//! side by side.

mod support;

use mlua::{Table, Value};
use model::masters::Extended;
use model::turns::mutants::Mutant;
use model::turns::scripts::{Answer, Asks, CLIENTS, KEPT, Leaves, Master};
use support::Script;

const SERVER: &str = concat!(include_str!("support/redis.lua"), include_str!("support/turns.lua"));
const ASK: &str = include_str!("../../../core/src/wire/scripts/ask.lua");
const LEAVE: &str = include_str!("../../../core/src/wire/scripts/leave.lua");
const EXTEND: &str = include_str!("../../../core/src/wire/scripts/extend.lua");
const TOP_UP: &str = include_str!("../../../core/src/wire/scripts/top_up.lua");
const ACQUIRE: &str = include_str!("../../../core/src/wire/scripts/acquire.lua");

/// A stamp of 1, in us; lives are in ms.
const BASE: u64 = 1_000_000_000_000;
const NOW: u64 = BASE / 1_000;
/// The settings of the client that asks: waiter 0.
const ASKS: Asks = Asks {
    who: 0,
    tries: false,
    ticket: 0,
    clock: 4,
    barred: false,
    ttl: 2,
    entry: 5,
    kept: 6,
    mutant: None,
};

/// A waiter that died, in front of all others in the queue, which the model has forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dead {
    None,
    Expired,
    Unknown,
}

const DEAD: [Dead; 3] = [Dead::None, Dead::Expired, Dead::Unknown];

fn token(who: usize) -> String {
    format!("token {who}")
}

fn waiter(who: usize) -> String {
    format!("waiter {who}")
}

fn kept_for(who: usize) -> String {
    format!("quorumlock:next:{}", waiter(who))
}

fn value(key: u8) -> String {
    let who = usize::from(key & !KEPT) - 1;
    if key & KEPT == 0 { token(who) } else { kept_for(who) }
}

impl Script {
    fn new(source: &str) -> Self {
        Self::on(SERVER, source)
    }

    /// What it answers, and what then stands, with the fence.
    fn run(
        &self,
        (master, dead): (&Master, Dead),
        (keys, fence): (&[&str], u64),
        arguments: &[String],
        clock: u8,
    ) -> (Value, Master, u64) {
        let globals = self.lua.globals();
        let store = self.stored(master, dead);
        if fence != 0 {
            store.set("fence", self.entry(fence.to_string(), 9)).expect("an entry");
        }
        globals.set("store", store).expect("a global");
        globals.set("clock", BASE + u64::from(clock)).expect("a global");
        globals.set("published", Value::Nil).expect("a global");
        globals.set("hurried", Vec::<String>::new()).expect("a global");
        globals.set("KEYS", keys.to_vec()).expect("a global");
        globals.set("ARGV", arguments.to_vec()).expect("a global");
        let reply: Value = self.script.call(()).expect("no error in a script");
        let (stands, fence) = self.stands();
        (reply, stands, fence)
    }

    fn entry(&self, value: impl mlua::IntoLua, left: u64) -> Table {
        let entry = self.lua.create_table().expect("a table");
        entry.set(1, value).expect("a value");
        entry.set(2, left).expect("a life");
        entry
    }

    fn stored(&self, master: &Master, dead: Dead) -> Table {
        let lua = &self.lua;
        let store = lua.create_table().expect("a table");
        if master.key != 0 {
            let lock = self.entry(value(master.key), master.left.into());
            store.set("lock", lock).expect("an entry");
        }
        let (queue, alive) =
            (lua.create_table().expect("a table"), lua.create_table().expect("a table"));
        for who in (0..CLIENTS).filter(|who| master.stamps[*who] != 0) {
            queue.set(waiter(who), BASE + u64::from(master.stamps[who])).expect("a place");
            alive.set(waiter(who), NOW + u64::from(master.lives[who])).expect("an end");
        }
        if dead != Dead::None {
            queue.set("dead", BASE - 9).expect("a place");
        }
        if dead == Dead::Expired {
            alive.set("dead", NOW - 1).expect("an end");
        }
        for (key, set) in [("queue", queue), ("alive", alive)] {
            if !set.is_empty() {
                store.set(key, self.entry(set, 9)).expect("an entry");
            }
        }
        store
    }

    fn stands(&self) -> (Master, u64) {
        let store: Table = self.lua.globals().get("store").expect("a global");
        let entry = |name: &str| -> Option<Table> { store.get(name).expect("an entry") };
        let mut master = Master::default();
        if let Some(lock) = entry("lock") {
            let found: String = lock.get(1).expect("a value");
            let all = (1..=CLIENTS as u8).flat_map(|key| [key, key | KEPT]);
            master.key = all.into_iter().find(|key| value(*key) == found).expect("a value of ours");
            master.left = lock.get(2).expect("a life");
        }
        let score = |set: &str, who: usize, from: u64| -> u8 {
            let set: Option<Table> = entry(set).map(|set| set.get(1).expect("a set"));
            let score: Option<u64> = set.and_then(|set| set.get(waiter(who)).expect("a score"));
            score.map_or(0, |score| u8::try_from(score - from).expect("a small score"))
        };
        for who in 0..CLIENTS {
            master.stamps[who] = score("queue", who, BASE);
            master.lives[who] = score("alive", who, NOW);
        }
        let fence: Option<String> = entry("fence").map(|fence| fence.get(1).expect("a value"));
        (master, fence.map_or(0, |fence| fence.parse().expect("a ballot")))
    }

    /// The messages that let waiters look.
    fn hurried(&self) -> Vec<String> {
        self.lua.globals().get("hurried").expect("a global")
    }

    /// The channel and the message that it has published.
    fn published(&self) -> Option<(String, String)> {
        let sent: Option<Table> = self.lua.globals().get("published").expect("a global");
        sent.map(|sent| (sent.get(1).expect("a channel"), sent.get(2).expect("a message")))
    }
}

/// Every order of up to three waiters, with ties, and everything that may be under the key: the last of
/// four clients waits nowhere.
fn masters() -> Vec<Master> {
    let mut all = Vec::new();
    for (key, left) in [(0, 0), (1, 1), (1, 3), (2, 3), (KEPT | 1, 1), (KEPT | 2, 3), (KEPT | 4, 1)]
    {
        for case in 0..32 {
            let stamps = [[0, 1, 2, 6][case % 4], [0, 1, 2, 6][case / 4 % 4], [0, 2][case / 16], 0];
            // One is longer than a place lives: the clock was set back, or its client has other lives.
            let lives = |who| if stamps[who] == 0 { 0 } else { [3, 9, 9, 0][who] };
            let lives = std::array::from_fn(lives);
            all.push(Master { key, left, stamps, lives });
        }
    }
    all
}

fn cases() -> impl Iterator<Item = (Master, Dead)> {
    masters().into_iter().flat_map(|master| DEAD.map(|dead| (master, dead)))
}

/// A ballot, the fence before it, and whether that bars it; it may be one us from the clock.
#[derive(Clone, Copy, Debug)]
struct Ballot {
    number: u64,
    fence: u64,
    bars: bool,
}

fn ballots(clock: u8) -> [Option<Ballot>; 8] {
    let clock = BASE + u64::from(clock);
    let ballot = |number, fence, bars| Some(Ballot { number, fence, bars });
    [
        None,
        ballot(clock - 1, 0, false),
        ballot(clock + 1, clock, false),
        ballot(clock, clock, true),
        ballot(clock, clock + 1, true),
        ballot(clock - 2, 0, true),
        ballot(clock + 2, 0, true),
        ballot(clock + 2, clock + 3, true),
    ]
}

fn number(reply: &Value) -> i64 {
    reply.as_integer().or_else(|| reply.as_f64().map(|float| float as i64)).expect("a number")
}

/// The answer, and where it stands: its stamp, and how many are before it.
fn asked(reply: &Value) -> (Answer, Option<(u64, usize)>) {
    let reply = reply.as_table().expect("an answer to a client");
    if reply.contains_key("ok").expect("a table") {
        return (Answer::Granted, None);
    }
    let stamp: String = reply.get(5).expect("a stamp");
    let stamp = stamp.parse::<u64>().expect("a number") - BASE;
    let ahead: usize = reply.get(6).expect("a number");
    let answer = match reply.get(1).expect("why") {
        0 => Answer::Held { left: reply.get(2).expect("a life"), first: ahead == 0 },
        2 => Answer::Others,
        -1 | -2 => Answer::Barred,
        -3 => Answer::Would,
        other => panic!("why: {other}"),
    };
    (answer, Some((stamp, ahead)))
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// Runs `ask.lua` and the model on a master: the answers, what stands, and where the client stands.
fn ask(script: &Script, (master, dead): (&Master, Dead), asks: &Asks, ballot: Option<Ballot>) {
    let asks = Asks { barred: ballot.is_some_and(|ballot| ballot.bars), ..*asks };
    let mut arguments = vec![
        if asks.tries { token(asks.who) } else { String::new() },
        asks.ttl.to_string(),
        waiter(asks.who),
        if asks.ticket == 0 { String::new() } else { (BASE + u64::from(asks.ticket)).to_string() },
        asks.entry.to_string(),
        asks.kept.to_string(),
    ];
    if let Some(ballot) = ballot {
        arguments.push(ballot.number.to_string());
        arguments.extend(texts(["1", "1", "9"]));
    }
    let keys: &[&str] = match ballot {
        Some(_) => &["lock", "queue", "alive", "fence"],
        None => &["lock", "queue", "alive"],
    };
    let before = ballot.map_or(0, |ballot| ballot.fence);
    let (reply, stands, fence) = script.run((master, dead), (keys, before), &arguments, asks.clock);
    let mut ours = *master;
    let answer = ours.ask(&asks);
    let (theirs, place) = asked(&reply);
    assert_eq!((answer, ours), (theirs, stands), "{master:?} {dead:?} {asks:?} {ballot:?}");
    let sets = answer == Answer::Granted && !master.holds(asks.who);
    let raised = ballot.filter(|_| sets).map_or(before, |ballot| ballot.number);
    assert_eq!(fence, raised, "{master:?} {asks:?} {ballot:?}");
    let order = |who: usize| (ours.stamps[who], who);
    let ahead = (0..CLIENTS).filter(|who| ours.stamps[*who] > 0 && order(*who) < order(asks.who));
    let place_of_ours = (u64::from(ours.stamps[asks.who]), ahead.count());
    assert_eq!(place.unwrap_or(place_of_ours), place_of_ours, "{master:?} {dead:?} {asks:?}");
}

#[test]
fn a_look_and_a_try_do_what_their_script_does() {
    let script = Script::new(ASK);
    for (master, dead) in cases() {
        for (tries, ticket) in [(false, 0), (false, 3), (true, 0), (true, 1), (true, 3), (true, 9)]
        {
            for clock in [2, 7] {
                let asks = Asks { tries, ticket, clock, ..ASKS };
                let all = ballots(clock);
                let many = if dead == Dead::None { all.len() } else { 2 };
                for ballot in all.into_iter().take(many) {
                    ask(&script, (&master, dead), &asks, ballot);
                }
            }
        }
    }
}

/// The messages that let these waiters look, in their order; the first in the queue is called instead.
fn letters(master: &Master, looks: u8) -> Vec<String> {
    let mut named: Vec<usize> = (0..CLIENTS).filter(|waiter| looks >> waiter & 1 == 1).collect();
    named.sort_by_key(|waiter| (master.stamps[*waiter], *waiter));
    named.retain(|waiter| master.head() != Some(*waiter));
    named.into_iter().map(|name| format!("look {} lock", waiter(name))).collect()
}

#[test]
fn a_rollback_a_withdrawal_and_a_release_do_what_their_script_does() {
    let script = Script::new(LEAVE);
    let kinds = [(Leaves::Nothing, "try"), (Leaves::Place, "place"), (Leaves::Hold, "hold")];
    for (master, dead) in cases() {
        for (leaves, name) in kinds {
            let mut ours = master;
            let (tells, looks) = ours.leave(&ASKS, leaves, true);
            let stood = master.stamps[0] != 0 || master.key == KEPT | 1;
            let names = [Some(waiter(0)), Some(String::new()).filter(|_| !stood)];
            for (waits, channels) in
                names.into_iter().flatten().flat_map(|name| [(name.clone(), ""), (name, "free:")])
            {
                let arguments =
                    [texts([&token(0), &waits, name, "5", "6"]), texts([channels])].concat();
                for ballot in ballots(ASKS.clock) {
                    let mut arguments = arguments.clone();
                    if let Some(ballot) = ballot {
                        arguments.push(ballot.number.to_string());
                        arguments.extend(texts(["1", "9"]));
                    }
                    let keys: &[&str] = match ballot {
                        Some(_) => &["lock", "queue", "alive", "fence"],
                        None => &["lock", "queue", "alive"],
                    };
                    let before = ballot.map_or(0, |ballot| ballot.fence);
                    let (reply, stands, fence) =
                        script.run((&master, dead), (keys, before), &arguments, ASKS.clock);
                    let case = format!("{master:?} {dead:?} {leaves:?} {waits:?} {ballot:?}");
                    assert_eq!((master.holds(0).into(), ours), (number(&reply), stands), "{case}");
                    let published = (tells && channels == "free:").then(|| {
                        let named = ours.head().map(waiter).unwrap_or_default();
                        ("free:lock".to_owned(), named)
                    });
                    assert_eq!(script.published(), published, "{case}");
                    let hurried = letters(&ours, looks * u8::from(published.is_some()));
                    assert_eq!(script.hurried(), hurried, "{case}");
                    let most = BASE + u64::from(ASKS.clock) + 1;
                    let raises =
                        ballot.filter(|ballot| ballot.number <= most && ballot.number > before);
                    assert_eq!(fence, raises.map_or(before, |ballot| ballot.number), "{case}");
                }
            }
        }
    }
}

#[test]
fn an_extension_does_what_its_script_does() {
    let script = Script::new(EXTEND);
    for (master, dead) in cases() {
        let arguments = [token(0), ASKS.ttl.to_string()];
        let (reply, stands, _) = script.run((&master, dead), (&["lock"], 0), &arguments, 4);
        let mut ours = master;
        let answer = match ours.extend(&ASKS) {
            Extended::Held => 1,
            Extended::Vacant => 0,
            Extended::Taken => -1,
        };
        assert_eq!((answer, ours), (number(&reply), stands), "{master:?}");
    }
}

#[test]
fn a_top_up_does_what_its_scripts_do() {
    let (plain, all) = (Script::new(TOP_UP), Script::new(ACQUIRE));
    for (master, dead) in cases() {
        let mut ours = master;
        ours.top_up(&ASKS);
        let mut arguments = vec![token(0), ASKS.ttl.to_string()];
        let (reply, stands, _) = plain.run((&master, dead), (&["lock"], 0), &arguments, 4);
        let sets = !master.is_held();
        assert_eq!((number(&reply), stands), (sets.into(), ours), "{master:?}");
        arguments.push("1".into());
        let (_, stands, _) = all.run((&master, dead), (&["lock"], 0), &arguments, 4);
        assert_eq!(stands, ours, "{master:?}");
        // Won long ago.
        arguments.extend([(BASE - 500).to_string(), "1".into(), "1".into(), "9".into()]);
        let (_, stands, fence) = all.run((&master, dead), (&["lock", "fence"], 0), &arguments, 4);
        assert_eq!(stands, ours, "{master:?}");
        let granted = sets || master.holds(0);
        assert_eq!(fence, if granted { BASE - 500 } else { 0 }, "{master:?}");
    }
}

/// The first attempt of a client that has not waited, with a ballot; without one it is a plain SET.
#[test]
fn an_acquire_that_is_no_top_up_is_refused_where_a_key_is_kept() {
    let script = Script::new(ACQUIRE);
    for (master, dead) in cases().filter(|(master, _)| !master.holds(0)) {
        let arguments = [token(0), ASKS.ttl.to_string(), "0".into()];
        let (reply, stands, _) = script.run((&master, dead), (&["lock"], 0), &arguments, 4);
        let mut ours = master;
        let granted = ours.set(0, ASKS.ttl);
        let grants = reply.as_table().expect("a table").contains_key("ok").expect("a table");
        assert_eq!((granted, ours), (grants, stands), "{master:?}");
    }
}

#[test]
fn a_model_that_keeps_nothing_differs_from_the_script() {
    let master = Master { key: 1, left: 3, stamps: [0, 2, 0, 0], lives: [0, 3, 0, 0] };
    let arguments = texts([&token(0), "", "hold", "5", "6", "free:"]);
    let script = Script::new(LEAVE);
    let keys = &["lock", "queue", "alive"];
    let (_, stands, _) = script.run((&master, Dead::None), (keys, 0), &arguments, 4);
    let mut ours = master;
    ours.leave(&Asks { mutant: Some(Mutant::NothingKept), ..ASKS }, Leaves::Hold, true);
    assert_ne!(ours, stands);
}
