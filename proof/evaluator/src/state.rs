//! A state: the elements of each sort, and the value of each function.

use crate::again::{FALLS, RISES, Touched};
use crate::formula::{FunctionId, SortId, bit, bit_of_sort};
use crate::page::{Definition, Page};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Of more changes than these, all formulas are judged whole.
const MOST_TOUCHED: usize = 64;

/// The number of an element of its sort.
pub type Element = i64;

/// A change that a step makes: a function has another value for these arguments.
#[derive(Clone, Debug)]
pub struct Change {
    function: FunctionId,
    place: usize,
    value: i64,
}

/// A state of a page, and the elements that are live in it.
#[derive(Clone)]
pub struct State {
    page: Arc<Page>,
    tables: Vec<Vec<i64>>,
    /// For how many elements of each sort there is room in the tables.
    rooms: Vec<usize>,
    /// The same for each argument of each function.
    rooms_of: Vec<Box<[usize]>>,
    elements: Vec<usize>,
    live: Vec<Vec<Element>>,
    /// Room for bound variables.
    bound: Vec<i64>,
    /// The functions and sorts that have changed since all conjuncts and goals were judged.
    touched: u128,
    /// What of them has; `None` if that is too much, or has moved.
    changed: Option<Vec<Touched>>,
    /// The functions and sorts that have changed since all assumptions were judged.
    touched_since_assumed: u128,
}

/// A state, and what a step changes in it.
pub(crate) struct View<'a> {
    state: &'a State,
    changes: &'a [Change],
}

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn before(&self, function: FunctionId, place: usize) -> i64 {
        self.state.tables[function][place]
    }

    #[inline]
    pub(crate) fn after(&self, function: FunctionId, place: usize) -> i64 {
        let changed = self.changes.iter().rev();
        let mut changed =
            changed.filter(|change| change.function == function && change.place == place);
        changed.next().map_or_else(|| self.before(function, place), |change| change.value)
    }

    /// Returns whether a function has the same values as before, but for those at a place.
    pub(crate) fn is_unchanged(&self, function: FunctionId, but: Option<usize>) -> bool {
        let mut changed = self.changes.iter().filter(|change| change.function == function);
        changed.all(|Change { place, value, .. }| {
            Some(*place) == but || self.before(function, *place) == *value
        })
    }

    /// Finds which elements these arguments of a function are where it has its value at a place.
    pub(crate) fn arguments(
        &self,
        function: FunctionId,
        place: usize,
        arguments: &[usize],
        elements: &mut [Element],
    ) {
        let rooms = self.rooms(function);
        for (argument, element) in arguments.iter().zip(elements) {
            let step: usize = rooms[argument + 1..].iter().product();
            *element = (place / step % rooms[*argument]) as Element;
        }
    }

    pub(crate) fn rooms(&self, function: FunctionId) -> &'a [usize] {
        &self.state.rooms_of[function]
    }

    #[inline]
    pub(crate) fn live(&self, sort: SortId) -> &'a [Element] {
        &self.state.live[sort]
    }
}

impl State {
    /// Creates a state without any element, in which everything is false or zero.
    #[must_use]
    pub fn new(page: Arc<Page>) -> Self {
        let (sorts, functions) = (page.sorts.len(), page.functions.len());
        let mut state = Self {
            tables: vec![Vec::new(); functions],
            rooms: vec![8; sorts],
            rooms_of: vec![Box::default(); functions],
            elements: vec![0; sorts],
            live: vec![Vec::new(); sorts],
            bound: Vec::new(),
            touched: u128::MAX,
            changed: None,
            touched_since_assumed: u128::MAX,
            page,
        };
        state.make_room();
        state
    }

    #[must_use]
    pub fn page(&self) -> &Arc<Page> {
        &self.page
    }

    /// Notes what has changed, if a formula that is judged speaks of it.
    fn touch(&mut self, bit: u128, what: Touched) {
        self.touched_since_assumed |= bit;
        if self.page.judged & bit == 0 {
            return;
        }
        self.touched |= bit;
        if let Some(changed) = &mut self.changed {
            changed.push(what);
            if changed.len() > MOST_TOUCHED {
                self.changed = None;
            }
        }
    }

    /// Makes the tables as large as `rooms` says, with what is in them.
    fn make_room(&mut self) {
        self.changed = None;
        for (id, function) in self.page.functions.iter().enumerate() {
            let rooms: Box<[usize]> =
                function.arguments.iter().map(|sort| self.rooms[*sort]).collect();
            let old = std::mem::replace(&mut self.rooms_of[id], rooms.clone());
            let mut table = vec![0; rooms.iter().product()];
            for (place, value) in self.tables[id].iter().enumerate() {
                let (mut rest, mut new, mut step) = (place, 0, 1);
                for (before, now) in old.iter().zip(&rooms).rev() {
                    new += rest % before * step;
                    rest /= before;
                    step *= now;
                }
                table[new] = *value;
            }
            self.tables[id] = table;
        }
    }

    fn sort(&self, name: &str) -> SortId {
        self.page.sorts.get(name).copied().unwrap_or_else(|| unknown(&self.page, name))
    }

    fn function(&self, name: &str) -> FunctionId {
        match self.page.names.get(name) {
            Some((id, false)) => *id,
            _ => unknown(&self.page, name),
        }
    }

    /// Adds an element of a sort, which is live.
    pub fn add(&mut self, sort: &str) -> Element {
        let sort = self.sort(sort);
        if self.elements[sort] == self.rooms[sort] {
            self.rooms[sort] *= 2;
            self.make_room();
        }
        let element = self.elements[sort] as Element;
        self.elements[sort] += 1;
        self.live[sort].push(element);
        self.touch(bit_of_sort(sort), Touched::Live(sort, element));
        element
    }

    /// Puts an element aside, or makes it live again.
    pub fn set_live(&mut self, sort: &str, element: Element, is_live: bool) {
        let sort = self.sort(sort);
        let at = self.live[sort].iter().position(|other| *other == element);
        let what = match (at, is_live) {
            (Some(at), false) => {
                self.live[sort].swap_remove(at);
                Touched::Aside(sort)
            }
            (None, true) => {
                self.live[sort].push(element);
                Touched::Live(sort, element)
            }
            _ => return,
        };
        self.touch(bit_of_sort(sort), what);
    }

    /// Returns the live elements of a sort.
    #[must_use]
    pub fn live(&self, sort: &str) -> &[Element] {
        &self.live[self.sort(sort)]
    }

    fn place(&self, function: FunctionId, arguments: &[Element]) -> usize {
        let rooms = &self.rooms_of[function];
        assert_eq!(rooms.len(), arguments.len(), "the arguments of a function of its page");
        let parts = arguments.iter().zip(rooms);
        parts.fold(0, |place, (argument, room)| place * room + *argument as usize)
    }

    /// Returns the value of a function.
    #[must_use]
    pub fn value(&self, function: &str, arguments: &[Element]) -> i64 {
        let function = self.function(function);
        self.tables[function][self.place(function, arguments)]
    }

    /// Returns whether a function is true.
    #[must_use]
    pub fn is(&self, function: &str, arguments: &[Element]) -> bool {
        self.value(function, arguments) != 0
    }

    /// Sets a value, outside of any step: of a constant, or in the first state.
    pub fn set(&mut self, function: &str, arguments: &[Element], value: i64) {
        let function = self.function(function);
        let place = self.place(function, arguments);
        self.put(function, place, value);
    }

    fn put(&mut self, function: FunctionId, place: usize, value: i64) {
        let old = std::mem::replace(&mut self.tables[function][place], value);
        if old != value {
            let change = if value > old { RISES } else { FALLS };
            self.touch(bit(function), Touched::Value(function, place, change));
        }
    }

    /// Returns a change of a step.
    ///
    /// # Panics
    ///
    /// If the function is a constant.
    #[must_use]
    pub fn to(&self, function: &str, arguments: &[Element], value: i64) -> Change {
        let id = self.function(function);
        assert!(self.page.functions[id].varies, "{function} is a constant");
        Change { function: id, place: self.place(id, arguments), value }
    }

    /// Returns whether the relation of an action holds between this state and the one after the
    /// changes.
    ///
    /// # Errors
    ///
    /// The first part of the relation that does not hold, and how many hold before it.
    pub fn permits(
        &mut self,
        action: &Definition,
        parameters: &[(&str, i64)],
        changes: &[Change],
    ) -> Result<(), (usize, String)> {
        let judge = |view: &View<'_>, action: &Definition, bound: &mut [i64]| {
            let mut parts = action.parts.iter().enumerate();
            let wrong = parts.find(|(_, (part, _))| !part.is_true(view, bound));
            wrong.map_or(Ok(()), |(place, (_, text))| Err((place, text.clone())))
        };
        self.with_parameters(action, parameters, judge, changes)
    }

    /// Does what a step changes.
    pub fn change(&mut self, changes: &[Change]) {
        for Change { function, place, value } in changes {
            self.put(*function, *place, *value);
        }
    }

    /// Notes that all formulas hold.
    pub fn all_judged(&mut self) {
        self.touched = 0;
        self.changed.get_or_insert_default().clear();
    }

    /// Returns whether all assumptions hold that may have another value than when they were last judged.
    ///
    /// # Errors
    ///
    /// The assumption that does not hold, the part of it, and for which parameters.
    pub fn assumes(&mut self) -> Result<(), (usize, String)> {
        let (page, touched) = (self.page.clone(), self.touched_since_assumed);
        for (place, assumption) in page.assumptions.iter().enumerate() {
            if assumption.always.iter().any(|part| part.speaks_of & touched != 0) {
                self.holds(assumption).map_err(|part| (place, part))?;
            }
        }
        self.touched_since_assumed = 0;
        Ok(())
    }

    /// Returns whether a formula holds in this state, whatever its parameters are, if it held when all were last judged.
    ///
    /// # Errors
    ///
    /// The part that does not hold, and for which parameters.
    pub fn still_holds(&mut self, definition: &Definition) -> Result<(), String> {
        let view = |view: &View<'_>, definition: &Definition, bound: &mut [i64]| {
            let Self { touched, changed, .. } = view.state;
            let mut parts = definition.always.iter().filter(|part| part.speaks_of & touched != 0);
            parts.all(|part| part.holds(view, changed.as_deref(), bound))
        };
        if self.with_parameters(definition, &[], view, &[]) {
            Ok(())
        } else {
            self.holds(definition)
        }
    }

    /// Returns whether a formula holds in this state, whatever its parameters are.
    ///
    /// # Errors
    ///
    /// The part that does not hold, and for which parameters.
    pub fn holds(&mut self, definition: &Definition) -> Result<(), String> {
        let always = |view: &View<'_>, bound: &mut [i64]| {
            definition.always.iter().all(|part| part.holds(view, None, bound))
        };
        self.holds_for(definition, always, &[], &[])
    }

    /// Returns whether a goal holds of a step of an action: a parameter is the action's of that name, and every
    /// other one is any live element.
    ///
    /// # Errors
    ///
    /// The same.
    ///
    /// # Panics
    ///
    /// If the goal is not one of a step, or the action is none of its page.
    pub fn holds_after(
        &mut self,
        goal: &Definition,
        action: usize,
        parameters: &[(&str, i64)],
        changes: &[Change],
    ) -> Result<(), String> {
        let after = |view: &View<'_>, bound: &mut [i64]| goal.after[action].is_true(view, bound);
        self.holds_for(goal, after, parameters, changes)
    }

    fn holds_for(
        &mut self,
        definition: &Definition,
        is_true: impl Fn(&View<'_>, &mut [i64]) -> bool,
        parameters: &[(&str, i64)],
        changes: &[Change],
    ) -> Result<(), String> {
        let known = |parameter: &String| parameters.iter().any(|(name, _)| name == parameter);
        let judge = |view: &View<'_>, definition: &Definition, bound: &mut [i64]| {
            if is_true(view, bound) {
                return Ok(());
            }
            let all = definition.parameters.iter().enumerate();
            let open = all.filter(|(_, (name, _))| !known(name));
            let open = open.filter_map(|(slot, (_, sort))| Some((slot, (*sort)?)));
            let wrong = first_wrong(&open.collect::<Vec<_>>(), view, definition, bound);
            Err(wrong.unwrap_or_else(|| definition.name.clone()))
        };
        self.with_parameters(definition, parameters, judge, changes)
    }

    fn with_parameters<T>(
        &mut self,
        definition: &Definition,
        parameters: &[(&str, i64)],
        then: impl FnOnce(&View<'_>, &Definition, &mut [i64]) -> T,
        changes: &[Change],
    ) -> T {
        let mut bound = std::mem::take(&mut self.bound);
        bound.clear();
        bound.resize(definition.slots, 0);
        for (slot, (parameter, _)) in definition.parameters.iter().enumerate() {
            let given = parameters.iter().find(|(name, _)| name == parameter);
            bound[slot] = given.map_or(0, |(_, value)| *value);
        }
        let result = then(&View { state: self, changes }, definition, &mut bound);
        self.bound = bound;
        result
    }

    /// Returns all that is true or not zero of the live elements, for a report.
    #[must_use]
    pub fn shown(&self) -> String {
        let by_id: BTreeMap<FunctionId, &String> = self
            .page
            .names
            .iter()
            .filter(|(_, (_, is_after))| !is_after)
            .map(|(name, (id, _))| (*id, name))
            .collect();
        let mut shown = Vec::new();
        for (id, name) in by_id {
            let sorts = &self.page.functions[id].arguments;
            let mut all: Vec<Vec<Element>> = vec![Vec::new()];
            for sort in sorts {
                let longer = |shorter: &Vec<Element>| {
                    let shorter = shorter.clone();
                    self.live[*sort].iter().map(move |next| [&shorter[..], &[*next]].concat())
                };
                all = all.iter().flat_map(longer).collect();
            }
            for arguments in all {
                let value = self.tables[id][self.place(id, &arguments)];
                if value != 0 {
                    shown.push(format!("{name}{arguments:?} = {value}"));
                }
            }
        }
        shown.join("\n")
    }
}

/// Returns the first part that does not hold, and for which elements as its open parameters.
fn first_wrong(
    open: &[(usize, SortId)],
    view: &View<'_>,
    definition: &Definition,
    bound: &mut [i64],
) -> Option<String> {
    if let Some(((slot, sort), rest)) = open.split_first() {
        return view.live(*sort).iter().find_map(|element| {
            bound[*slot] = *element;
            first_wrong(rest, view, definition, bound)
        });
    }
    let (_, text) = definition.parts.iter().find(|(part, _)| !part.is_true(view, bound))?;
    let parameters = definition.parameters.iter().zip(&*bound);
    let at: String = parameters.map(|((name, _), value)| format!(", {name} = {value}")).collect();
    Some(format!("{text}{at}"))
}

fn unknown(page: &Page, name: &str) -> usize {
    unreachable!("{name} is not on page {}", page.name)
}
