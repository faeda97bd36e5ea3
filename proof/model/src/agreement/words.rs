//! Bounds and traces in words, for people.

use super::config::{Client, Config};
use super::properties::GOES_ON;
use super::protocol::{Action, Agreement};
use super::search::Search;
use super::state::{NO_HOLDER, Round, State};
use crate::run::{NAMES, Part, Searched};
use crate::settings::{counted, list, plural};

impl Part for Agreement {
    type Config = Config;
    type Search = Search;

    const NAME: &'static str = "agreement";
    const HEADING: &'static str = "
# The agreement between clients

Two or three clients go by different settings. `{1,2,3} ttl 1 of 2` is a client with that list of
masters, its ttl and its `max_ttl`. A tick is as long as a confirmation counts, or half as long (`L 2`).
*Cuts*: links fail and heal. *Late*: that client reads answers at any later time. *At random*: walks from
a seed that is always the same. *Written*: too far for a search, a way that was written down, and which
the rules as they ship do not let through.
";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

    fn searched(
        &self,
        search: &Search,
        states: usize,
        progress: &mut dyn FnMut(usize),
    ) -> Searched<Action> {
        search.searched(self, states, progress)
    }

    fn ending(property: &str) -> Option<String> {
        (property == GOES_ON).then(|| "and what should come next is not possible".to_owned())
    }

    fn bounds(config: &Config) -> String {
        let clients = config.clients.iter().map(goes_by);
        let mut words = vec![clients.collect::<Vec<_>>().join(" beside ")];
        let contends = |client: &&Client| !client.reads;
        if let Some(client) = config.clients.iter().find(contends) {
            words.push(plural(client.attempts, "attempt"));
            words.extend(counted([(client.rounds, "extension")]));
        }
        if config.silence > 1 {
            words.push(format!("L {}", config.silence));
        }
        if config.cuts {
            words.push("cuts".to_owned());
        }
        words.extend(counted([(config.restarts, "restart")]));
        if config.errors {
            words.push("errors".to_owned());
        }
        words.join(", ")
    }

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        match action {
            Action::Tick => format!("a tick{}", self.expired(before, after)),
            Action::Ask { client, node } => {
                let name = NAMES[client];
                let asks = format!("{name} asks {}", node + 1);
                let noted =
                    after.nodes[node].links[client].note > before.nodes[node].links[client].note;
                let notes = if noted { ", which notes it" } else { "" };
                if after.nodes[node].links[client].under_way > 0 {
                    return format!("{asks}{notes}");
                }
                format!("{asks}{notes}{}", self.heard(client, node, after))
            }
            Action::Read { client, node } => {
                let heard = self.heard(client, node, after);
                format!("{} reads what {} has answered{heard}", NAMES[client], node + 1)
            }
            Action::Fail { client, node } => {
                format!("{} answers {} with an error", node + 1, NAMES[client])
            }
            Action::Acquire { client } => {
                format!("{} sends to {}", self.cut(client, before), self.targets(client, after))
            }
            Action::Extend { client } => {
                let targets = self.targets(client, after);
                format!("{} sends an extension to {targets}", self.cut(client, before))
            }
            Action::Want { client } => format!("{} wants a lock for the first time", NAMES[client]),
            Action::Quit { client } => format!("{} shuts down", NAMES[client]),
            Action::TakeBack { client, node } => {
                format!("{} takes back what {} has noted", NAMES[client], node + 1)
            }
            Action::GiveUp { client } => format!("{} gives up", NAMES[client]),
            Action::Grant { client, node } => self.granted(client, node, before, after),
            Action::TopUp { client, node } => format!("{} tops up {}", NAMES[client], node + 1),
            Action::Restart { node, unseen: 0 } => format!("{} restarts empty", node + 1),
            Action::Restart { node, unseen } => {
                let missed = (0..self.count()).filter(|client| unseen >> client & 1 == 1);
                let names: Vec<&str> = missed.map(|client| NAMES[client]).collect();
                let (names, sees) =
                    (names.join(" and "), if names.len() > 1 { "see" } else { "sees" });
                format!("{} restarts empty, which {names}, cut off, {sees} not", node + 1)
            }
        }
    }
}

impl Agreement {
    /// Returns what an answer has just reported to a client.
    fn heard(&self, client: usize, node: usize, after: &State) -> String {
        let link = &after.nodes[node].links[client];
        let reported = |other: &usize| link.reported[*other] > 0;
        let names: Vec<&str> =
            (0..self.count()).filter(reported).map(|other| NAMES[other]).collect();
        match (names.as_slice(), link.confirmed > 0) {
            ([], true) => String::new(),
            // It sends nothing any more, and so it needs none.
            ([], false) if !self.sends_again(after, client) => String::new(),
            ([], false) => ", which confirms nothing any more".to_owned(),
            (names, _) => format!(", which tells it of {}", names.join(" and ")),
        }
    }

    /// Names the client that sends, and the nodes from which it has no answer.
    fn cut(&self, client: usize, before: &State) -> String {
        let silent = |node: &usize| {
            let link = &before.nodes[*node].links[client];
            link.answered == 0 || link.unseen > 0
        };
        let silent: Vec<String> =
            self.members(client).filter(silent).map(|node| (node + 1).to_string()).collect();
        match silent.as_slice() {
            [] => NAMES[client].to_owned(),
            silent => format!("{}, without an answer from {},", NAMES[client], listed(silent)),
        }
    }

    fn targets(&self, client: usize, after: &State) -> String {
        let sent = |node: &usize| after.nodes[*node].links[client].sent;
        let sent: Vec<String> =
            (0..self.config.nodes).filter(sent).map(|node| (node + 1).to_string()).collect();
        listed(&sent)
    }

    fn granted(&self, client: usize, node: usize, before: &State, after: &State) -> String {
        let (name, was) = (NAMES[client], before.actors[client].round);
        let granted = match was {
            Round::Acquire => format!("{} grants {name}", node + 1),
            Round::Extend => format!("{} extends {name}'s key", node + 1),
            Round::None => format!("{name}'s late SET reaches {} and is granted", node + 1),
        };
        let won = was != Round::None && after.actors[client].round == Round::None;
        let left = after.actors[client].left;
        let ticks = if left == 1 { "tick" } else { "ticks" };
        if won { format!("{granted}, which holds for {left} {ticks}") } else { granted }
    }

    /// Names what a tick has ended.
    fn expired(&self, before: &State, after: &State) -> String {
        let mut text = String::new();
        for (client, name) in NAMES.iter().enumerate().take(self.count()) {
            if before.actors[client].left > 0 && after.actors[client].left == 0 {
                text += &format!("; {name} lapses");
            }
        }
        for node in 0..self.config.nodes {
            let (was, is) = (&before.nodes[node], &after.nodes[node]);
            for (client, name) in NAMES.iter().enumerate().take(self.count()) {
                if was.links[client].note > 0 && is.links[client].note == 0 {
                    text += &format!("; {name}'s note on {} lapses", node + 1);
                }
            }
            if was.owner != 0 && is.owner == 0 {
                let whose = match was.owner {
                    NO_HOLDER => "a key".to_owned(),
                    owner => format!("{}'s key", NAMES[usize::from(owner) - 1]),
                };
                text += &format!("; {whose} on {} expires", node + 1);
            }
        }
        text
    }
}

fn listed(words: &[String]) -> String {
    match words {
        [] => "no master".to_owned(),
        [word] => word.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn goes_by(client: &Client) -> String {
    let mut words = list(client.lists[0]);
    if client.lists[1] != client.lists[0] {
        words += &format!(" and {}", list(client.lists[1]));
    }
    if client.reads {
        return format!("a reader of {words}");
    }
    words += &format!(" ttl {} of {}", client.ttl, client.max_ttl);
    if (client.back, client.ahead) != (0, 0) {
        words += &format!(" window {} back {} ahead", client.back, client.ahead);
    }
    if client.late {
        words += " late";
    }
    words
}
