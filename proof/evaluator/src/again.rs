//! What is judged again after a step. A formula that held for all elements is judged for those alone for which something
//! that it speaks of has changed, in the direction in which that can make it false.
//!
//! In `for all t, u: has(t) and has(u) => t = u`, the two places of `has` can do harm as its value rises. So once `has` is
//! true of `a`, the formula is judged for `t = a` and all `u`, and for `u = a` and all `t`.

use crate::formula::{Formula, FunctionId, Slot, SortId, bit_of_sort};
use crate::page::Function;
use crate::state::{Element, View};

/// What has changed since all formulas were judged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Touched {
    /// A function has another value at a place, which is greater or smaller.
    Value(FunctionId, usize, Directions),
    /// An element is live, and was not.
    Live(SortId, Element),
    /// An element was live, and is not.
    Aside(SortId),
}

/// The directions in which a value changes, as bits.
pub(crate) type Directions = u8;

pub(crate) const RISES: Directions = 1;
pub(crate) const FALLS: Directions = 2;
const BOTH: Directions = RISES | FALLS;

/// Returns the directions that do the same to what is negated.
const fn turned(harmful: Directions) -> Directions {
    harmful >> 1 | (harmful & 1) << 1
}

/// A part of a conjunct, or of a goal.
#[derive(Debug)]
pub(crate) struct Part {
    formula: Formula,
    /// The functions and sorts on which its value depends.
    pub(crate) speaks_of: u128,
    uses: Vec<Use>,
    /// For a new element of a sort, each variable of the formula that it may be.
    fresh: Vec<(SortId, usize)>,
    /// The sorts of which a new element, or one less, may make the formula false for any others.
    harmed_by_more: u128,
    harmed_by_fewer: u128,
    narrowed: Vec<Narrowed>,
}

/// A place at which a function stands in a formula.
#[derive(Debug)]
struct Use {
    function: FunctionId,
    harmful: Directions,
    /// The places of those of its arguments that are variables of the formula.
    arguments: Box<[usize]>,
    /// The formula of these.
    narrowed: usize,
}

/// A formula without the quantifiers of some of its variables.
#[derive(PartialEq, Eq, Debug)]
struct Narrowed {
    variables: Box<[(Slot, SortId)]>,
    formula: Formula,
}

/// What is said of the variables of a formula while it is read.
#[derive(Default)]
struct Reading {
    /// The variables of the whole formula: it holds if it holds for each element that they are.
    variables: Vec<(Slot, SortId)>,
    /// Those of other quantifiers.
    inner: Vec<Slot>,
    harmed_by_more: u128,
    harmed_by_fewer: u128,
    /// Each place of a function, with its arguments.
    uses: Vec<(FunctionId, Directions, Box<[Formula]>)>,
}

impl Reading {
    /// Reads a formula that holds if all instances of it do.
    fn whole(&mut self, formula: &Formula) {
        match formula {
            Formula::ForAll(variable, body) => {
                self.variables.push(*variable);
                self.whole(body);
            }
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| self.whole(part))
            }
            Formula::Implies(sides) => {
                self.inner(&sides[0], RISES);
                self.whole(&sides[1]);
            }
            _ => self.inner(formula, FALLS),
        }
    }

    /// Reads a part of a formula, which may become false as the value of that part changes in a harmful direction.
    fn inner(&mut self, part: &Formula, harmful: Directions) {
        match part {
            Formula::Number(_) | Formula::Bound(_) => {}
            Formula::Before(function, arguments) | Formula::After(function, arguments) => {
                self.uses.push((*function, harmful, arguments.clone()));
                arguments.iter().for_each(|argument| self.inner(argument, BOTH));
            }
            Formula::Not(part) => self.inner(part, turned(harmful)),
            Formula::And(parts) | Formula::Or(parts) | Formula::Sum(parts) => {
                parts.iter().for_each(|part| self.inner(part, harmful))
            }
            Formula::Implies(sides) | Formula::Below(sides) | Formula::AtMost(sides) => {
                self.inner(&sides[0], turned(harmful));
                self.inner(&sides[1], harmful);
            }
            Formula::Difference(sides) => {
                self.inner(&sides[0], harmful);
                self.inner(&sides[1], turned(harmful));
            }
            Formula::Equal(sides) => sides.iter().for_each(|side| self.inner(side, BOTH)),
            Formula::If(parts) => {
                self.inner(&parts[0], BOTH);
                parts[1..].iter().for_each(|part| self.inner(part, harmful));
            }
            Formula::ForAll((slot, sort), body) => {
                self.quantified((*slot, *sort), body, harmful, FALLS)
            }
            Formula::Exists((slot, sort), body) => {
                self.quantified((*slot, *sort), body, harmful, RISES)
            }
            Formula::Unchanged(_) | Formula::Changed(..) => {
                unreachable!("a conjunct speaks of one state")
            }
        }
    }

    /// One element more makes what a quantifier says change in this direction, if at all.
    fn quantified(
        &mut self,
        (slot, sort): (Slot, SortId),
        body: &Formula,
        harmful: Directions,
        by_more: Directions,
    ) {
        self.inner.push(slot);
        if harmful & by_more != 0 {
            self.harmed_by_more |= bit_of_sort(sort);
        }
        if harmful & turned(by_more) != 0 {
            self.harmed_by_fewer |= bit_of_sort(sort);
        }
        self.inner(body, harmful);
    }
}

impl Part {
    pub(crate) fn new(formula: Formula, functions: &[Function]) -> Self {
        let mut reading = Reading::default();
        reading.whole(&formula);
        let Reading { mut variables, inner, mut harmed_by_more, harmed_by_fewer, uses } = reading;
        // What `let` has given a name may stand in two places, with the quantifiers in it.
        let bound: Vec<Slot> =
            inner.into_iter().chain(variables.iter().map(|(slot, _)| *slot)).collect();
        variables.retain(|(slot, sort)| {
            let is_of_one = bound.iter().filter(|other| *other == slot).count() == 1;
            harmed_by_more |= if is_of_one { 0 } else { bit_of_sort(*sort) };
            is_of_one
        });
        let mut narrowed = Vec::new();
        let mut narrow = |named: Box<[(Slot, SortId)]>| {
            let new = Narrowed { formula: without(&formula, &named), variables: named };
            let known = narrowed.iter().position(|other| *other == new);
            known.unwrap_or_else(|| {
                narrowed.push(new);
                narrowed.len() - 1
            })
        };
        let fresh =
            variables.iter().map(|variable| (variable.1, narrow([*variable].into()))).collect();
        let mut read: Vec<Use> = Vec::new();
        for (function, harmful, arguments) in uses {
            let mut named: Vec<(usize, (Slot, SortId))> = Vec::new();
            for (place, argument) in arguments.iter().enumerate() {
                let Formula::Bound(slot) = argument else { continue };
                let sort = functions[function].arguments[place];
                if variables.contains(&(*slot, sort))
                    && !named.iter().any(|(_, (other, _))| other == slot)
                {
                    named.push((place, (*slot, sort)));
                }
            }
            let arguments: Box<[usize]> = named.iter().map(|(place, _)| *place).collect();
            let narrowed = narrow(named.iter().map(|(_, variable)| *variable).collect());
            let same = |other: &&mut Use| {
                (other.function, other.narrowed, &other.arguments)
                    == (function, narrowed, &arguments)
            };
            match read.iter_mut().find(same) {
                Some(other) => other.harmful |= harmful,
                None => read.push(Use { function, harmful, arguments, narrowed }),
            }
        }
        let speaks_of = formula.speaks_of();
        Self { formula, speaks_of, uses: read, fresh, harmed_by_more, harmed_by_fewer, narrowed }
    }

    /// Returns whether the formula holds, which held before this was touched; `None` if that is not known.
    pub(crate) fn holds(
        &self,
        view: &View<'_>,
        touched: Option<&[Touched]>,
        bound: &mut [i64],
    ) -> bool {
        let Some(touched) = touched else { return self.formula.is_true(view, bound) };
        let mut judged = Judged(Vec::new());
        for change in touched {
            let holds = match *change {
                Touched::Aside(sort) if self.harmed_by_fewer & bit_of_sort(sort) != 0 => {
                    return self.formula.is_true(view, bound);
                }
                Touched::Live(sort, _) if self.harmed_by_more & bit_of_sort(sort) != 0 => {
                    return self.formula.is_true(view, bound);
                }
                Touched::Aside(_) => true,
                Touched::Live(sort, element) => self.fresh.iter().all(|(of, narrowed)| {
                    *of != sort || self.holds_for(*narrowed, &[element], view, &mut judged, bound)
                }),
                Touched::Value(function, place, change) => self.uses.iter().all(|used| {
                    if used.function != function || used.harmful & change == 0 {
                        return true;
                    }
                    let mut elements = [0; MOST];
                    let named = &mut elements[..used.arguments.len()];
                    view.arguments(function, place, &used.arguments, named);
                    self.holds_for(used.narrowed, named, view, &mut judged, bound)
                }),
            };
            if !holds {
                return false;
            }
        }
        true
    }

    /// Returns whether it holds for these elements as some of its variables.
    fn holds_for(
        &self,
        narrowed: usize,
        elements: &[Element],
        view: &View<'_>,
        judged: &mut Judged,
        bound: &mut [i64],
    ) -> bool {
        let Narrowed { variables, formula } = &self.narrowed[narrowed];
        for ((slot, sort), element) in variables.iter().zip(elements) {
            // It is said of live elements alone.
            if !view.live(*sort).contains(element) {
                return true;
            }
            bound[*slot] = *element;
        }
        judged.are(narrowed, elements) || formula.is_true(view, bound)
    }
}

/// How many arguments a function has at most.
const MOST: usize = 4;

/// For which elements a formula was judged already.
struct Judged(Vec<(usize, [Element; MOST])>);

impl Judged {
    /// Notes that it is judged for these, and returns whether it was before.
    fn are(&mut self, narrowed: usize, elements: &[Element]) -> bool {
        let mut all = [-1; MOST];
        all[..elements.len()].copy_from_slice(elements);
        let was = self.0.contains(&(narrowed, all));
        if !was {
            self.0.push((narrowed, all));
        }
        was
    }
}

/// Returns a formula without the quantifiers of these variables.
fn without(formula: &Formula, variables: &[(Slot, SortId)]) -> Formula {
    let all = |parts: &[Formula]| parts.iter().map(|part| without(part, variables)).collect();
    match formula {
        Formula::ForAll(variable, body) if variables.contains(variable) => without(body, variables),
        Formula::ForAll(variable, body) => {
            Formula::ForAll(*variable, Box::new(without(body, variables)))
        }
        Formula::And(parts) => Formula::And(all(parts)),
        Formula::Or(parts) => Formula::Or(all(parts)),
        Formula::Implies(sides) => {
            let [condition, conclusion] = &**sides;
            Formula::Implies(Box::new([condition.clone(), without(conclusion, variables)]))
        }
        _ => formula.clone(),
    }
}
