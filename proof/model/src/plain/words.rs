//! Bounds and traces in words, for people.

use super::config::{Config, Contender, Fence};
use super::protocol::{Action, Protocol};
use super::state::{Phase, State};
use crate::net::{Message, bit, round_bit};
use crate::run::{NAMES, Part};
use crate::settings::{counted, of_clients, plural};

impl Part for Protocol {
    type Config = Config;
    type Search = ();

    const NAME: &'static str = "protocol";
    const HEADING: &'static str = "";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

    fn bounds(config: &Config) -> String {
        let attempts = &config.attempts;
        let if_any = |is: fn(&Contender) -> bool, words: &dyn Fn(&Contender) -> String| {
            attempts.iter().find(|contender| is(contender)).map(words)
        };
        let each = |what: fn(&Contender) -> String, between: &str| {
            attempts.iter().map(what).collect::<Vec<_>>().join(between)
        };
        let ahead: Vec<String> = config.ahead[..config.nodes].iter().map(u8::to_string).collect();
        let drifts = config.drift > 0 || config.gains_every > 0;
        let steps = plural(config.clock_steps, "clock step");
        let faults = [
            (config.restarts, "restart"),
            (config.duplicates, "duplicate"),
            (config.forced, "forced release"),
            (config.older, "kept key"),
        ];
        let words = [
            Some(format!("{} nodes", config.nodes)),
            Some(plural(attempts.len(), "attempt")),
            of_clients(attempts.iter().map(|contender| contender.client)),
            Some(config.order.words().to_owned()),
            Some(format!("ttl {}", config.ttl)),
            if_any(|contender| contender.rounds > 0, &|_| {
                format!("extensions {}", each(|contender| contender.rounds.to_string(), "+"))
            }),
            (config.extension_ttl != config.ttl).then(|| format!("for {}", config.extension_ttl)),
            match config.fence {
                Fence::None => None,
                Fence::Ballots { greatest } => Some(format!("ballots 1 to {greatest}")),
                Fence::Window { back, ahead, until } => {
                    Some(format!("window {back} back, {ahead} ahead, to time {until}"))
                }
                Fence::Counters => Some("counters".to_owned()),
            },
            config.fence_expires.then(|| "fences expire".to_owned()),
            config
                .ahead
                .iter()
                .any(|ahead| *ahead != 0)
                .then(|| format!("clocks ahead by {}", ahead.join(","))),
            drifts.then(|| {
                format!("drift {}, a tick gained in {}", config.drift, config.gains_every)
            }),
            (config.lock_delay > 0).then(|| format!("lock-delay {}", config.lock_delay)),
            (config.at_least > 0).then(|| format!("closed for {} at least", config.at_least)),
            if_any(|contender| contender.claims != 1, &|_| {
                format!("claims {}", each(|contender| resources(contender.claims).to_owned(), " "))
            }),
            if_any(|contender| contender.longer > 0, &|contender| {
                format!("one for {}", config.ttl + contender.longer)
            }),
            config.adopts_again.then(|| "adoptions begun again".to_owned()),
            if_any(|contender| contender.rests > 0, &|contender| {
                format!("{} between", plural(contender.rests, "tick"))
            }),
            (config.hands_over != 0).then(|| "the first detached and adopted".to_owned()),
            config.forgets.then(|| "scripts forgotten".to_owned()),
            config.nil_settles.then(|| "nil not undone".to_owned()),
        ];
        let stepped =
            (config.clock_steps > 0).then(|| format!("{steps} of {:+}", config.clock_step));
        let words = words.into_iter().flatten().chain(counted(faults)).chain(stepped);
        words.collect::<Vec<_>>().join(", ")
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
                let delivery = self.delivery(attempt, node, message, before, after);
                if again { format!("{delivery}; the message will come again") } else { delivery }
            }
            Action::Tick => "a tick".to_owned(),
            Action::Keep { node } => format!("an older client keeps the key on {}", node + 1),
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
            Action::Force { attempt } => {
                format!("a client deletes {}'s keys", NAMES[attempt])
            }
            Action::Delete { attempt, node } => {
                let (name, place) = (NAMES[attempt], node + 1);
                let set = before.nodes[node].keys != after.nodes[node].keys;
                match set {
                    true => format!("{place} deletes {name}'s key"),
                    false => format!("{place} has no key of {name}'s to delete"),
                }
            }
            Action::Forced { attempt } => {
                format!("it learns that a quorum has deleted {}'s", NAMES[attempt])
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
}

impl Protocol {
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
            Message::Acquire if is.answers.uncounted & bit(attempt) != 0 => {
                format!("{place}, warming up, sets {name}'s key")
            }
            Message::Acquire => format!("{place} grants {name}"),
            Message::TopUp(_) if set => format!("{name}'s top-up reaches {place} and is granted"),
            Message::TopUp(_) => format!("{name}'s top-up finds its own key on {place}"),
            Message::Extend(round) if is.answers.vacant & round_bit(attempt, round) != 0 => {
                format!("{place} has no key of {name}'s (extension {})", round + 1)
            }
            Message::Extend(round) => {
                format!("{place} holds {name}'s key (extension {})", round + 1)
            }
            Message::Release if set && after.attempts[attempt].kept > 0 => {
                format!("{place} lets {name}'s key live for what is left")
            }
            Message::Release if set => format!("{place} executes {name}'s release"),
            Message::Release => format!("{name}'s release finds nothing on {place}"),
        }
    }

    /// Names what a tick has ended.
    fn expired(&self, before: &State, after: &State) -> String {
        let mut text = String::new();
        for node in 0..self.config.nodes {
            let (was, is) = (&before.nodes[node], &after.nodes[node]);
            for (old, new) in was.keys.iter().zip(&is.keys) {
                if old.owner != 0 && new.owner == 0 {
                    let name = NAMES.get(usize::from(old.owner) - 1).unwrap_or(&"an older client");
                    text += &format!("; {name}'s key on {} expires", node + 1);
                }
                if old.fence != 0 && new.fence == 0 {
                    text += &format!("; the fence on {} expires", node + 1);
                }
            }
            if was.warm > 0 && is.warm == 0 {
                text += &format!("; {} votes again", node + 1);
            }
        }
        text
    }
}

fn in_ticks(ticks: u8) -> String {
    if ticks == 1 { "1 tick from now".to_owned() } else { format!("{ticks} ticks from now") }
}

fn resources(claims: u8) -> &'static str {
    ["{}", "{a}", "{b}", "{a,b}"][usize::from(claims)]
}
