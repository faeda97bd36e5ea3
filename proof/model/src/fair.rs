//! What happens in the end, if each step that must be taken is taken in the end.
//!
//! A promise is: *whenever it is asked for, then it is kept in the end*. It is broken by a way on which it is not kept,
//! and which goes on for good although nothing that must happen is put off for good (weak fairness: a step that must
//! happen, and is possible from some state on, is taken). Among finitely many states, such a way ends in some that can all
//! reach each other (a component), where each step that must happen is taken from one to another, or is not possible in
//! one. Of such components it is enough to look at the largest: more states and steps only add to both.
//!
//! Time is one more: it passes again and again. What anyone may begin at any time, and need not, is never begun so often
//! that none passes. Without time there are only steps that must be taken, round and round where time can't pass, or none
//! at all: a state in which nothing has to happen is a component of its own, and what is not kept there never is.
//!
//! Where states that differ only by names count once, a step and the one with other names must be of one class, and so
//! must promises. Then each way through the states that were counted is a way with names.

use crate::checker::{Model, Seen, replay};
use std::collections::{HashMap, VecDeque};

/// How a step is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// At any time, or never.
    Free,
    /// In the end, if it can be from some time on. Steps of one class, below 63, count as one.
    Must(u8),
    /// The same, but it is not taken again and again. (It may be possible again and again.)
    Ends(u8),
    /// At any time, but not again and again.
    Rare,
    Time,
}

/// Whether a promise is kept in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owed {
    Kept,
    /// It is not kept, and asked for from here on.
    Asked,
    /// It is not kept, and asked for if it was before.
    Open,
}

/// A way on which a promise is not kept: some steps, and some that are then taken again and again; if those are none,
/// nothing has to happen any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso<A> {
    pub trace: Vec<A>,
    pub again: usize,
}

const TIME: u64 = 1 << 63;
const FREE: u8 = 64;
/// On a class: its step is not taken again and again.
const ENDS: u8 = 128;
const NONE: u32 = u32::MAX;

/// All states, and the steps between them.
pub struct Graph<M: Model> {
    seen: Seen,
    states: Vec<M::State>,
    /// By state: where the steps from it begin, and after the last where they end.
    begins: Vec<u32>,
    targets: Vec<u32>,
    /// By step: its class.
    classes: Vec<u8>,
    /// By state: the classes of the steps from it.
    can: Vec<u64>,
}

impl<M: Model> Graph<M> {
    /// Explores all states, unless they are more than `most`. They are in the order of their distance.
    pub fn of(model: &M, most: usize, mut progress: impl FnMut(usize)) -> Option<Self> {
        let (mut seen, first) = (Seen::new(), model.canonical(model.initial()));
        seen.insert(model.digest(&first), 0);
        let mut states = vec![first];
        let mut at = 0;
        while at < states.len() {
            let state = states[at];
            model.successors(&state, |_, successor| {
                let successor = model.canonical(successor);
                if seen.insert(model.digest(&successor), at as u32) {
                    states.push(successor);
                }
            });
            at += 1;
            if states.len() > most {
                return None;
            }
            if at % 4096 == 0 {
                progress(states.len());
            }
        }
        let (begins, targets, classes, can) = Default::default();
        Some(Self { seen, states, begins, targets, classes, can })
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the most steps that a state takes from the first one.
    pub fn depth(&self) -> usize {
        let last = u32::try_from(self.states.len() - 1).unwrap_or(NONE);
        self.seen.way_to(last).len() - 1
    }

    /// Sorts the steps into classes.
    pub fn classify(&mut self, model: &M, class: impl Fn(M::Action, &M::State, &M::State) -> Step) {
        (self.begins, self.can) = (vec![0], Vec::new());
        (self.targets, self.classes) = (Vec::new(), Vec::new());
        for state in &self.states {
            let mut can = 0;
            model.successors(state, |action, successor| {
                let class = code(class(action, state, &successor));
                can |= bit(class & !ENDS);
                let successor = model.canonical(successor);
                let place = self.seen.place(model.digest(&successor));
                self.targets.push(place.expect("each successor was met"));
                self.classes.push(class);
            });
            self.can.push(can);
            self.begins.push(self.targets.len() as u32);
        }
    }

    /// Returns the steps from a state: the class, and where it leads.
    fn steps(&self, state: u32) -> impl Iterator<Item = (u8, u32)> {
        let [begin, end] = [state, state + 1].map(|at| self.begins[at as usize] as usize);
        (begin..end).map(|step| (self.classes[step], self.targets[step]))
    }

    /// Returns a short way on which a promise is asked for and never kept, by the classes that the graph was given.
    pub fn broken(
        &self,
        model: &M,
        class: impl Fn(M::Action, &M::State, &M::State) -> Step,
        owed: impl Fn(&M::State) -> Owed,
    ) -> Option<Lasso<M::Action>> {
        let owed: Vec<Owed> = self.states.iter().map(owed).collect();
        let (order, before) = self.asked(&owed);
        let still = self.components(&order, &owed, false);
        let timed = self.components(&order, &owed, true);
        // They are in the order of their distance: this is a shortest way to any component.
        let (start, components) = order.into_iter().find_map(|at| {
            let both = [&still, &timed].into_iter();
            both.filter(|found| found.at(at).is_fair(found.timed)).map(|found| (at, found)).next()
        })?;
        let mut way = vec![start];
        while let Some(at) = way.last().map(|at| before[*at as usize]).filter(|at| *at != NONE) {
            way.push(at);
        }
        let asked = way.pop().unwrap_or(start);
        let mut digests = self.seen.way_to(asked);
        digests.extend(way.into_iter().rev().map(|at| self.seen.digest(at)));
        let (mut trace, mut state) = replay(model, &digests);
        let cycle = self.cycle(components, start);
        for (of, to) in &cycle {
            let mut step = None;
            model.successors(&state, |action, successor| {
                let is_of_it = || code(class(action, &state, &successor)) == *of;
                let digest = || model.digest(&model.canonical(successor));
                if step.is_none() && is_of_it() && digest() == self.seen.digest(*to) {
                    step = Some((action, successor));
                }
            });
            let (action, successor) = step.expect("a state has the steps of what stands for it");
            trace.push(action);
            state = successor;
        }
        Some(Lasso { trace, again: cycle.len() })
    }

    /// Returns the states in which a promise is not kept after it was asked for, the nearest first, and for each the one
    /// before it since then.
    fn asked(&self, owed: &[Owed]) -> (Vec<u32>, Vec<u32>) {
        let mut before = vec![NONE; self.len()];
        let mut is_met = vec![false; self.len()];
        let (mut order, mut level): (Vec<u32>, Vec<u32>) = Default::default();
        // The states of one distance from the first are neighbours.
        let (mut from, mut until) = (0, 1);
        while from < self.len() || !level.is_empty() {
            for at in from..until {
                if owed[at] == Owed::Asked && !std::mem::replace(&mut is_met[at], true) {
                    level.push(at as u32);
                }
            }
            let reached = |at: usize| self.steps(at as u32).map(|(_, to)| to as usize + 1).max();
            let next = (from..until).filter_map(reached).max().unwrap_or(0);
            (from, until) = (until, next.max(until));
            let mut next = Vec::new();
            for at in &level {
                for (_, to) in self.steps(*at) {
                    let is_open = owed[to as usize] != Owed::Kept;
                    if is_open && !std::mem::replace(&mut is_met[to as usize], true) {
                        before[to as usize] = *at;
                        next.push(to);
                    }
                }
            }
            order.append(&mut level);
            level = next;
        }
        (order, before)
    }

    /// Finds the components of these states by the algorithm of Tarjan.
    fn components(&self, roots: &[u32], owed: &[Owed], timed: bool) -> Components {
        let mut found = Components { of: vec![NONE; self.len()], all: Vec::new(), timed };
        let is_open = |to: u32| owed[to as usize] != Owed::Kept;
        let mut numbers = vec![NONE; self.len()];
        let mut lowest = vec![NONE; self.len()];
        let mut next = 0;
        // The way to the state that is looked at, each with its next step; and those without a component.
        let (mut way, mut open): (Vec<(u32, u32)>, Vec<u32>) = Default::default();
        for root in roots {
            if numbers[*root as usize] != NONE {
                continue;
            }
            way.push((*root, self.begins[*root as usize]));
            while let Some((state, step)) = way.pop() {
                let at = state as usize;
                if numbers[at] == NONE {
                    (numbers[at], lowest[at]) = (next, next);
                    next += 1;
                    open.push(state);
                }
                if step == self.begins[at + 1] {
                    if lowest[at] == numbers[at] {
                        let from = open.iter().rposition(|other| *other == state).unwrap_or(0);
                        let number = found.all.len() as u32;
                        open.drain(from..).for_each(|member| found.of[member as usize] = number);
                        found.all.push(Component::default());
                    }
                    if let Some((parent, _)) = way.last() {
                        let parent = *parent as usize;
                        lowest[parent] = lowest[parent].min(lowest[at]);
                    }
                    continue;
                }
                way.push((state, step + 1));
                let to = self.targets[step as usize];
                if !is_open(to) || !self.is_taken(state, self.classes[step as usize], to, timed) {
                    continue;
                }
                if numbers[to as usize] == NONE {
                    way.push((to, self.begins[to as usize]));
                } else if found.of[to as usize] == NONE {
                    lowest[at] = lowest[at].min(numbers[to as usize]);
                }
            }
        }
        for state in roots {
            let number = found.of[*state as usize];
            let can = self.can[*state as usize];
            let component = &mut found.all[number as usize];
            (component.always, component.ever) = (component.always & can, component.ever | can);
            for (class, to) in self.steps(*state) {
                if self.is_taken(*state, class, to, timed) && found.of[to as usize] == number {
                    component.taken |= bit(class);
                }
            }
        }
        found
    }

    /// Returns whether a step may be taken again and again.
    fn is_taken(&self, from: u32, class: u8, to: u32, timed: bool) -> bool {
        let stands = (self.can[from as usize] | self.can[to as usize]) & TIME == 0;
        class & ENDS == 0 && (timed || stands && class < 63)
    }

    /// Returns a way through a component and back, on which nothing is put off: the class of each step, and the state.
    fn cycle(&self, components: &Components, start: u32) -> Vec<(u8, u32)> {
        let component = components.at(start);
        let impossible = |state: u32| !self.can[state as usize] & !TIME;
        // What was taken on the way, or was not possible.
        let (mut way, mut at, mut done) = (Vec::new(), start, impossible(start));
        if self.can[start as usize] == 0 && !components.timed {
            return way;
        }
        loop {
            let missing = component.ever & !done;
            let piece = self.piece(components, at, |class, to| match missing {
                0 => to == start,
                _ => missing & (bit(class) | impossible(to)) != 0,
            });
            for (class, to) in piece {
                done |= bit(class) | impossible(to);
                way.push((class, to));
                at = to;
            }
            if component.ever & !done == 0 && at == start {
                return way;
            }
        }
    }

    /// Returns a shortest way within a component, whose last step is a wanted one.
    fn piece(
        &self,
        components: &Components,
        from: u32,
        is_wanted: impl Fn(u8, u32) -> bool,
    ) -> Vec<(u8, u32)> {
        let mut before: HashMap<u32, (u32, u8)> = Default::default();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for (class, to) in self.steps(at) {
                let is_within = components.of[to as usize] == components.of[from as usize];
                if !is_within || !self.is_taken(at, class, to, components.timed) {
                    continue;
                }
                if is_wanted(class, to) {
                    let mut piece = vec![(class, to)];
                    let mut state = at;
                    while state != from {
                        let (earlier, class) = before[&state];
                        piece.push((class, state));
                        state = earlier;
                    }
                    piece.reverse();
                    return piece;
                }
                if to != from && !before.contains_key(&to) {
                    before.insert(to, (at, class));
                    queue.push_back(to);
                }
            }
        }
        unreachable!("all states of a component reach each other")
    }
}

/// What is known of the steps in a component, by class.
struct Component {
    /// Possible in each of its states, and in some.
    always: u64,
    ever: u64,
    /// Taken from one of its states to another.
    taken: u64,
}

impl Default for Component {
    fn default() -> Self {
        Self { always: u64::MAX, ever: 0, taken: 0 }
    }
}

impl Component {
    /// Returns whether its steps may be all that is taken from some time on.
    const fn is_fair(&self, timed: bool) -> bool {
        let time = if timed { self.taken } else { !self.ever };
        self.always & !self.taken & !TIME == 0 && time & TIME != 0
    }
}

struct Components {
    /// By state: its component.
    of: Vec<u32>,
    all: Vec<Component>,
    /// Time passes in them.
    timed: bool,
}

impl Components {
    fn at(&self, state: u32) -> &Component {
        &self.all[self.of[state as usize] as usize]
    }
}

const fn code(step: Step) -> u8 {
    match step {
        Step::Free => FREE,
        Step::Must(class) => class,
        Step::Ends(class) => class | ENDS,
        Step::Rare => FREE | ENDS,
        Step::Time => 63,
    }
}

const fn bit(class: u8) -> u64 {
    if class < FREE { 1 << class } else { 0 }
}
