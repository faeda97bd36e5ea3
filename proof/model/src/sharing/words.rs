//! A trace in words, for people.

use super::protocol::{Action, Message, Sharing};
use super::scripts::MARK;
use super::state::{DOWNGRADE, Phase, State, round_bit};
use crate::checker::Model;

impl Sharing {
    /// Returns each step in words, with names that stay the same throughout.
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

    /// Returns a contender's name: writers and readers, by letter.
    fn name(&self, who: usize) -> String {
        let letter = ["A", "B", "C", "D"][who];
        let kind = if self.config.contenders[who].reads { "reader" } else { "writer" };
        format!("{kind} {letter}")
    }

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        let left = |who: usize| match after.actors[who].left {
            1 => "for 1 tick".to_owned(),
            left => format!("for {left} ticks"),
        };
        match action {
            Action::Begin { who } => format!("{} begins", self.name(who)),
            Action::Win { who } => format!("{} wins, {}", self.name(who), left(who)),
            Action::GiveUp { who } => format!("{} gives up", self.name(who)),
            Action::Release { who } => format!("{} releases", self.name(who)),
            Action::Crash { who } => format!("{} crashes", self.name(who)),
            Action::Extend { who, round } => {
                format!("{} begins extension {}", self.name(who), round + 1)
            }
            Action::Extended { who, round: DOWNGRADE } => {
                format!("{} has won its downgrade, {}", self.name(who), left(who))
            }
            Action::Extended { who, round } => {
                format!("{} has won extension {}, {}", self.name(who), round + 1, left(who))
            }
            Action::TopUp { who, node, .. } => format!("{} tops up {}", self.name(who), node + 1),
            Action::Downgrade { who } => format!("{} begins to downgrade", self.name(who)),
            Action::Return { who } => format!("{} has its write guard back", self.name(who)),
            Action::Deliver { who, node, message, again } => {
                let told = self.delivery(who, node, message, before, after);
                if again { format!("{told}; the message will come again") } else { told }
            }
            Action::Fail { who, node } => {
                format!("{} answers {}'s downgrade with an error", node + 1, self.name(who))
            }
            Action::Tick => format!("a tick{}", self.ended(before, after)),
            Action::Restart { node } => format!("{} restarts empty", node + 1),
        }
    }

    fn delivery(
        &self,
        who: usize,
        node: usize,
        message: Message,
        before: &State,
        after: &State,
    ) -> String {
        let (name, place) = (self.name(who), node + 1);
        let (was, is) = (&before.nodes[node], &after.nodes[node]);
        let late = before.actors[who].phase != Phase::Trying;
        match message {
            Message::Acquire if late => format!("{name}'s late attempt is granted by {place}"),
            Message::Acquire => format!("{place} grants {name}"),
            Message::TopUp(_) => format!("{name}'s top-up is granted by {place}"),
            Message::Extend(slot) => {
                let round = match slot {
                    DOWNGRADE => "downgrade".to_owned(),
                    slot => format!("extension {}", slot + 1),
                };
                let here = was.master.has(who) || was.master.owner == MARK;
                if is.vacant & round_bit(who, slot) != was.vacant & round_bit(who, slot) || !here {
                    format!("{place} has no key of {name} ({round})")
                } else {
                    format!("{place} holds for {name} ({round})")
                }
            }
            Message::Release if was.master != is.master => {
                format!("{place} executes the release of {name}")
            }
            Message::Release => format!("the release of {name} finds nothing on {place}"),
        }
    }

    /// Names what a tick has ended.
    fn ended(&self, before: &State, after: &State) -> String {
        let mut told = String::new();
        for who in 0..self.count() {
            match (before.actors[who].phase, after.actors[who].phase) {
                (Phase::Held, Phase::Over) => told += &format!("; {} lapses", self.name(who)),
                (Phase::Trying, Phase::Over) => {
                    told += &format!("; {} is too late", self.name(who))
                }
                _ => {}
            }
        }
        for node in 0..self.config.nodes {
            let (was, is) = (&before.nodes[node], &after.nodes[node]);
            for who in 0..self.count() {
                if was.master.has(who) && !is.master.has(who) {
                    told += &format!("; {} expires on {}", self.name(who), node + 1);
                }
            }
            if was.warm > 0 && is.warm == 0 {
                told += &format!("; {} votes again", node + 1);
            }
        }
        told
    }
}
