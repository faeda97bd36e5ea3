//! What the model says a node does with the question, and with a note that is taken back, is what the
//! scripts do: every short order of both and of time that passes, side by side. The question of an older
//! version stands among them.

use mlua::{Function, Lua, Table, Value};
use model::agreement::config::{Client, Config};
use model::agreement::mutants::Mutant;
use model::agreement::properties::Property;
use model::agreement::{Action, Agreement};
use model::checker::Model;
use std::collections::BTreeSet;

const SERVER: &str = include_str!("support/hash.lua");
const AGREE: &str = include_str!("../../../core/src/wire/scripts/agree.lua");
const WITHDRAW: &str = include_str!("../../../core/src/wire/scripts/withdraw.lua");
/// That of the version before notes had parts.
const OLDER: &str = include_str!("support/older_agree.lua");

/// The longest silence, and a little more: a note is a millisecond longer if it is prolonged at once.
const TICK_MS: u64 = 15_010;
const SILENCE_MS: u64 = 15_000;
const STEPS: usize = 6;

/// What differs, as far as a reply reports it: whether a number does, and which lists.
#[derive(PartialEq, Eq, Debug, Default)]
struct Reply {
    agreed: bool,
    numbers: bool,
    lists: BTreeSet<String>,
}

fn lists(client: &Client) -> Vec<String> {
    let mut lists: Vec<String> = client.lists.iter().map(|list| format!("list {list}")).collect();
    lists.sort_unstable();
    lists.dedup();
    lists
}

struct Server {
    lua: Lua,
    agree: Function,
    withdraw: Function,
    older: Function,
    clock: u64,
}

/// A step of one order.
#[derive(Clone, Copy, Debug)]
enum Step {
    Asks(usize),
    TakesBack(usize),
    Tick,
}

/// A run, and the client that is of an older version, if one is.
struct Mixed {
    config: Config,
    older: Option<usize>,
}

impl Mixed {
    fn new(name: &'static str, clients: &[Client]) -> Self {
        // What is reported to each client is read, whatever it does next.
        let config = Config::new(name, 4, clients).property(Property::ReadersStopNoClient);
        Self { config, older: None }
    }

    fn steps(&self) -> Vec<Step> {
        let clients = self.config.clients.iter().enumerate();
        let quits = clients.clone().filter(|(_, client)| client.quits);
        let asks = clients.map(|(client, _)| Step::Asks(client));
        asks.chain(quits.map(|(client, _)| Step::TakesBack(client))).chain([Step::Tick]).collect()
    }
}

impl Server {
    fn new() -> Self {
        let lua = Lua::new();
        lua.load(SERVER).exec().expect("the server's part");
        let script = |text: &str| lua.load(text).into_function().expect("a script of the crate");
        let [agree, withdraw, older] = [AGREE, WITHDRAW, OLDER].map(script);
        Self { lua, agree, withdraw, older, clock: 1_000_000 }
    }

    fn empties(&mut self) {
        self.lua.globals().set("hash", Value::Nil).expect("a global");
    }

    fn runs(&self, arguments: Vec<String>) {
        let globals = self.lua.globals();
        globals.set("clock", self.clock).expect("a global");
        globals.set("KEYS", ["agreement"]).expect("a global");
        globals.set("ARGV", arguments).expect("a global");
    }

    fn takes_back(&self, client: &Client, name: usize) {
        let arguments = [name.to_string(), "0".to_owned()].into_iter().chain(lists(client));
        self.runs(arguments.collect());
        let _: i64 = self.withdraw.call(()).expect("no error in a script");
    }

    fn is_asked(&self, client: &Client, name: Option<usize>) -> Reply {
        let ms = |ticks: u8| u64::from(ticks) * SILENCE_MS;
        let life = match client {
            Client { reads: true, .. } => 0,
            Client { brief: true, .. } => SILENCE_MS + TICK_MS,
            _ => ms(client.max_ttl) + SILENCE_MS,
        };
        let numbers = [life, ms(client.max_ttl), ms(client.back), ms(client.ahead)];
        let whose = name.map(|name| [name.to_string(), String::new(), String::new()]);
        let arguments = numbers.iter().map(u64::to_string).chain(whose.into_iter().flatten());
        self.runs(arguments.chain(lists(client)).collect());
        let (script, before) = if name.is_some() { (&self.agree, 2) } else { (&self.older, 3) };
        let answer: Table = script.call(()).expect("no error in a script");
        let answer: Vec<Value> =
            answer.sequence_values().collect::<Result<_, _>>().expect("values");
        let text = |value: &Value| value.to_string().expect("a text");
        let mut reply = Reply { agreed: answer.len() == before, ..Reply::default() };
        for difference in answer[before..].chunks(3) {
            if text(&difference[0]) == "lists" {
                reply.lists.insert(text(&difference[1]));
            } else {
                reply.numbers = true;
            }
        }
        reply
    }
}

/// Both do the same, step by step; returns the first step after which they do not.
fn side_by_side(mixed: &Mixed, steps: &[Step], server: &mut Server) -> Result<(), String> {
    let agreement = Agreement::new(mixed.config.clone());
    let clients = &mixed.config.clients;
    let mut state = agreement.initial();
    server.empties();
    for step in steps {
        let client = match *step {
            Step::Tick => {
                state = agreement.step(&state, Action::Tick).unwrap_or(state);
                server.clock += TICK_MS;
                continue;
            }
            Step::TakesBack(client) => {
                state = agreement.step(&state, Action::Quit { client }).unwrap_or(state);
                let taken = Action::TakeBack { client, node: 0 };
                state = agreement.step(&state, taken).unwrap_or(state);
                server.takes_back(&clients[client], client);
                continue;
            }
            Step::Asks(client) => client,
        };
        state = agreement.step(&state, Action::Ask { client, node: 0 }).unwrap_or(state);
        let (ours, link) = (&clients[client], &state.nodes[0].links[client]);
        let others = clients.iter().enumerate().filter(|(other, _)| link.reported[*other] > 0);
        let mut reply = Reply { agreed: true, ..Reply::default() };
        for (_, theirs) in others {
            reply.agreed = false;
            reply.numbers |= !ours.has_the_numbers(theirs);
            if !ours.shares_a_list(theirs) {
                reply.lists.insert(lists(theirs).join("\n"));
            }
        }
        let answer = server.is_asked(ours, (mixed.older != Some(client)).then_some(client));
        if reply != answer {
            return Err(format!("{steps:?}: the model has {reply:?}, the script {answer:?}"));
        }
    }
    Ok(())
}

fn every_order(mixed: &Mixed) -> Result<(), String> {
    let choices = mixed.steps();
    let mut server = Server::new();
    for order in 0..choices.len().pow(STEPS as u32) {
        let choice =
            |place: usize| choices[order / choices.len().pow(place as u32) % choices.len()];
        let steps: Vec<Step> = (0..STEPS).map(choice).collect();
        side_by_side(mixed, &steps, &mut server)?;
    }
    Ok(())
}

fn mixes() -> Vec<Mixed> {
    let own = Client::of(0b0111);
    let other = Client::of(0b1101);
    vec![
        Mixed::new("the same", &[own, own]),
        Mixed::new("other lists", &[own, other, Client::joint(0b0111, 0b1101)]),
        Mixed::new("other numbers", &[own, own.ttl(1, 1), own.window(1, 0)]),
        Mixed::new("both", &[own, other.ttl(1, 1), other]),
        Mixed::new("a reader", &[own, other.reader(), other]),
        Mixed::new("brief notes", &[own.brief(), other, own]),
        Mixed::new("a brief note beside", &[own, Client::joint(0b0111, 0b1101).brief(), other]),
        Mixed::new("one of two leaves", &[own.quits(), own, other]),
        Mixed::new("each of two leaves", &[own.quits(), own.brief().quits(), other]),
        Mixed::new("one leaves beside other numbers", &[own.quits(), own.ttl(1, 1)]),
        Mixed { older: Some(1), ..Mixed::new("beside an older one", &[own.quits(), own, other]) },
        Mixed { older: Some(2), ..Mixed::new("an older other one", &[own.quits(), own, other]) },
    ]
}

#[test]
fn a_question_and_what_is_taken_back_do_what_their_scripts_do() {
    for mixed in mixes() {
        assert_eq!(every_order(&mixed), Ok(()), "{}", mixed.config.name);
    }
}

#[test]
fn a_broken_script_differs_from_the_one_that_ships() {
    for (mutant, place) in
        [(Mutant::ReaderNotes, 4), (Mutant::ProlongedOnce, 1), (Mutant::TakenBackForAll, 7)]
    {
        let mut mixed = mixes().swap_remove(place);
        mixed.config = mixed.config.mutant(mutant);
        assert!(every_order(&mixed).is_err(), "{mutant:?}");
    }
}
