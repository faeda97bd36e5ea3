//! The formulas of `proof/induction`, read from the text that `scripts/prove --export` writes, and
//! evaluated in a state: the same formulas that the solvers see.
//!
//! A [`Page`] has actions, conjuncts, assumptions and goals. A [`State`] has a value for each of its
//! functions, and so many elements of each sort. A step is a list of changes. [`State::permits`] returns
//! whether the relation of an action holds between the state before and after it, with all that the
//! action says stays as it was.
//!
//! Only *live* elements are quantified over. An element that is put aside keeps its values, and no step
//! may change them. So what is universal is only evaluated for the others, and an existential formula may
//! be refused that the element put aside would fulfil: a caller puts aside what its formulas say nothing
//! of any more.
//!
//! A truth is 0 or 1, an element its number, and a real number so many nanoseconds.

mod again;
mod formula;
mod nested;
mod page;
mod state;
mod text;

pub use page::{Action, Definition, Page};
pub use state::{Change, Element, State};

#[cfg(test)]
mod tests;
