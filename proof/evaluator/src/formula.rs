//! A formula, ready to be evaluated.

use crate::nested;
use crate::page::Function;
use crate::state::View;
use crate::text::Text;
use rustc_hash::FxHashMap;

/// The number of a function of a page.
pub(crate) type FunctionId = usize;

/// The number of a sort.
pub(crate) type SortId = usize;

/// The place of a bound variable, or of a parameter.
pub(crate) type Slot = usize;

/// A formula or a term. Its value is a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Formula {
    Number(i64),
    Bound(Slot),
    /// A function in the state before a step, or a constant.
    Before(FunctionId, Box<[Formula]>),
    /// The same in the state after it.
    After(FunctionId, Box<[Formula]>),
    Not(Box<Formula>),
    And(Box<[Formula]>),
    Or(Box<[Formula]>),
    Implies(Box<[Formula; 2]>),
    If(Box<[Formula; 3]>),
    Equal(Box<[Formula; 2]>),
    Below(Box<[Formula; 2]>),
    AtMost(Box<[Formula; 2]>),
    Sum(Box<[Formula]>),
    Difference(Box<[Formula; 2]>),
    /// Over all live elements of this sort.
    ForAll((Slot, SortId), Box<Formula>),
    Exists((Slot, SortId), Box<Formula>),
    /// The step changes nothing of a function: `ForAll x: f_next(x) = f(x)`.
    Unchanged(FunctionId),
    /// It changes a function for these arguments alone, to this value: `ForAll x: f_next(x) = if x = a then v else f(x)`.
    Changed(FunctionId, Box<[Formula]>, Box<Formula>),
}

/// What a name means at a place of a formula.
#[derive(Clone)]
enum Meaning {
    Bound(Slot),
    /// What `let` has given a name is read where the name stands, so that it is only evaluated there.
    Means(Formula),
}

/// Reads formulas of one page.
pub(crate) struct Reader<'a> {
    pub(crate) sorts: &'a FxHashMap<String, SortId>,
    pub(crate) functions: &'a FxHashMap<String, (FunctionId, bool)>,
    pub(crate) signatures: &'a [Function],
    names: Vec<(String, Meaning)>,
    slots: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        sorts: &'a FxHashMap<String, SortId>,
        functions: &'a FxHashMap<String, (FunctionId, bool)>,
        signatures: &'a [Function],
        parameters: impl Iterator<Item = &'a str>,
    ) -> Self {
        let names: Vec<(String, Meaning)> = parameters
            .enumerate()
            .map(|(slot, name)| (name.to_owned(), Meaning::Bound(slot)))
            .collect();
        Self { sorts, functions, signatures, slots: names.len(), names }
    }

    /// Returns how many places the formulas read so far need.
    pub(crate) const fn slots(&self) -> usize {
        self.slots
    }

    pub(crate) fn read(&mut self, text: &Text) -> Result<Formula, String> {
        match text {
            Text::Word(word) => self.word(word),
            Text::List(list) => {
                let (head, rest) = list.split_first().ok_or("an empty list")?;
                let head = head.word().ok_or_else(|| format!("{head} is no name"))?;
                self.application(head, rest)
            }
        }
    }

    fn word(&self, word: &str) -> Result<Formula, String> {
        let meant = self.names.iter().rev().find(|(name, _)| name == word);
        if let Some((_, meaning)) = meant {
            return Ok(match meaning {
                Meaning::Bound(slot) => Formula::Bound(*slot),
                Meaning::Means(formula) => formula.clone(),
            });
        }
        match word {
            "true" => return Ok(Formula::Number(1)),
            // Without a unit, zero is the one time that a page can name.
            "false" | "0" | "0.0" => return Ok(Formula::Number(0)),
            _ => {}
        }
        self.function(word, Vec::new())
    }

    fn function(&self, name: &str, arguments: Vec<Formula>) -> Result<Formula, String> {
        let known = self.functions.get(name);
        let (id, is_after) = *known.ok_or_else(|| format!("{name} is not known"))?;
        let expected = self.signatures[id].arguments.len();
        if expected != arguments.len() {
            return Err(format!("{name} takes {expected} arguments, not {}", arguments.len()));
        }
        let arguments = arguments.into();
        Ok(if is_after { Formula::After(id, arguments) } else { Formula::Before(id, arguments) })
    }

    fn application(&mut self, head: &str, rest: &[Text]) -> Result<Formula, String> {
        if head == "let" || head == "forall" || head == "exists" {
            let [bound, body] = rest else { return Err(format!("{head} has two parts")) };
            let bound = bound.list().ok_or_else(|| format!("{head} binds {bound}"))?;
            return if head == "let" {
                self.with_names(bound, body)
            } else {
                self.quantified(head == "forall", bound, body)
            };
        }
        let parts: Vec<Formula> =
            rest.iter().map(|part| self.read(part)).collect::<Result<_, String>>()?;
        let several = |name: &str| format!("{name} with {} parts", rest.len());
        let two = |parts: Vec<Formula>| -> Result<Box<[Formula; 2]>, String> {
            Ok(Box::new(<[Formula; 2]>::try_from(parts).map_err(|_| several(head))?))
        };
        Ok(match head {
            "and" => Formula::And(parts.into()),
            "or" => Formula::Or(parts.into()),
            "not" => {
                let [part] = <[Formula; 1]>::try_from(parts).map_err(|_| several(head))?;
                Formula::Not(Box::new(part))
            }
            "=>" => Formula::Implies(two(parts)?),
            "=" => Formula::Equal(two(parts)?),
            "distinct" => Formula::Not(Box::new(Formula::Equal(two(parts)?))),
            "ite" => {
                Formula::If(Box::new(<[Formula; 3]>::try_from(parts).map_err(|_| several(head))?))
            }
            "<" => Formula::Below(two(parts)?),
            "<=" => Formula::AtMost(two(parts)?),
            ">" | ">=" => {
                let [left, right] = *two(parts)?;
                let turned = Box::new([right, left]);
                if head == ">" { Formula::Below(turned) } else { Formula::AtMost(turned) }
            }
            "+" => Formula::Sum(parts.into()),
            "-" => Formula::Difference(two(parts)?),
            _ => self.function(head, parts)?,
        })
    }

    fn with_names(&mut self, bound: &[Text], body: &Text) -> Result<Formula, String> {
        let before = self.names.len();
        let mut read = Vec::new();
        for pair in bound {
            let Some([Text::Word(name), meaning]) = pair.list() else {
                return Err(format!("let binds {pair}"));
            };
            read.push((name.clone(), Meaning::Means(self.read(meaning)?)));
        }
        self.names.extend(read);
        let formula = self.read(body);
        self.names.truncate(before);
        formula
    }

    fn quantified(&mut self, all: bool, bound: &[Text], body: &Text) -> Result<Formula, String> {
        let before = self.names.len();
        let mut variables = Vec::new();
        for pair in bound {
            let Some([Text::Word(name), Text::Word(sort)]) = pair.list() else {
                return Err(format!("a quantifier binds {pair}"));
            };
            let sort = self.sorts.get(sort);
            let sort = *sort.ok_or_else(|| format!("{pair}: only elements are counted through"))?;
            variables.push((self.slots, sort));
            self.names.push((name.clone(), Meaning::Bound(self.slots)));
            self.slots += 1;
        }
        let formula = self.read(body);
        self.names.truncate(before);
        let formula = formula?;
        if !all {
            return Ok(nested::exists(variables, formula));
        }
        let known = unchanged(&variables, &formula).or_else(|| changed(&variables, &formula));
        Ok(known.unwrap_or_else(|| nested::for_all(variables, formula)))
    }
}

/// Returns what `ForAll x: body` says if that is that a function stays as it is.
fn unchanged(variables: &[(Slot, SortId)], body: &Formula) -> Option<Formula> {
    let Formula::Equal(sides) = body else { return None };
    let [Formula::After(after, these), Formula::Before(before, those)] = &**sides else {
        return None;
    };
    (after == before && these == those && are_bound(variables, these))
        .then_some(Formula::Unchanged(*after))
}

/// Returns it if that is that a function changes for some arguments alone.
fn changed(variables: &[(Slot, SortId)], body: &Formula) -> Option<Formula> {
    let Formula::Equal(sides) = body else { return None };
    let [Formula::After(function, these), Formula::If(parts)] = &**sides else { return None };
    let [Formula::And(pins), value, Formula::Before(before, those)] = &**parts else {
        return None;
    };
    let stays = function == before && these == those && are_bound(variables, these);
    let is_free = |part: &Formula| !variables.iter().any(|(slot, _)| part.mentions(*slot));
    let mut arguments = Vec::new();
    for ((slot, _), pin) in variables.iter().zip(pins) {
        let Formula::Equal(sides) = pin else { return None };
        let [Formula::Bound(pinned), argument] = &**sides else { return None };
        (pinned == slot && is_free(argument)).then(|| arguments.push(argument.clone()))?;
    }
    (stays && pins.len() == variables.len() && is_free(value))
        .then(|| Formula::Changed(*function, arguments.into(), Box::new(value.clone())))
}

fn are_bound(variables: &[(Slot, SortId)], arguments: &[Formula]) -> bool {
    let bound = variables.iter().map(|(slot, _)| Formula::Bound(*slot));
    bound.eq(arguments.iter().cloned())
}

/// Returns the bit of a function in a set of what formulas speak of.
pub(crate) const fn bit(function: FunctionId) -> u128 {
    1 << function
}

/// Returns the bit of a sort, the live elements of which a quantifier counts through.
pub(crate) const fn bit_of_sort(sort: SortId) -> u128 {
    1 << (127 - sort)
}

impl Formula {
    /// Returns the functions and sorts on which its value depends.
    pub(crate) fn speaks_of(&self) -> u128 {
        let all = |parts: &[Self]| parts.iter().fold(0, |set, part| set | part.speaks_of());
        match self {
            Self::Number(_) | Self::Bound(_) => 0,
            Self::Unchanged(function) => bit(*function),
            Self::Changed(function, parts, value) => {
                bit(*function) | all(parts) | value.speaks_of()
            }
            Self::Not(part) => part.speaks_of(),
            Self::ForAll((_, sort), part) | Self::Exists((_, sort), part) => {
                bit_of_sort(*sort) | part.speaks_of()
            }
            Self::If(parts) => all(&**parts),
            Self::Implies(parts)
            | Self::Equal(parts)
            | Self::Below(parts)
            | Self::AtMost(parts)
            | Self::Difference(parts) => all(&**parts),
            Self::And(parts) | Self::Or(parts) | Self::Sum(parts) => all(parts),
            Self::Before(function, parts) | Self::After(function, parts) => {
                bit(*function) | all(parts)
            }
        }
    }

    /// Returns whether its value depends on a bound variable.
    pub(crate) fn mentions(&self, variable: Slot) -> bool {
        let any = |parts: &[Self]| parts.iter().any(|part| part.mentions(variable));
        match self {
            Self::Number(_) | Self::Unchanged(_) => false,
            Self::Bound(slot) => *slot == variable,
            Self::Not(part) | Self::ForAll(_, part) | Self::Exists(_, part) => {
                part.mentions(variable)
            }
            Self::If(parts) => any(&**parts),
            Self::Implies(parts)
            | Self::Equal(parts)
            | Self::Below(parts)
            | Self::AtMost(parts)
            | Self::Difference(parts) => any(&**parts),
            Self::And(parts)
            | Self::Or(parts)
            | Self::Sum(parts)
            | Self::Before(_, parts)
            | Self::After(_, parts) => any(parts),
            Self::Changed(_, parts, value) => any(parts) || value.mentions(variable),
        }
    }

    pub(crate) fn is_true(&self, view: &View<'_>, bound: &mut [i64]) -> bool {
        match self {
            Self::Not(part) => !part.is_true(view, bound),
            Self::And(parts) => parts.iter().all(|part| part.is_true(view, bound)),
            Self::Or(parts) => parts.iter().any(|part| part.is_true(view, bound)),
            Self::Implies(parts) => !parts[0].is_true(view, bound) || parts[1].is_true(view, bound),
            Self::Equal(parts) => parts[0].value(view, bound) == parts[1].value(view, bound),
            Self::Below(parts) => parts[0].value(view, bound) < parts[1].value(view, bound),
            Self::AtMost(parts) => parts[0].value(view, bound) <= parts[1].value(view, bound),
            Self::ForAll((slot, sort), body) => view.live(*sort).iter().all(|element| {
                bound[*slot] = *element;
                body.is_true(view, bound)
            }),
            Self::Exists((slot, sort), body) => view.live(*sort).iter().any(|element| {
                bound[*slot] = *element;
                body.is_true(view, bound)
            }),
            Self::Unchanged(function) => view.is_unchanged(*function, None),
            Self::Changed(function, arguments, value) => {
                let place = place(view, *function, arguments, bound);
                view.after(*function, place) == value.value(view, bound)
                    && view.is_unchanged(*function, Some(place))
            }
            Self::Before(function, arguments) => {
                view.before(*function, place(view, *function, arguments, bound)) != 0
            }
            _ => self.value(view, bound) != 0,
        }
    }

    pub(crate) fn value(&self, view: &View<'_>, bound: &mut [i64]) -> i64 {
        match self {
            Self::Number(number) => *number,
            Self::Bound(slot) => bound[*slot],
            Self::Before(function, arguments) => {
                let place = place(view, *function, arguments, bound);
                view.before(*function, place)
            }
            Self::After(function, arguments) => {
                let place = place(view, *function, arguments, bound);
                view.after(*function, place)
            }
            Self::If(parts) => {
                let chosen = if parts[0].is_true(view, bound) { &parts[1] } else { &parts[2] };
                chosen.value(view, bound)
            }
            Self::Sum(parts) => {
                parts.iter().fold(0, |sum: i64, part| sum.saturating_add(part.value(view, bound)))
            }
            Self::Difference(parts) => {
                parts[0].value(view, bound).saturating_sub(parts[1].value(view, bound))
            }
            _ => i64::from(self.is_true(view, bound)),
        }
    }
}

/// Returns where a function has its value for these arguments.
#[inline]
fn place(view: &View<'_>, function: FunctionId, arguments: &[Formula], bound: &mut [i64]) -> usize {
    match arguments {
        [] => 0,
        [argument] => element(view, argument, bound),
        _ => {
            let mut place = 0;
            for (argument, room) in arguments.iter().zip(view.rooms(function)) {
                place = place * room + element(view, argument, bound);
            }
            place
        }
    }
}

/// Returns the element that an argument is: nearly always, a variable.
#[inline]
fn element(view: &View<'_>, argument: &Formula, bound: &mut [i64]) -> usize {
    let element = match argument {
        Formula::Bound(slot) => bound[*slot],
        _ => argument.value(view, bound),
    };
    element as usize
}
