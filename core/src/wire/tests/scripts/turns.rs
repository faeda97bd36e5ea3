//! The scripts of waiters in turn, run by an embedded master: what each answers, and what it
//! leaves in the lock, the queue and the fence.

mod front;
mod kept;
mod leaves;
mod looks;
mod places;
mod rights;
mod stage;
mod tries;
