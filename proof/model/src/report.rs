//! The results of the exploration in words: for the terminal, and for `results.md`.

use crate::checker::{Bounds, Outcome, explore};
use crate::config::{Config, Fence, Order, RESOURCES};
use crate::protocol::Protocol;
use crate::runs::{Kind, Run};
use std::fmt::Write as _;
use std::time::Duration;

/// A part of the model, with tables of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Protocol,
    Agreement,
    Sharing,
    Waiting,
    Turns,
}

/// A run and its result.
#[derive(Clone, Debug)]
pub struct Explored {
    pub part: Part,
    pub kind: Kind,
    pub name: String,
    /// The bounds of the exploration.
    pub bounds: String,
    /// The property whose violation was expected.
    pub expected: Option<&'static str>,
    /// The property that was violated, and the number of steps.
    pub found: Option<(&'static str, usize)>,
    /// The trace was not found but written down.
    pub written: bool,
    pub states: usize,
    /// How far the exploration went.
    pub extent: String,
    pub took: Duration,
    /// The trace in words.
    pub told: Vec<String>,
}

impl Explored {
    /// Returns whether the result is the expected one.
    pub fn is_expected(&self) -> bool {
        self.found.map(|(property, _)| property) == self.expected
    }

    /// Formats the result for the terminal: a line, and the trace below it.
    pub fn printed(&self) -> String {
        let states = thousands(self.states);
        let took = seconds(self.took);
        let mark = if self.is_expected() { "ok" } else { "NOT AS EXPECTED" };
        let verdict = match self.found {
            Some((property, steps)) => format!("`{property}` is violated in {steps} steps"),
            None => format!("every property holds, {}", self.extent),
        };
        let mut text = format!("{mark}: {}: {verdict}; {states} states, {took}", self.name);
        for (place, step) in self.told.iter().enumerate() {
            let _ = write!(text, "\n    {:>2}. {step}", place + 1);
        }
        text
    }

    fn verdict(&self) -> &'static str {
        if self.is_expected() { "holds" } else { "**VIOLATED**" }
    }
}

impl<A> Outcome<A> {
    /// Describes how far the exploration went.
    pub(crate) fn extent(&self) -> String {
        let depth = self.depth;
        if self.complete {
            format!("all, {depth} steps deep")
        } else {
            format!("only to {depth} steps")
        }
    }
}

impl Run {
    pub fn name(&self) -> String {
        match self.config.mutant {
            Some(mutant) => format!("{} ({})", mutant.words(), self.config.name),
            None => self.config.name.to_owned(),
        }
    }

    /// Explores the run. `progress` is called now and then with the number of states.
    pub fn explored(&self, progress: impl FnMut(usize)) -> Explored {
        let protocol = Protocol::new(self.config.clone());
        let outcome = explore(&protocol, Bounds { states: self.config.states }, progress);
        let told = outcome.violation.as_ref().map(|found| protocol.told(&found.trace));
        Explored {
            part: Part::Protocol,
            kind: self.kind,
            name: self.name(),
            bounds: bounds(&self.config),
            expected: self.violates.map(|one| one.words()),
            extent: outcome.extent(),
            found: outcome.violation.map(|found| (found.property, found.trace.len())),
            written: false,
            states: outcome.states,
            took: outcome.took,
            told: told.unwrap_or_default(),
        }
    }
}

/// Returns the bounds of a run in a few words.
pub fn bounds(config: &Config) -> String {
    let attempts = config.attempts.len();
    let mut words = vec![format!("{} nodes", config.nodes), plural(attempts, "attempt")];
    let mut clients: Vec<u8> = config.attempts.iter().map(|one| one.client).collect();
    clients.sort_unstable();
    clients.dedup();
    if clients.len() < attempts {
        words.push(format!("of {}", plural(clients.len(), "client")));
    }
    words.push(match config.order {
        Order::InOrder => "in order".to_owned(),
        Order::Any => "any order".to_owned(),
    });
    words.push(format!("ttl {}", config.ttl));
    let rounds: Vec<String> = config.attempts.iter().map(|one| one.rounds.to_string()).collect();
    if config.attempts.iter().any(|one| one.rounds > 0) {
        words.push(format!("extensions {}", rounds.join("+")));
    }
    if config.extension_ttl != config.ttl {
        words.push(format!("for {}", config.extension_ttl));
    }
    match config.fence {
        Fence::None => {}
        Fence::Ballots { greatest } => words.push(format!("ballots 1 to {greatest}")),
        Fence::Window { back, ahead, until } => {
            words.push(format!("window {back} back, {ahead} ahead, to time {until}"));
        }
        Fence::Counters => words.push("counters".to_owned()),
    }
    if config.fence_expires {
        words.push("fences expire".to_owned());
    }
    if config.ahead.iter().any(|ahead| *ahead != 0) {
        let ahead = config.ahead[..config.nodes].iter().map(u8::to_string);
        words.push(format!("clocks ahead by {}", ahead.collect::<Vec<_>>().join(",")));
    }
    if config.drift > 0 || config.gains_every > 0 {
        words.push(format!("drift {}, a tick gained in {}", config.drift, config.gains_every));
    }
    if config.lock_delay > 0 {
        words.push(format!("lock-delay {}", config.lock_delay));
    }
    if config.at_least > 0 {
        words.push(format!("closed for {} at least", config.at_least));
    }
    if config.attempts.iter().any(|one| one.claims != 1) {
        let claims = config.attempts.iter().map(|one| resources(one.claims));
        words.push(format!("claims {}", claims.collect::<Vec<_>>().join(" ")));
    }
    if let Some(one) = config.attempts.iter().find(|one| one.longer > 0) {
        words.push(format!("one for {}", config.ttl + one.longer));
    }
    if config.adopts_again {
        words.push("adoptions begun again".to_owned());
    }
    if let Some(one) = config.attempts.iter().find(|one| one.rests > 0) {
        words.push(format!("{} between", plural(usize::from(one.rests), "tick")));
    }
    if config.hands_over != 0 {
        words.push("the first detached and adopted".to_owned());
    }
    if config.forgets {
        words.push("scripts forgotten".to_owned());
    }
    let faults = [
        (config.restarts, "restart"),
        (config.duplicates, "duplicate"),
        (config.forced, "forced release"),
    ];
    for (count, what) in faults.into_iter().filter(|(count, _)| *count > 0) {
        words.push(plural(usize::from(count), what));
    }
    if config.clock_steps > 0 {
        let steps = plural(usize::from(config.clock_steps), "clock step");
        words.push(format!("{steps} of {:+}", config.clock_step));
    }
    words.join(", ")
}

fn resources(claims: u8) -> String {
    let names = ["a", "b"];
    let claimed = (0..RESOURCES).filter(|one| claims >> one & 1 == 1).map(|one| names[one]);
    format!("{{{}}}", claimed.collect::<Vec<_>>().join(","))
}

pub(crate) fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub fn seconds(span: Duration) -> String {
    format!("{:.1} s", span.as_secs_f64())
}

/// Returns the whole of `results.md`.
pub fn markdown(results: &[Explored]) -> String {
    let mut text = INTRODUCTION.to_owned();
    let states: usize = results.iter().map(|one| one.states).sum();
    let took: Duration = results.iter().map(|one| one.took).sum();
    let runs = results.len();
    let _ = writeln!(
        text,
        "{runs} runs, {} states, {} of processor time.",
        thousands(states),
        seconds(took)
    );
    let parts = [
        (Part::Protocol, ""),
        (Part::Agreement, AGREEMENT),
        (Part::Sharing, SHARING),
        (Part::Waiting, WAITING),
        (Part::Turns, TURNS),
    ];
    for (part, heading) in parts {
        let of_part: Vec<&Explored> = results.iter().filter(|one| one.part == part).collect();
        text += heading;
        tables(&mut text, &of_part);
    }
    text
}

fn tables(text: &mut String, results: &[&Explored]) {
    let of = |kind| results.iter().filter(move |one| one.kind == kind);
    *text += HOLDS;
    for one in of(Kind::Holds) {
        let Explored { name, bounds, extent, .. } = one;
        let (states, took, verdict) = (counted(one), seconds(one.took), one.verdict());
        let _ = writeln!(text, "| {name} | {bounds} | {verdict} | {states} | {extent} | {took} |");
    }
    for (kind, heading) in [(Kind::Mutant, MUTANTS), (Kind::Limit, LIMITS)] {
        *text += heading;
        for one in of(kind) {
            let Explored { name, bounds, .. } = one;
            let (found, steps) = match one.found {
                Some((property, steps)) => (property, steps.to_string()),
                None => ("**NOT FOUND**", "-".to_owned()),
            };
            let states = counted(one);
            let _ = writeln!(text, "| {name} | {bounds} | {found} | {steps} | {states} |");
        }
        for one in of(kind) {
            let _ = write!(text, "\n**{}**\n\n", capital(&one.name));
            for (place, step) in one.told.iter().enumerate() {
                let _ = writeln!(text, "{}. {step}", place + 1);
            }
        }
    }
    *text += MARGIN;
    for one in of(Kind::Margin) {
        let Explored { name, bounds, extent, .. } = one;
        let (verdict, states) = (one.verdict(), counted(one));
        let _ = writeln!(text, "| {name} | {bounds} | {verdict} | {states} | {extent} |");
    }
}

fn counted(one: &Explored) -> String {
    match one.states {
        0 if one.written => "written".to_owned(),
        0 => "-".to_owned(),
        states => thousands(states),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

const INTRODUCTION: &str = "\
# The protocol, every order of its events within bounds

What `make model` writes. [README.md](README.md) says what is modelled, and what is not. A state
counts once, however many ways lead to it and however its nodes are named; a trace is a shortest one.
Times are of one thread on a machine that does other things besides.

";

const AGREEMENT: &str = "
# The agreement between clients

Two or three clients go by different settings. `{1,2,3} ttl 1 of 2` is a client with that list of
masters, its ttl and its `max_ttl`. A tick is as long as a confirmation counts, or half as long (`L 2`).
*Cuts*: links fail and heal. *Late*: that client reads answers at any later time. *At random*: walks from
a seed that is always the same. *Written*: too far for a search, a way that was written down, and which
the rules as they ship do not let through.
";

const SHARING: &str = "
# Readers and writers

Readers and writers of one resource, any order of messages or in order. The ttl is two ticks, if
nothing else is said.
";

const WAITING: &str = "
# Who waits

Writers and readers that come back without end. Messages arrive within a tick, which is as long as a
writer waits before it renews its hint. A hint lives for three ticks; the ttl is two, if nothing else is
said.
";

const TURNS: &str = "
# Turns

Waiters that queue on each node. Commands arrive within a tick, in any order, unless a tick is slow or a
command is lost. A waiter looks once in a tick; its entry lives for three, a key is kept for four. *In
within*: the most ticks for which no client holds while one that could win waits and nothing fails.
";

const HOLDS: &str = "
## As it ships

| what | bounds | | states | explored | time |
|---|---|---|--:|---|--:|
";

const MUTANTS: &str = "
## Rules broken on purpose

Each must be caught: the property that finds it, and in how many steps.

| rule broken | bounds | caught by | steps | states |
|---|---|---|--:|--:|
";

const MARGIN: &str = "
## Margin

Rules broken on purpose that nothing finds within these bounds: another rule is enough.

| rule broken | bounds | | states | explored |
|---|---|---|--:|---|
";

const LIMITS: &str = "
## What is assumed, or not promised

Not rules of the protocol but its surroundings: the shortest way to what each costs.

| what | bounds | what is lost | steps | states |
|---|---|---|--:|--:|
";
