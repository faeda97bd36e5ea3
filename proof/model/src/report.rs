//! The results of the exploration in words: for the terminal, and for `results.md`.

use crate::checker::Outcome;
use crate::run::Kind;
use std::fmt::Write as _;
use std::time::Duration;

/// A run and its result.
#[derive(Clone, Debug)]
pub struct Explored {
    /// What stands before the tables of its model.
    pub heading: &'static str,
    pub kind: Kind,
    pub name: String,
    /// The bounds of the exploration.
    pub bounds: String,
    /// The property whose violation was expected.
    pub expected: Option<&'static str>,
    /// The property that was violated, and the number of steps.
    pub found: Option<(&'static str, usize)>,
    /// So many of the last steps of the trace are taken again and again.
    pub again: Option<usize>,
    /// The trace was not found but written down.
    pub written: bool,
    pub states: usize,
    /// How far the exploration went.
    pub extent: String,
    pub took: Duration,
    /// In words.
    pub trace: Vec<String>,
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
            Some((property, _)) => format!("`{property}` is violated in {} steps", self.steps()),
            None => format!("every property holds, {}", self.extent),
        };
        let mut text = format!("{mark}: {}: {verdict}; {states} states, {took}", self.name);
        let repeats = self.again.map(|again| self.trace.len() - again);
        for (place, step) in self.trace.iter().enumerate() {
            if repeats == Some(place) {
                text += "\n        and from here on, again and again:";
            }
            let _ = write!(text, "\n    {:>2}. {step}", place + 1);
        }
        if self.again == Some(0) {
            text += "\n        and nothing has to happen any more";
        }
        text
    }

    /// Returns the number of steps, and of those that repeat.
    fn steps(&self) -> String {
        let (_, steps) = self.found.unwrap_or_default();
        match self.again {
            Some(again) => format!("{} + {again}", steps - again),
            None => steps.to_string(),
        }
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
    let states: usize = results.iter().map(|result| result.states).sum();
    let took: Duration = results.iter().map(|result| result.took).sum();
    let runs = results.len();
    let _ = writeln!(
        text,
        "{runs} runs, {} states, {} of processor time.",
        thousands(states),
        seconds(took)
    );
    for model in results.chunk_by(|result, next| result.heading == next.heading) {
        text += model[0].heading;
        tables(&mut text, model);
    }
    text
}

fn tables(text: &mut String, results: &[Explored]) {
    let headings = [
        (Kind::Holds, HOLDS),
        (Kind::Mutant, MUTANTS),
        (Kind::Limit, LIMITS),
        (Kind::Margin, MARGIN),
    ];
    for (kind, heading) in headings {
        let mut rows = results.iter().filter(|result| result.kind == kind).peekable();
        if rows.peek().is_some() {
            *text += heading;
        }
        for result in rows {
            let Explored { name, bounds, extent, .. } = result;
            let states = counted(result);
            let _ = match (kind, result.found) {
                (Kind::Mutant | Kind::Limit, Some((property, _))) => {
                    let steps = result.steps();
                    writeln!(text, "| {name} | {bounds} | {property} | {steps} | {states} |")
                }
                (Kind::Mutant | Kind::Limit, None) => {
                    writeln!(text, "| {name} | {bounds} | **NOT FOUND** | - | {states} |")
                }
                (Kind::Holds | Kind::Margin, _) => {
                    let (verdict, took) = (result.verdict(), seconds(result.took));
                    let took =
                        if kind == Kind::Holds { format!(" {took} |") } else { String::new() };
                    writeln!(text, "| {name} | {bounds} | {verdict} | {states} | {extent} |{took}")
                }
            };
        }
    }
}

fn counted(result: &Explored) -> String {
    match result.states {
        0 if result.written => "written".to_owned(),
        0 => "-".to_owned(),
        states => thousands(states),
    }
}

const INTRODUCTION: &str = "\
# The protocol, every order of its events within bounds

What `make model` writes. [README.md](README.md) says what is modelled, what is not, and how to print
the trace to what a broken rule costs. A state counts once, however many ways lead to it and however its
nodes are named; steps are those of a shortest trace. Times are of one thread on a machine that does other
things besides.

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
