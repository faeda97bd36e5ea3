//! What the model says a node does is what the masters' scripts do: every small case, side by side.

mod support;

use mlua::{Lua, Table, Value};
use model::masters::Extended;
use model::plain::config::RESOURCES;
use model::plain::scripts::{self, Acquired, Ballot, Claim};
use model::plain::state::{Key, OLDER};
use support::Script;

const SERVER: &str = include_str!("support/redis.lua");
const ACQUIRE: &str = include_str!("../../../core/src/wire/scripts/acquire.lua");
const TOP_UP: &str = include_str!("../../../core/src/wire/scripts/top_up.lua");
const EXTEND: &str = include_str!("../../../core/src/wire/scripts/extend.lua");
const RELEASE: &str = include_str!("../../../core/src/wire/scripts/release.lua");
const SHORTEN: &str = include_str!("../../../core/src/wire/scripts/shorten.lua");
const RELEASE_ALL: &str = include_str!("../../../core/src/wire/scripts/release_all.lua");

type Keys = [Key; RESOURCES];

/// Before the name of the waiter that an older client keeps a key for.
const KEPT_FOR: &str = "quorumlock:next:";
const KEPT: u8 = 9;
const CLOCK: u8 = 4;

impl Script {
    fn new(source: &str) -> Self {
        Self::on(SERVER, source)
    }

    /// What it answers, and what then stands.
    fn run(&self, keys: &Keys, names: &[String], arguments: &[String]) -> (Value, Keys) {
        let globals = self.lua.globals();
        let store = self.lua.create_table().expect("a table");
        for (place, key) in keys.iter().enumerate() {
            if key.owner != 0 {
                set(&self.lua, &store, lock(place), token(key.owner), key.left);
            }
            if key.fence != 0 {
                set(&self.lua, &store, fence(place), key.fence.to_string(), key.fence_left);
            }
        }
        globals.set("store", store).expect("a global");
        globals.set("clock", CLOCK).expect("a global");
        globals.set("KEYS", names.to_vec()).expect("a global");
        globals.set("ARGV", arguments.to_vec()).expect("a global");
        let reply: Value = self.script.call(()).expect("no error in a script");
        let store: Table = globals.get("store").expect("a global");
        let mut after = Keys::default();
        for (place, key) in after.iter_mut().enumerate() {
            let get = |name: String| -> Option<(String, u8)> {
                let entry: Option<Table> = store.get(name).expect("an entry");
                entry.map(|entry| (entry.get(1).expect("a value"), entry.get(2).expect("a life")))
            };
            if let Some((value, left)) = get(lock(place)) {
                // What has ended well keeps its token behind the mark.
                let owner =
                    value.trim_start_matches("quorumlock:done:").trim_start_matches(KEPT_FOR);
                (key.owner, key.left) = (owner.parse().expect("a token"), left);
            }
            if let Some((value, left)) = get(fence(place)) {
                (key.fence, key.fence_left) = (value.parse().expect("a ballot"), left);
            }
        }
        (reply, after)
    }
}

fn set(lua: &Lua, store: &Table, name: String, value: String, left: u8) {
    let entry = lua.create_table().expect("a table");
    entry.set(1, value).expect("a value");
    entry.set(2, left).expect("a life");
    store.set(name, entry).expect("an entry");
}

fn lock(place: usize) -> String {
    format!("lock {place}")
}

fn fence(place: usize) -> String {
    format!("fence {place}")
}

fn token(owner: u8) -> String {
    if owner == OLDER { format!("{KEPT_FOR}{owner}") } else { owner.to_string() }
}

/// Every combination of no key, our key, another's and one that an older client keeps, with a life shorter and longer
/// than what is asked for, and of fences below, at and above.
fn all_keys() -> Vec<Keys> {
    let mut each = Vec::new();
    for (owner, left) in [(0, 0), (1, 1), (1, 3), (2, 1), (2, 3), (OLDER, 3)] {
        for (fence, fence_left) in [(0, 0), (3, 1), (5, 1)] {
            each.push(Key { owner, left, fence, fence_left });
        }
    }
    each.iter().flat_map(|first| each.iter().map(|second| [*first, *second])).collect()
}

/// Owner 1 claims one or both, for two ticks.
fn claims() -> impl Iterator<Item = Claim> {
    (1..=3).map(|resources| Claim { owner: 1, ours: 1, resources, life: 2 })
}

fn ballots() -> Vec<Ballot> {
    let mut all = Vec::new();
    for number in 1..=7 {
        for back in [None, Some(2)] {
            let ahead = Some(2);
            let kept = KEPT;
            all.push(Ballot { number, back, ahead, kept, clock: CLOCK, at_the_fence: false });
        }
    }
    all
}

/// The names of the locks, and behind them those of the fences if there is a ballot.
fn names(claim: &Claim, fenced: bool) -> Vec<String> {
    let places: Vec<usize> =
        (0..RESOURCES).filter(|place| claim.resources >> place & 1 == 1).collect();
    let locks = places.iter().map(|place| lock(*place));
    let fences = places.iter().filter(|_| fenced).map(|place| fence(*place));
    locks.chain(fences).collect()
}

fn number(reply: &Value) -> i64 {
    reply.as_integer().or_else(|| reply.as_f64().map(|float| float as i64)).expect("a number")
}

fn acquired(reply: &Value) -> Acquired {
    let reply = reply.as_table().expect("an answer of the acquire's");
    if reply.contains_key("ok").expect("a table") {
        return Acquired::Granted;
    }
    match reply.get(1).expect("why") {
        0 => Acquired::Held,
        -1 => Acquired::Stale,
        -2 => Acquired::Clock,
        other => panic!("why: {other}"),
    }
}

#[test]
fn an_acquire_does_what_its_script_does() {
    let script = Script::new(ACQUIRE);
    for (keys, claim) in all_keys().iter().flat_map(|keys| claims().map(move |claim| (keys, claim)))
    {
        let fenced = ballots().into_iter().map(Some);
        let cases = [None].into_iter().chain(fenced).map(|ballot| {
            // The ballot of a top-up may be behind by any time.
            let is_top_up = ballot.as_ref().is_some_and(|ballot| ballot.back.is_none());
            (ballot, is_top_up)
        });
        for (ballot, is_top_up) in cases.chain([(None, true)]) {
            let mut arguments =
                vec![token(1), claim.life.to_string(), u8::from(is_top_up).to_string()];
            if let Some(ballot) = &ballot {
                let back = ballot.back.unwrap_or_default().to_string();
                let ahead = ballot.ahead.unwrap_or_default().to_string();
                arguments.extend([ballot.number.to_string(), back, ahead, KEPT.to_string()]);
            }
            let (reply, stands) = script.run(keys, &names(&claim, ballot.is_some()), &arguments);
            let mut ours = *keys;
            let answer = scripts::acquire(&mut ours, &claim, ballot.as_ref(), is_top_up);
            assert_eq!((answer, ours), (acquired(&reply), stands), "{keys:?} {claim:?} {ballot:?}");
        }
    }
}

#[test]
fn a_top_up_does_what_its_script_does() {
    let script = Script::new(TOP_UP);
    let single = || claims().filter(|claim| claim.resources.count_ones() == 1);
    for (keys, claim) in all_keys().iter().flat_map(|keys| single().map(move |claim| (keys, claim)))
    {
        let arguments = [token(1), claim.life.to_string()];
        let (reply, stands) = script.run(keys, &names(&claim, false), &arguments);
        let mut ours = *keys;
        let is_granted = scripts::top_up(&mut ours, &claim) == Acquired::Granted;
        assert_eq!((is_granted, ours), (number(&reply) == 1, stands), "{keys:?} {claim:?}");
    }
}

#[test]
fn an_extension_does_what_its_script_does() {
    let script = Script::new(EXTEND);
    for (keys, claim) in all_keys().iter().flat_map(|keys| claims().map(move |claim| (keys, claim)))
    {
        let arguments = [token(1), claim.life.to_string()];
        let (reply, stands) = script.run(keys, &names(&claim, false), &arguments);
        let mut ours = *keys;
        let answer = match scripts::extend(&mut ours, &claim, false) {
            Extended::Held => 1,
            Extended::Vacant => 0,
            Extended::Taken => -1,
        };
        assert_eq!((answer, ours), (number(&reply), stands), "{keys:?} {claim:?}");
    }
}

#[test]
fn a_release_does_what_its_scripts_do() {
    let (plain, all) = (Script::new(RELEASE), Script::new(RELEASE_ALL));
    for (keys, claim) in all_keys().iter().flat_map(|keys| claims().map(move |claim| (keys, claim)))
    {
        let mut ours = *keys;
        let deleted = scripts::release(&mut ours, &claim, None) != 0;
        let arguments = [token(1)];
        if claim.resources.count_ones() == 1 {
            let (reply, stands) = plain.run(keys, &names(&claim, false), &arguments);
            assert_eq!((deleted, ours), (number(&reply) > 0, stands), "{keys:?} {claim:?}");
        }
        let (_, stands) = all.run(keys, &names(&claim, false), &arguments);
        assert_eq!(ours, stands, "{keys:?} {claim:?}");
        for ballot in ballots() {
            let mut ours = *keys;
            scripts::release(&mut ours, &claim, Some(&ballot));
            let ahead = ballot.ahead.unwrap_or_default().to_string();
            let mut arguments = arguments.to_vec();
            arguments.extend([ballot.number.to_string(), ahead, KEPT.to_string()]);
            let (_, stands) = all.run(keys, &names(&claim, true), &arguments);
            assert_eq!(ours, stands, "{keys:?} {claim:?} {ballot:?}");
        }
    }
}

#[test]
fn what_stays_does_what_its_script_does() {
    let script = Script::new(SHORTEN);
    for (keys, claim) in all_keys().iter().flat_map(|keys| claims().map(move |claim| (keys, claim)))
    {
        let mut ours = *keys;
        scripts::shorten(&mut ours, &claim, 2);
        let (_, stands) = script.run(keys, &names(&claim, false), &[token(1), "2".to_owned()]);
        assert_eq!(ours, stands, "{keys:?} {claim:?}");
    }
}

#[test]
fn a_model_that_shortens_differs_from_the_script() {
    let keys = [Key { owner: 1, left: 3, fence: 0, fence_left: 0 }, Key::default()];
    let claim = Claim { owner: 1, ours: 1, resources: 1, life: 2 };
    let arguments = [token(1), claim.life.to_string()];
    let (_, stands) = Script::new(EXTEND).run(&keys, &names(&claim, false), &arguments);
    let mut ours = keys;
    scripts::extend(&mut ours, &claim, true);
    assert_ne!(ours, stands);
}
