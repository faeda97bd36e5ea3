//! The steps of one page: which of its actions permit them, and what has to hold after each.

use evaluator::{Change, Definition, Page, State};
use std::sync::Arc;

/// The parameters of an action, by their names.
pub(super) type Parameters<'a> = &'a [(&'a str, i64)];

/// How much of an action holds for a step that it does not permit, and what does not.
pub(super) type Misfit = (usize, String);

/// A state of a page, and how often each of its actions has been matched.
pub(super) struct Steps {
    pub(super) state: State,
    pub(super) matched: Vec<u64>,
    /// How often nothing changed that the page speaks of.
    pub(super) stutters: u64,
}

impl Steps {
    pub(super) fn new(page: Arc<Page>) -> Self {
        let matched = vec![0; page.actions.len()];
        Self { state: State::new(page), matched, stutters: 0 }
    }

    pub(super) fn page(&self) -> &Page {
        self.state.page()
    }

    /// Returns the place of an action that permits these changes.
    fn permits(
        &mut self,
        name: &str,
        parameters: Parameters,
        changes: &[Change],
    ) -> Result<usize, Misfit> {
        let page = self.state.page().clone();
        let place = page.action(name);
        let place = place.ok_or_else(|| (0, format!("page {} has no action {name}", page.name)))?;
        self.state.permits(&page.actions[place], parameters, changes).map_err(|(held, part)| {
            let words = &page.actions[place].words;
            let name = format!("page {}, action {name} ({words})", page.name);
            (held, format!("{name}: not {part}, of {parameters:?}"))
        })?;
        Ok(place)
    }

    /// Takes a step of this action, and judges the state after it.
    pub(super) fn step(
        &mut self,
        name: &str,
        parameters: Parameters,
        changes: &[Change],
    ) -> Result<(), String> {
        self.takes(name, parameters, changes)?.map_or(Ok(()), |(_, wrong)| Err(wrong))
    }

    /// Does the same if it is one of this action; otherwise returns what does not fit.
    pub(super) fn takes(
        &mut self,
        name: &str,
        parameters: Parameters,
        changes: &[Change],
    ) -> Result<Option<Misfit>, String> {
        let place = match self.permits(name, parameters, changes) {
            Ok(place) => place,
            Err(misfit) => return Ok(Some(misfit)),
        };
        self.matched[place] += 1;
        let page = self.state.page().clone();
        for goal in page.goals.iter().filter(|goal| goal.is_of_step) {
            let result = self.state.holds_after(goal, place, parameters, changes);
            result.map_err(|part| broken(&page, "goal", goal, &part))?;
        }
        self.state.change(changes);
        let goals = page.goals.iter().filter(|goal| !goal.is_of_step).map(|goal| ("goal", goal));
        let conjuncts = page.conjuncts.iter().map(|conjunct| ("conjunct", conjunct));
        for (kind, definition) in conjuncts.chain(goals) {
            let result = self.state.still_holds(definition);
            debug_assert_eq!(result, self.state.holds(definition), "{kind} {}", definition.name);
            result.map_err(|part| broken(&page, kind, definition, &part))?;
        }
        self.state.all_judged();
        Ok(None)
    }

    pub(super) fn judge_assumptions(&mut self) -> Result<(), String> {
        self.state.assumes().map_err(|(place, part)| {
            broken(self.page(), "assumption", &self.page().assumptions[place], &part)
        })
    }

    /// Lets time go by.
    pub(super) fn tick(&mut self, now: i64) -> Result<(), String> {
        if self.state.value("now", &[]) == now {
            return Ok(());
        }
        let to = self.state.to("now", &[], now);
        self.advance("tick", &[("d0", now)], &[to])
    }

    /// Takes a step that another one follows at the same moment: the state is judged after that.
    pub(super) fn advance(
        &mut self,
        name: &str,
        parameters: Parameters,
        changes: &[Change],
    ) -> Result<(), String> {
        let place = self.permits(name, parameters, changes).map_err(|(_, wrong)| wrong)?;
        self.matched[place] += 1;
        self.state.change(changes);
        Ok(())
    }

    pub(super) fn shown(&self) -> String {
        self.state.shown()
    }
}

fn broken(page: &Page, kind: &str, definition: &Definition, part: &str) -> String {
    let Definition { name, words, .. } = definition;
    format!("page {}, {kind} {name} ({words}): not {part}", page.name)
}
