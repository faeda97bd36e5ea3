//! What the model says a master does for readers is what the scripts of readers do: every small
//! case, side by side.

mod support;

use mlua::{Table, Value};
use model::masters::Extended;
use model::sharing::scripts::{Asked, CONTENDERS, Command, MARK, Master};
use support::Script;

const SERVER: &str =
    concat!(include_str!("support/redis.lua"), include_str!("support/readers.lua"));
const ACQUIRE: &str = include_str!("../../../core/src/wire/scripts/acquire_read.lua");
const EXTEND: &str = include_str!("../../../core/src/wire/scripts/extend_read.lua");
const RELEASE: &str = include_str!("../../../core/src/wire/scripts/release_read.lua");

/// The clock in ms; the server's is in us, and has begun the next ms.
const NOW: i64 = 50;
const CLOCK_US: i64 = NOW * 1000 + 999;

const SHARED: &str = "quorumlock:shared";

/// The reader that sends the command, and the life that it asks for.
const COMMAND: Command = Command { who: 0, life: 2, mutant: None };

impl Script {
    fn new(source: &str) -> Self {
        Self::on(SERVER, source)
    }

    /// What it answers, and what then stands. `stale`: a reader that is over is still in the set.
    fn run(&self, master: &Master, stale: bool, arguments: &[&str]) -> (Value, Master) {
        let globals = self.lua.globals();
        globals.set("store", self.stored(master, stale)).expect("a global");
        globals.set("clock", CLOCK_US).expect("a global");
        globals.set("published", Value::Nil).expect("a global");
        globals.set("KEYS", vec!["lock", "readers", "hint"]).expect("a global");
        globals.set("ARGV", arguments.to_vec()).expect("a global");
        let reply: Value = self.script.call(()).expect("no error in a script");
        (reply, self.stands())
    }

    fn stored(&self, master: &Master, stale: bool) -> Table {
        let store = self.lua.create_table().expect("a table");
        let entry = |name: &str, value: Value, left: i64| {
            let entry = self.lua.create_table().expect("a table");
            entry.set(1, value).expect("a value");
            entry.set(2, left).expect("a life");
            store.set(name, entry).expect("an entry");
        };
        let text = |text: &str| Value::String(self.lua.create_string(text).expect("a string"));
        match master.owner {
            0 => {}
            MARK => entry("lock", text(SHARED), master.left.into()),
            owner => entry("lock", text(&token(usize::from(owner) - 1)), master.left.into()),
        }
        if master.hint != 0 {
            entry("hint", text("hint"), master.hint_left.into());
        }
        let scores = self.lua.create_table().expect("a table");
        for (who, left) in master.readers.iter().enumerate().filter(|(_, left)| **left != 0) {
            scores.set(token(who), NOW + i64::from(*left)).expect("a score");
        }
        if stale {
            scores.set(token(CONTENDERS), NOW - 1).expect("a score");
        }
        if stale || master.readers != [0; CONTENDERS] {
            entry("readers", Value::Table(scores), 1000);
        }
        store
    }

    fn stands(&self) -> Master {
        let store: Table = self.lua.globals().get("store").expect("a global");
        let entry = |name: &str| -> Option<Table> { store.get(name).expect("an entry") };
        let left = |entry: &Table| -> u8 { entry.get(2).expect("a life") };
        let mut master = Master::default();
        if let Some(lock) = entry("lock") {
            let value: String = lock.get(1).expect("a value");
            let named = (0..CONTENDERS).find(|who| token(*who) == value);
            master.owner = named.map_or(MARK, |who| who as u8 + 1);
            assert!(named.is_some() || value == SHARED, "{value}");
            master.left = left(&lock);
        }
        if let Some(hint) = entry("hint") {
            (master.hint, master.hint_left) = (1, left(&hint));
        }
        if let Some(readers) = entry("readers") {
            let scores: Table = readers.get(1).expect("a set");
            for (who, reads) in master.readers.iter_mut().enumerate() {
                let score: Option<i64> = scores.get(token(who)).expect("a score");
                *reads = score.map_or(0, |score| u8::try_from(score - NOW).expect("a life"));
            }
        }
        master
    }

    /// The readers are kept for longer than any of them reads: none is lost before its time.
    fn keeps_readers(&self) -> bool {
        let store: Table = self.lua.globals().get("store").expect("a global");
        let readers: Option<Table> = store.get("readers").expect("an entry");
        let kept = readers.map(|readers| readers.get::<i64>(2).expect("a life"));
        kept.is_none_or(|kept| kept >= 1000)
    }

    fn published(&self) -> Option<String> {
        self.lua.globals().get("published").expect("a global")
    }
}

fn token(who: usize) -> String {
    format!("token {who}")
}

/// Every combination of no key, our token, another's and the mark, with readers that fit and that do
/// not: a client of another version may have deleted the mark.
fn masters() -> Vec<Master> {
    let mut all = Vec::new();
    for (owner, left) in
        [(0, 0), (1, 1), (1, 3), (2, 1), (2, 3), (MARK, 1), (MARK, 2), (MARK, 3), (MARK, 4)]
    {
        for ours in [0, 1, 2, 3] {
            for others in [[0, 0], [1, 0], [4, 0], [1, 3]] {
                for hint in [0, 1] {
                    let readers = [ours, others[0], others[1], 0];
                    let hint_left = hint * 3;
                    all.push(Master { owner, left, readers, hint, hint_left, count: 0 });
                }
            }
        }
    }
    all
}

/// Every master, with a reader that is over and without.
fn cases() -> impl Iterator<Item = (Master, bool)> {
    masters().into_iter().flat_map(|master| [(master, false), (master, true)])
}

fn number(reply: &Value) -> i64 {
    reply.as_integer().or_else(|| reply.as_f64().map(|float| float as i64)).expect("a number")
}

/// What a reader is answered, and until when it is refused.
fn asked(reply: &Value) -> (Asked, u8) {
    let reply = reply.as_table().expect("an answer to a reader");
    if reply.contains_key("ok").expect("a table") {
        return (Asked::Granted, 0);
    }
    let life = reply.get(2).expect("a life");
    match reply.get(1).expect("why") {
        0 => (Asked::Held, life),
        1 => (Asked::Wanted, life),
        other => panic!("why: {other}"),
    }
}

#[test]
fn a_reader_is_let_in_as_its_script_says() {
    let script = Script::new(ACQUIRE);
    for (master, stale) in cases() {
        for (in_spite, argument) in [(false, "0"), (true, "1")] {
            let (reply, stands) = script.run(&master, stale, &[&token(0), "2", argument]);
            let mut ours = master;
            let answer = ours.acquire_read(&COMMAND, in_spite);
            let until = match answer {
                Asked::Granted => 0,
                Asked::Held => master.left,
                Asked::Wanted => master.hint_left,
            };
            assert_eq!(((answer, until), ours), (asked(&reply), stands), "{master:?} {in_spite}");
            assert!(answer != Asked::Granted || script.keeps_readers(), "{master:?}");
        }
    }
}

#[test]
fn a_reader_is_extended_and_a_writer_downgraded_as_their_script_says() {
    let script = Script::new(EXTEND);
    for (master, stale) in cases() {
        let (reply, stands) = script.run(&master, stale, &[&token(0), "2"]);
        let mut ours = master;
        let answer = match ours.extend_read(&COMMAND) {
            Extended::Held => 1,
            Extended::Vacant => 0,
            Extended::Taken => -1,
        };
        assert_eq!((answer, ours), (number(&reply), stands), "{master:?} {stale}");
        assert!(answer != 1 || script.keeps_readers(), "{master:?}");
    }
}

#[test]
fn a_reader_is_released_as_its_script_says() {
    let script = Script::new(RELEASE);
    for (master, stale) in cases() {
        let (reply, stands) = script.run(&master, stale, &[&token(0), "free:"]);
        let mut ours = master;
        let answer = ours.release_read(&COMMAND);
        assert_eq!((answer, ours), (number(&reply) == 1, stands), "{master:?} {stale}");
        // Published exactly when the last reader has left.
        let published = (answer && ours.owner == 0).then(|| "free:lock".to_owned());
        assert_eq!(script.published(), published, "{master:?} {stale}");
    }
}

#[test]
fn an_empty_token_releases_nothing() {
    let script = Script::new(RELEASE);
    for (master, _) in cases().filter(|(_, stale)| !stale) {
        let (reply, stands) = script.run(&master, false, &["", "free:"]);
        assert_eq!((number(&reply), stands), (0, master));
    }
}

#[test]
fn a_model_that_does_not_tighten_differs_from_the_script() {
    use model::sharing::mutants::Mutant;
    let master = Master { owner: MARK, left: 3, readers: [3, 1, 0, 0], ..Master::default() };
    let (_, stands) = Script::new(RELEASE).run(&master, false, &[&token(0), "free:"]);
    let mut ours = master;
    ours.release_read(&Command { mutant: Some(Mutant::MarkNotTightened), ..COMMAND });
    assert_ne!(ours, stands);
}
