//! Clients at odds, as page `agreement` sees them: what they ask, what masters note, and what clients take back.

mod rounds;

use super::super::commands::{Deed, Words, text};
use super::connection::DAY;
use super::exact::{self, SLOWEST, Span};
use super::formulas::Proof;
use super::steps::Steps;
use super::{Connection, Counts};
use crate::master::{AGREEMENT, Master};
use crate::setup::Setup;
use crate::world::World;
use evaluator::Element;
use quorumlock_core::quorum::{Instant, LONGEST_SILENCE, NodeSet};
use rounds::Round;
pub(super) use rounds::{Known, Vote};
use std::collections::BTreeMap;
use std::time::Duration;

/// A note is over by whole milliseconds of a master's clock.
const ROUNDED: Duration = Duration::from_millis(1);

/// What a command has to do with notes: the client by its own name, and for how long it notes.
#[derive(Clone, Debug)]
pub(in super::super) enum Noting {
    Asks(String, Duration),
    TakesBack(String),
}

impl Noting {
    pub(in super::super) fn of(words: &[Vec<u8>]) -> Option<Self> {
        let word = |place: usize| words.get(place).map(|word| text(word));
        if words[0] != b"EVAL" || words.get(3)? != AGREEMENT.as_bytes() {
            return None;
        }
        if Deed::of(words) != Deed::Agree {
            return Some(Self::TakesBack(word(4)?));
        }
        let life = word(4)?.parse().ok().filter(|millis| *millis > 0)?;
        Some(Self::Asks(word(8)?, Duration::from_millis(life)))
    }
}

/// The notes of one world.
pub(super) struct Agreement {
    steps: Steps,
    /// Each client that has asked, by its place, and by its own name.
    clients: Vec<Element>,
    names: BTreeMap<String, Element>,
    /// The questions that were queued and not executed, in order.
    asked: BTreeMap<Connection, Vec<Element>>,
    /// All questions of a client to a master, and when each was queued, by the client's clock.
    questions: BTreeMap<(usize, usize), Vec<(Instant, Element)>>,
    /// The lists of each kind of clients, and its smallest quorums.
    lists: Vec<Vec<NodeSet>>,
    quorums: Vec<Vec<Element>>,
    /// The rounds of each token.
    rounds: BTreeMap<String, Vec<Round>>,
    /// The votes that were asked for and not executed.
    votes: BTreeMap<Connection, Vec<(String, Element)>>,
}

impl Agreement {
    /// Returns the first state of a world whose clients are at odds.
    pub(super) fn begin(setup: &Setup) -> Option<Self> {
        let Proof(.., page) = setup.proof.as_ref().filter(|_| setup.flaw.is_none())?;
        setup.story?;
        let mut steps = Steps::new(page.clone());
        let state = &mut steps.state;
        for _ in 0..setup.masters {
            let node = state.add("Node");
            state.set("boot", &[node], -Span::of(DAY).at_most(SLOWEST));
        }
        state.set("silence", &[], Span::of(LONGEST_SILENCE).at_most(-SLOWEST));
        let lists = |seat: usize| setup.kind(seat).members.lists();
        for seat in 0..setup.seats() {
            let kind = state.add("Kind");
            state.set("guard", &[kind], Span::of(setup.kind(seat).quarantine).at_least(SLOWEST));
        }
        for (seat, other) in (0..setup.seats()).flat_map(|seat| (0..seat).map(move |at| (seat, at)))
        {
            let has_common = lists(seat).any(|list| lists(other).any(|their| their == list));
            for (one, another) in [(seat, other), (other, seat)] {
                let at = [one as Element, another as Element];
                state.set("odds", &at, i64::from(!has_common));
            }
        }
        let quorums = (0..setup.seats()).map(|seat| add_quorums(&mut steps, setup, seat));
        Some(Self {
            quorums: quorums.collect(),
            lists: (0..setup.seats()).map(|seat| lists(seat).collect()).collect(),
            steps,
            clients: Vec::new(),
            names: BTreeMap::new(),
            asked: BTreeMap::new(),
            questions: BTreeMap::new(),
            rounds: BTreeMap::new(),
            votes: BTreeMap::new(),
        })
    }

    pub(super) fn count(&self, counts: &mut Counts) {
        counts.add_steps(&self.steps);
    }

    fn tick(&mut self, now: i64) -> Result<(), String> {
        // A master that has done two things at once has done one before the other.
        match now > self.steps.state.value("now", &[]) {
            true => self.steps.tick(now),
            false => Ok(()),
        }
    }

    /// A client comes, with the settings of this seat.
    pub(super) fn comes(&mut self, seat: usize) {
        let client = self.steps.state.add("Client");
        self.steps.state.set("settings", &[client], seat as Element);
        self.clients.push(client);
    }

    /// A client queues a question, or takes its note back and sends nothing more.
    pub(super) fn queues(
        &mut self,
        now: i64,
        (line, local): (Connection, Instant),
        noting: &Noting,
    ) -> Result<(), String> {
        self.tick(now)?;
        let client = self.clients[line.0];
        match noting {
            Noting::Asks(name, life) => {
                self.names.insert(name.clone(), client);
                let state = &mut self.steps.state;
                let ask = state.add("Ask");
                let life = Span::of(life.saturating_sub(ROUNDED)).at_least(SLOWEST);
                let now = state.value("now", &[]);
                state.set("who", &[ask], client);
                state.set("node", &[ask], line.1 as Element);
                state.set("note_life", &[ask], life);
                let changes = [state.to("sent", &[ask], 1), state.to("asked", &[ask], now)];
                self.asked.entry(line).or_default().push(ask);
                self.questions.entry((line.0, line.1)).or_default().push((local, ask));
                self.steps.step("ask", &[("a0", ask)], &changes)?;
                self.steps.judge_assumptions()
            }
            Noting::TakesBack(_) => {
                if self.steps.state.is("quit", &[client]) {
                    return Ok(());
                }
                self.gives_up_what_it_has_not_won(now, line.0)?;
                let to = self.steps.state.to("quit", &[client], 1);
                self.steps.step("quit", &[("c0", client)], &[to])
            }
        }
    }

    /// A master has executed it.
    fn executes(
        &mut self,
        now: i64,
        line: Connection,
        (noting, answer): (&Noting, &[u8]),
        master: &Master,
    ) -> Result<(), String> {
        self.tick(now)?;
        let node = line.1 as Element;
        for client in self.noted_at(node) {
            let now = self.steps.state.value("now", &[]);
            if self.steps.state.value("stands", &[client, node]) <= now {
                self.lapses(client, node)?;
            }
        }
        match noting {
            Noting::Asks(name, _) => {
                let asked = self.asked.entry(line).or_default();
                let ask = (!asked.is_empty()).then(|| asked.remove(0));
                let ask = ask.ok_or_else(|| format!("no question of {name} was queued"))?;
                let agrees = answer.starts_with(b"*2\r\n:") && !answer.starts_with(b"*2\r\n:0\r");
                if agrees {
                    self.agrees(ask, node, stands(master, now, name))?;
                }
            }
            Noting::TakesBack(name) => {
                let client = self.names.get(name).copied();
                let client = client.ok_or_else(|| format!("{name} was never met"))?;
                self.is_taken_back(client, node, stands(master, now, name))?;
            }
        }
        self.compares(now, node, master)
    }

    /// Returns the clients whose part of a note stands at a master.
    fn noted_at(&self, node: Element) -> Vec<Element> {
        let all = self.clients.iter();
        all.filter(|client| self.steps.state.is("note", &[**client, node])).copied().collect()
    }

    fn lapses(&mut self, client: Element, node: Element) -> Result<(), String> {
        let to = self.steps.state.to("note", &[client, node], 0);
        self.steps.step("lapse", &[("c0", client), ("n0", node)], &[to])
    }

    fn agrees(&mut self, ask: Element, node: Element, stands: Option<i64>) -> Result<(), String> {
        let stands = stands.ok_or("a master agrees, and has noted nothing")?;
        let now = self.steps.state.value("now", &[]);
        self.steps.tick(now + 1)?;
        let state = &self.steps.state;
        let client = state.value("who", &[ask]);
        let changes = [
            state.to("agreed", &[ask], 1),
            state.to("ran", &[ask], now + 1),
            state.to("epoch", &[ask], state.value("boot", &[node])),
            state.to("note", &[client, node], 1),
            state.to("stands", &[client, node], stands),
        ];
        self.steps.step("agree", &[("a0", ask), ("d0", stands)], &changes)?;
        self.put_aside();
        Ok(())
    }

    fn is_taken_back(
        &mut self,
        client: Element,
        node: Element,
        stands: Option<i64>,
    ) -> Result<(), String> {
        let state = &self.steps.state;
        if !state.is("note", &[client, node]) {
            self.steps.stutters += 1;
            return Ok(());
        }
        let until = stands.unwrap_or_else(|| state.value("now", &[]));
        let to = state.to("stands", &[client, node], until);
        let parameters = [("c0", client), ("c1", client), ("n0", node), ("d0", until)];
        self.steps.step("take_back", &parameters, &[to])?;
        if stands.is_none() { self.lapses(client, node) } else { Ok(()) }
    }

    /// Compares what a master has noted with what it has by the page.
    fn compares(&self, now: i64, node: Element, master: &Master) -> Result<(), String> {
        for (name, client) in &self.names {
            let state = &self.steps.state;
            let known = state.is("note", &[*client, node]);
            let known = known.then(|| state.value("stands", &[*client, node]));
            let found = stands(master, now, name);
            if known != found {
                return Err(format!("the note of {name} stands until {found:?}, not {known:?}"));
            }
        }
        Ok(())
    }

    fn restarts(&mut self, now: i64, node: Element) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.steps.state;
        let mut changes = vec![state.to("boot", &[node], state.value("now", &[]))];
        changes
            .extend(self.noted_at(node).iter().map(|client| state.to("note", &[*client, node], 0)));
        self.steps.step("restart", &[("n0", node)], &changes)
    }

    /// Puts aside the questions whose notes are over, of which nothing is said any more.
    fn put_aside(&mut self) {
        let state = &mut self.steps.state;
        let now = state.value("now", &[]);
        for ask in state.live("Ask").to_vec() {
            let ends = state.value("ran", &[ask]) + state.value("note_life", &[ask]);
            if state.is("agreed", &[ask]) && ends <= now {
                state.set_live("Ask", ask, false);
            }
        }
    }
}

/// Adds the quorums of a kind of clients of which no master can be spared.
fn add_quorums(steps: &mut Steps, setup: &Setup, seat: usize) -> Vec<Element> {
    let members = setup.kind(seat).members;
    let set =
        |bits: u32| (0..setup.masters).filter(|node| bits >> node & 1 == 1).collect::<NodeSet>();
    let is_quorum = |bits: u32| members.is_quorum(set(bits));
    let spares = |bits: u32| {
        (0..setup.masters).any(|node| is_quorum(bits & !(1 << node)) && bits >> node & 1 == 1)
    };
    let smallest = (0..1_u32 << setup.masters).filter(|bits| is_quorum(*bits) && !spares(*bits));
    let add = |bits| {
        let quorum = steps.state.add("Quorum");
        steps.state.set("quorum", &[quorum, seat as Element], 1);
        set(bits).iter().for_each(|node| steps.state.set("member", &[quorum, node as Element], 1));
        quorum
    };
    smallest.map(add).collect()
}

/// Returns until when a master has noted a client, if it has.
fn stands(master: &Master, now: i64, name: &str) -> Option<i64> {
    let time = u64::try_from(now).unwrap_or_default();
    let begins = format!("by {name} ");
    let mut noted = master.noted(time).iter();
    let (_, value) = noted.find(|(field, _)| field.starts_with(begins.as_bytes()))?;
    let ends: u128 = text(value).parse().ok()?;
    // In the millisecond in which it ends it is over.
    let left = ends.checked_sub(master.clock.at(time).as_millis() + 1)?;
    Some(exact::ends(master.clock, time, Duration::from_millis(left as u64)))
}

impl World {
    /// Does something for the page of clients at odds, if this world is matched with it.
    fn match_notes(&mut self, then: impl FnOnce(&mut Agreement, &Self) -> Result<(), String>) {
        let Some(mut agreement) = self.matched.agreement.take() else { return };
        let result = then(&mut agreement, self);
        let result = result.map_err(|wrong| format!("{wrong}\n{}", agreement.steps.shown()));
        self.matched.agreement = Some(agreement);
        self.find_unmatched(result);
    }

    /// A master has executed it.
    pub(in super::super) fn match_noted(
        &mut self,
        line: Connection,
        noting: &Noting,
        answer: &[u8],
    ) {
        let now = self.agenda.now as i64;
        self.match_notes(|agreement, world| {
            agreement.executes(now, line, (noting, answer), &world.masters[line.1])
        });
    }

    /// A master has executed what may be a vote.
    pub(super) fn match_voted(&mut self, line: Connection, words: &Words, answer: &[u8]) {
        let now = self.agenda.now as i64;
        self.match_notes(|agreement, _| agreement.grants(now, line, words, answer));
    }

    /// A caller hears that a client has a token until then.
    pub(super) fn match_has(&mut self, place: usize, token: &str, deadline: Instant) {
        let now = self.agenda.now as i64;
        let until = exact::when(self.clients[place].clock, deadline);
        self.match_notes(|agreement, _| agreement.wins(now, place, token, until));
    }

    /// A master has come back empty.
    pub(super) fn match_forgotten(&mut self, node: usize) {
        let now = self.agenda.now as i64;
        self.match_notes(|agreement, _| agreement.restarts(now, node as Element));
    }
}
