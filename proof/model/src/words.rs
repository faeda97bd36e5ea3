//! A trace in words, for people.

use crate::checker::Model;
use crate::config::Fence;
use crate::protocol::{Action, Message, Protocol};
use crate::scripts::Extended;
use crate::state::{Phase, State, bit, round_bit};

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

impl Protocol {
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

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        let mut sentence = match action {
            Action::Begin { attempt, ballot: 0 } => format!("{} begins", NAMES[attempt]),
            Action::Begin { attempt, ballot } => {
                format!("{} begins, with ballot {ballot}", NAMES[attempt])
            }
            Action::Win { attempt, token } => {
                let (name, left) = (NAMES[attempt], after.attempts[attempt].left);
                let token = match self.config.fence {
                    Fence::None => String::new(),
                    _ => format!(" with token {token}"),
                };
                format!("{name} wins{token}, until {}", in_ticks(left))
            }
            Action::GiveUp { attempt } => format!("{} gives up", NAMES[attempt]),
            Action::Release { attempt } => format!("{} releases", NAMES[attempt]),
            Action::EndWell { attempt } => {
                let (name, left) = (NAMES[attempt], after.attempts[attempt].closed);
                format!("{name} ends well: closed until {}", in_ticks(left))
            }
            Action::Extend { attempt, round } => {
                format!("{} begins extension {}", NAMES[attempt], round + 1)
            }
            Action::Extended { attempt, round } => {
                let (name, left) = (NAMES[attempt], after.attempts[attempt].left);
                format!("{name} has won extension {}, until {}", round + 1, in_ticks(left))
            }
            Action::TopUp { attempt, node, .. } => {
                format!("{} tops up {}", NAMES[attempt], node + 1)
            }
            Action::Deliver { attempt, node, message, again } => {
                let told = self.delivery(attempt, node, message, before, after);
                if again { format!("{told}; the message will come again") } else { told }
            }
            Action::Tick => "a tick".to_owned(),
            Action::Restart { node } => format!("{} restarts empty", node + 1),
            Action::Gain { node } => format!("{}'s clock gains a tick", node + 1),
            Action::SetClock { node } => {
                format!("{}'s clock is set by {:+}", node + 1, self.config.clock_step)
            }
            Action::Detach { attempt } => {
                let may_get = |node: &usize| after.nodes[*node].unsettled & bit(attempt) != 0;
                let unsettled = (0..self.config.nodes).filter(may_get);
                let unsettled: Vec<String> = unsettled.map(|node| (node + 1).to_string()).collect();
                let name = NAMES[attempt];
                match unsettled.is_empty() {
                    true => format!("{name} is detached"),
                    false => format!("{name} is detached, without {}", unsettled.join(" and ")),
                }
            }
            Action::Adopt { attempt } => {
                format!("another process begins to adopt {}'s", NAMES[attempt])
            }
            Action::Adopted { attempt } => {
                let (name, left) = (NAMES[attempt], after.attempts[attempt].left);
                format!("it has adopted {name}'s, until {}", in_ticks(left))
            }
            Action::Force { attempt } => format!("somebody deletes {}'s keys", NAMES[attempt]),
            Action::Forced { attempt } => {
                format!("he is told that a quorum has deleted {}'s", NAMES[attempt])
            }
        };
        for (attempt, name) in NAMES.iter().enumerate() {
            let was = before.attempts[attempt].phase;
            let is = after.attempts[attempt].phase;
            match (action, was, is) {
                (Action::Tick, Phase::Held, Phase::Over | Phase::Lapsed) => {
                    sentence += &format!("; {name} lapses");
                }
                (Action::Tick, Phase::Trying, Phase::Over) => {
                    sentence += &format!("; {name} is too late");
                }
                _ => {}
            }
        }
        if action == Action::Tick || matches!(action, Action::Gain { .. } | Action::SetClock { .. })
        {
            sentence += &self.expired(before, after);
        }
        sentence
    }

    fn delivery(
        &self,
        attempt: usize,
        node: usize,
        message: Message,
        before: &State,
        after: &State,
    ) -> String {
        let (name, place) = (NAMES[attempt], node + 1);
        let (was, is) = (&before.nodes[node], &after.nodes[node]);
        let set = was.keys != is.keys;
        let late = before.attempts[attempt].phase != Phase::Trying;
        match message {
            Message::Acquire if late => format!("{name}'s late SET reaches {place} and is granted"),
            Message::Acquire if is.uncounted & bit(attempt) != 0 => {
                format!("{place}, warming up, sets {name}'s key")
            }
            Message::Acquire => format!("{place} grants {name}"),
            Message::TopUp(_) if set => format!("{name}'s top-up reaches {place} and is granted"),
            Message::TopUp(_) => format!("{name}'s top-up finds its own key on {place}"),
            Message::Extend(round) => {
                let answer = if is.vacant & round_bit(attempt, round) != 0 {
                    Extended::Vacant
                } else {
                    Extended::Held
                };
                let round = round + 1;
                match answer {
                    Extended::Held => format!("{place} holds {name}'s key (extension {round})"),
                    _ => format!("{place} has no key of {name}'s (extension {round})"),
                }
            }
            Message::Release if set && after.attempts[attempt].kept > 0 => {
                format!("{place} lets {name}'s key live for what is left")
            }
            Message::Release if set => format!("{place} executes {name}'s release"),
            Message::Release => format!("{name}'s release finds nothing on {place}"),
            Message::Force if set => format!("{place} deletes {name}'s key"),
            Message::Force => format!("{place} has no key of {name}'s to delete"),
        }
    }

    /// Names what a tick has ended.
    fn expired(&self, before: &State, after: &State) -> String {
        let mut told = String::new();
        for node in 0..self.config.nodes {
            let (was, is) = (&before.nodes[node], &after.nodes[node]);
            for (old, new) in was.keys.iter().zip(&is.keys) {
                if old.owner != 0 && new.owner == 0 {
                    let name = NAMES[usize::from(old.owner) - 1];
                    told += &format!("; {name}'s key on {} expires", node + 1);
                }
                if old.fence != 0 && new.fence == 0 {
                    told += &format!("; the fence on {} expires", node + 1);
                }
            }
            if was.warm > 0 && is.warm == 0 {
                told += &format!("; {} votes again", node + 1);
            }
        }
        told
    }
}

fn in_ticks(ticks: u8) -> String {
    if ticks == 1 { "1 tick from now".to_owned() } else { format!("{ticks} ticks from now") }
}
