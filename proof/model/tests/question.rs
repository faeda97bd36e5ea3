//! What the model says a node does with the question is what the question's script does: every short
//! order of questions and of time that passes, side by side.

use mlua::{Function, Lua, Table, Value};
use model::agreement::config::{Client, Config};
use model::agreement::mutant::Mutant;
use model::agreement::property::Property;
use model::agreement::{Action, Agreement};
use model::checker::Model;
use std::collections::BTreeSet;

const SERVER: &str = include_str!("support/hash.lua");
const AGREE: &str = include_str!("../../../core/src/coordinator/scripts/agree.lua");

/// The longest silence, and a little more: a note is a millisecond longer if it is prolonged at once.
const TICK_MS: u64 = 15_010;
const SILENCE_MS: u64 = 15_000;
const STEPS: usize = 6;

/// What differs, as far as a client is told: whether a number does, and which lists.
#[derive(PartialEq, Eq, Debug, Default)]
struct Told {
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
    script: Function,
    clock: u64,
}

impl Server {
    fn new() -> Self {
        let lua = Lua::new();
        lua.load(SERVER).exec().expect("the server's part");
        let script = lua.load(AGREE).into_function().expect("a script of the crate");
        Self { lua, script, clock: 1_000_000 }
    }

    fn empties(&mut self) {
        self.lua.globals().set("hash", Value::Nil).expect("a global");
    }

    fn is_asked(&self, client: &Client) -> Told {
        let ms = |ticks: u8| u64::from(ticks) * SILENCE_MS;
        let life = if client.reads { 0 } else { ms(client.max_ttl) + SILENCE_MS };
        let numbers = [life, ms(client.max_ttl), ms(client.back), ms(client.ahead)];
        let arguments = numbers.iter().map(u64::to_string).chain(lists(client));
        let globals = self.lua.globals();
        globals.set("clock", self.clock).expect("a global");
        globals.set("KEYS", ["agreement"]).expect("a global");
        globals.set("ARGV", arguments.collect::<Vec<_>>()).expect("a global");
        let answer: Table = self.script.call(()).expect("no error in a script");
        let answer: Vec<Value> =
            answer.sequence_values().collect::<Result<_, _>>().expect("values");
        let text = |value: &Value| value.to_string().expect("a text");
        let mut told = Told { agreed: answer.len() == 3, ..Told::default() };
        for difference in answer[3..].chunks(3) {
            if text(&difference[0]) == "lists" {
                told.lists.insert(text(&difference[1]));
            } else {
                told.numbers = true;
            }
        }
        told
    }
}

/// Both do the same, step by step; the first step after which they do not is told.
fn side_by_side(config: &Config, steps: &[usize], server: &mut Server) -> Result<(), String> {
    let agreement = Agreement::new(config.clone());
    let clients = &config.clients;
    let mut state = agreement.initial();
    server.empties();
    for step in steps {
        if *step == clients.len() {
            state = agreement.step(&state, Action::Tick).unwrap_or(state);
            server.clock += TICK_MS;
            continue;
        }
        let asked = Action::Ask { client: *step, node: 0 };
        state = agreement.step(&state, asked).unwrap_or(state);
        let (ours, link) = (&clients[*step], &state.nodes[0].links[*step]);
        let others = clients.iter().enumerate().filter(|(other, _)| link.told[*other] > 0);
        let mut told = Told { agreed: link.confirmed == 1, ..Told::default() };
        for (_, theirs) in others {
            told.numbers |= !ours.has_the_numbers(theirs);
            if !ours.shares_a_list(theirs) {
                told.lists.insert(lists(theirs).join("\n"));
            }
        }
        let answer = server.is_asked(ours);
        if told != answer {
            return Err(format!("{steps:?}: the model has {told:?}, the script {answer:?}"));
        }
    }
    Ok(())
}

fn every_order(config: &Config) -> Result<(), String> {
    let choices = config.clients.len() + 1;
    let mut server = Server::new();
    for order in 0..choices.pow(STEPS as u32) {
        let steps: Vec<usize> =
            (0..STEPS).map(|place| order / choices.pow(place as u32) % choices).collect();
        side_by_side(config, &steps, &mut server)?;
    }
    Ok(())
}

fn configs() -> Vec<Config> {
    let one = Client::of(0b0111);
    let other = Client::of(0b1101);
    vec![
        Config::new("the same", 4, &[one, one]),
        Config::new("other lists", 4, &[one, other, Client::joint(0b0111, 0b1101)]),
        Config::new("other numbers", 4, &[one, one.ttl(1, 1), one.window(1, 0)]),
        Config::new("both", 4, &[one, other.ttl(1, 1), other]),
        // What a reader is told is read, too, where that is what is looked for.
        Config::new("a reader", 4, &[one, other.reader(), other])
            .property(Property::ReadersStopNobody),
    ]
}

#[test]
fn a_question_does_what_its_script_does() {
    for config in configs() {
        assert_eq!(every_order(&config), Ok(()), "{}", config.name);
    }
}

#[test]
fn a_broken_script_is_told_from_the_one_that_ships() {
    for (mutant, place) in [(Mutant::ReaderNotes, 4), (Mutant::ProlongedOnce, 1)] {
        let config = configs().swap_remove(place).mutant(mutant);
        assert!(every_order(&config).is_err(), "{mutant:?}");
    }
}
