//! Bounds and traces in words, for people.

use super::config::{Config, Contender};
use super::protocol::{Action, Sharing};
use super::scripts::MARK;
use super::state::{DOWNGRADE, Phase, State};
use crate::net::{Message, round_bit};
use crate::run::{NAMES, Part};
use crate::settings::{counted, list, of_clients, plural};

impl Part for Sharing {
    type Config = Config;
    type Search = ();

    const NAME: &'static str = "sharing";
    const HEADING: &'static str = "
# Readers and writers

Readers and writers of one resource, any order of messages or in order. The ttl is two ticks, if
nothing else is said.
";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

    fn bounds(config: &Config) -> String {
        let contenders = config.contenders.iter();
        let all: Vec<String> =
            contenders.clone().map(|contender| words(config, contender)).collect();
        let words = [format!("{} nodes", config.nodes), all.join(" beside ")].into_iter();
        let words = words.chain(of_clients(contenders.map(|contender| contender.client)));
        let faults = counted([
            (config.restarts, "restart"),
            (config.duplicates, "duplicate"),
            (config.errors, "error"),
        ]);
        let crashes = config.crashes.then(|| "crashes".to_owned());
        let words = words.chain([config.order.words().to_owned()]).chain(faults).chain(crashes);
        words.collect::<Vec<_>>().join(", ")
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
                let delivery = self.delivery(who, node, message, before, after);
                if again { format!("{delivery}; the message will come again") } else { delivery }
            }
            Action::Fail { who, node } => {
                format!("{} answers {}'s downgrade with an error", node + 1, self.name(who))
            }
            Action::Tick => format!("a tick{}", self.ended(before, after)),
            Action::Restart { node } => format!("{} restarts empty", node + 1),
        }
    }
}

impl Sharing {
    /// Returns a contender's name: writers and readers, by letter.
    fn name(&self, who: usize) -> String {
        let kind = if self.config.contenders[who].reads { "reader" } else { "writer" };
        format!("{kind} {}", NAMES[who])
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
                if is.answers.vacant & round_bit(who, slot)
                    != was.answers.vacant & round_bit(who, slot)
                    || !here
                {
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
        let mut text = String::new();
        for who in 0..self.count() {
            match (before.actors[who].phase, after.actors[who].phase) {
                (Phase::Held, Phase::Over) => text += &format!("; {} lapses", self.name(who)),
                (Phase::Trying, Phase::Over) => {
                    text += &format!("; {} is too late", self.name(who))
                }
                _ => {}
            }
        }
        for node in 0..self.config.nodes {
            let (was, is) = (&before.nodes[node], &after.nodes[node]);
            for who in 0..self.count() {
                if was.master.has(who) && !is.master.has(who) {
                    text += &format!("; {} expires on {}", self.name(who), node + 1);
                }
            }
            if was.warm > 0 && is.warm == 0 {
                text += &format!("; {} votes again", node + 1);
            }
        }
        text
    }
}

fn words(config: &Config, contender: &Contender) -> String {
    let mut words = if contender.reads { "a reader".to_owned() } else { "a writer".to_owned() };
    let all = (1 << config.nodes) - 1;
    if contender.lists != [all; 2] {
        words += &format!(" of {}", list(contender.lists[0]));
    }
    if contender.lists[1] != contender.lists[0] {
        words += &format!(" and {}", list(contender.lists[1]));
    }
    if contender.ttl != 2 {
        words += &format!(" ttl {}", contender.ttl);
    }
    if contender.asks != contender.ttl {
        words += &format!(" for {}", contender.asks);
    }
    if contender.rounds > 0 {
        words += &format!(" with {}", plural(contender.rounds, "extension"));
    }
    if contender.downgrades {
        words += " that downgrades";
    }
    words
}
