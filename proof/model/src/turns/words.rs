//! A trace in words, for people.

use super::protocol::{Action, Turns};
use super::scripts::{KEPT, Master};
use super::state::{Out, Stage, State};
use crate::checker::Model;

impl Turns {
    /// Returns each step in words.
    pub fn told(&self, trace: &[Action]) -> Vec<String> {
        let mut state = self.initial();
        let mut told = Vec::new();
        for action in trace {
            let mut after = None;
            self.successors(&state, |one, next| {
                if one == *action {
                    after = Some(next);
                }
            });
            let after = after.expect("a trace leads from step to step");
            told.push(self.sentence(*action, &state, &after));
            state = after;
        }
        told
    }

    fn name(who: usize) -> &'static str {
        ["A", "B", "C", "D"][who]
    }

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        match action {
            Action::Come { who } => format!("{} comes", Self::name(who)),
            Action::Look { who } => format!("{} looks", Self::name(who)),
            Action::Try { who } => format!("{} tries", Self::name(who)),
            Action::Extend { who } => format!("{} extends", Self::name(who)),
            Action::Release { who } => format!("{} releases", Self::name(who)),
            Action::GiveUp { who } => format!("{} gives up", Self::name(who)),
            Action::Die { who } => format!("{} dies", Self::name(who)),
            Action::Restart { node } => format!("{} restarts empty", node + 1),
            Action::Part { who, node } => {
                let there = self.there(&after.nodes[node].master);
                format!("{}: {} takes its place back, then {there}", node + 1, Self::name(who))
            }
            Action::Lose { who, node } => {
                format!("{} does not get what {} sent", node + 1, Self::name(who))
            }
            Action::Tick => format!("a tick ({} without a holder)", after.drought),
            Action::Deliver { who, node, choice } => {
                self.delivery(who, node, choice, before, after)
            }
        }
    }

    fn delivery(&self, who: usize, at: usize, choice: u8, before: &State, after: &State) -> String {
        let verb = match before.actors[who].out {
            Out::Set => "SET",
            Out::Join => "first look",
            Out::Look => "look",
            Out::Try => "try",
            Out::Undo => "rollback",
            Out::Extend => "extension",
            Out::TopUp => "top-up",
            Out::Leave => "release",
            Out::Nothing => "",
        };
        let there = self.there(&after.nodes[at].master);
        let mut told = format!("{}: {verb} of {}, then {there}", at + 1, Self::name(who));
        if before.actors[who].out == Out::Leave && choice > 0 {
            told += if choice == 1 { ", and tells" } else { ", and its message is lost" };
        }
        for other in 0..self.count() {
            let (was, is) = (&before.actors[other], &after.actors[other]);
            if was.stage != is.stage && is.stage == Stage::Holds {
                told += &format!("; {} wins", Self::name(other));
            }
            if was.phase != is.phase && is.stage == Stage::Waits {
                told += &format!("; {} is {:?}", Self::name(other), is.phase).to_lowercase();
            }
            if was.ticket != is.ticket && is.ticket > 0 {
                told += &format!("; {} has ticket {}", Self::name(other), is.ticket);
            }
        }
        told
    }

    fn there(&self, master: &Master) -> String {
        let key = match master.key {
            0 => "nothing".to_owned(),
            key if key & KEPT != 0 => {
                format!("kept for {}", Self::name(usize::from(key & !KEPT) - 1))
            }
            key => format!("held by {}", Self::name(usize::from(key) - 1)),
        };
        let stands = (0..self.count()).filter(|who| master.stamps[*who] > 0);
        let queue: Vec<String> =
            stands.map(|who| format!("{} {}", Self::name(who), master.stamps[who])).collect();
        format!("{key} [{}]", queue.join(", "))
    }
}
