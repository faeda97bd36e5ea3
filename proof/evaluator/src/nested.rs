//! Quantifiers over several variables, nested so that each part of what they bind is evaluated as soon as
//! its variables are known: `for all x, y: A(x) and B(y) => C(x, y)` is evaluated as
//! `for all x: not A(x), or for all y: not B(y), or C(x, y)`.

use crate::formula::{Formula, Slot, SortId};

type Variable = (Slot, SortId);

/// Returns `for all variables: body`.
pub(crate) fn for_all(variables: Vec<Variable>, body: Formula) -> Formula {
    let mut alternatives = Vec::new();
    add_alternatives(body, &mut alternatives);
    nest(variables, alternatives, Formula::Or, Formula::ForAll)
}

/// Returns `there are variables: body`.
pub(crate) fn exists(variables: Vec<Variable>, body: Formula) -> Formula {
    let mut conditions = Vec::new();
    add_conditions(body, &mut conditions);
    nest(variables, conditions, Formula::And, Formula::Exists)
}

/// Adds formulas of which one is true if and only if `formula` is.
fn add_alternatives(formula: Formula, to: &mut Vec<Formula>) {
    match formula {
        Formula::Or(parts) => parts.into_iter().for_each(|part| add_alternatives(part, to)),
        Formula::Implies(sides) => {
            let [condition, conclusion] = *sides;
            add_alternatives_to(condition, to);
            add_alternatives(conclusion, to);
        }
        Formula::Not(part) => add_alternatives_to(*part, to),
        _ => to.push(formula),
    }
}

/// Adds formulas of which one is true if and only if `formula` is false.
fn add_alternatives_to(formula: Formula, to: &mut Vec<Formula>) {
    match formula {
        Formula::And(parts) => parts.into_iter().for_each(|part| add_alternatives_to(part, to)),
        Formula::Not(part) => add_alternatives(*part, to),
        _ => to.push(Formula::Not(Box::new(formula))),
    }
}

/// Adds formulas that are all true if and only if `formula` is.
fn add_conditions(formula: Formula, to: &mut Vec<Formula>) {
    match formula {
        Formula::And(parts) => parts.into_iter().for_each(|part| add_conditions(part, to)),
        _ => to.push(formula),
    }
}

/// Nests one quantifier in another, each with the parts that can be evaluated without it.
fn nest(
    mut variables: Vec<Variable>,
    parts: Vec<Formula>,
    join: fn(Box<[Formula]>) -> Formula,
    quantify: fn(Variable, Box<Formula>) -> Formula,
) -> Formula {
    let is_ready = |part: &Formula, but: &[Variable]| {
        !but.iter().any(|(variable, _)| part.mentions(*variable))
    };
    let (mut ready, rest): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| is_ready(part, &variables));
    // Where one makes a part ready, a variable of the first sort comes first: it is that of the masters, which are few. Then
    // comes the variable that makes the most parts ready.
    let without = |place: usize| {
        let mut others = variables.clone();
        others.remove(place);
        others
    };
    let next = (0..variables.len()).rev().max_by_key(|place| {
        let others = without(*place);
        let made_ready = rest.iter().filter(|part| is_ready(part, &others)).count();
        (made_ready > 0 && variables[*place].1 == 0, made_ready)
    });
    if let Some(next) = next {
        let variable = variables.remove(next);
        ready.push(quantify(variable, Box::new(nest(variables, rest, join, quantify))));
    }
    match <[Formula; 1]>::try_from(ready) {
        Ok([only]) => only,
        Err(ready) => join(ready.into()),
    }
}
