//! The world: clients, masters, the lines between them, and the one loop in which everything
//! happens.

use super::agenda::{Agenda, Happening, LineId};
use super::client::{Client, with_names};
use super::clock::{Time, nanos, shown};
use super::faults::{Cut, Slowness};
use super::history::History;
use super::invariants::{Invariants, Verdict};
use super::judge::FENCES_STAY;
use super::knowledge::{Grounds, Sent};
use super::line::Line;
use super::master::Master;
use super::matched::Matched;
use super::matched::fences::Clocks;
use super::plan::Act;
use super::seed::Rng;
use super::setup::Setup;
use quorumlock_core::quorum::NodeSet;
use quorumlock_embedded::ClientId;
use std::collections::{BTreeMap, BTreeSet};

/// The most happenings in a world: if there are more, a machine never sleeps.
const MOST_HAPPENINGS: u64 = 3_000_000;

pub(super) struct World {
    pub(super) setup: Setup,
    pub(super) agenda: Agenda,
    pub(super) clients: Vec<Client>,
    /// The client that has each seat at present.
    pub(super) seats: Vec<usize>,
    /// Seats that no client takes any more.
    pub(super) empty: NodeSet,
    pub(super) masters: Vec<Master>,
    pub(super) lines: Vec<Line>,
    /// The line that a master knows by an id.
    pub(super) ends: BTreeMap<(usize, ClientId), LineId>,
    pub(super) cuts: Vec<Cut>,
    pub(super) slowness: Vec<Slowness>,
    pub(super) faults: u64,
    /// The number of masters' denials that have not ended.
    pub(super) denials: usize,
    /// The masters that have denied commands for a while.
    pub(super) have_denied: NodeSet,
    /// When a fault last began or ended, or something else that a queue gets over in time.
    pub(super) troubled_at: Option<Time>,
    /// When the last fault ends.
    pub(super) calm_from: Time,
    pub(super) is_calm: bool,
    pub(super) invariants: Invariants,
    /// Values that are not deleted: they were left or handed on, or stay for a lock-delay.
    pub(super) kept: BTreeSet<String>,
    /// The client that has adopted a token of another.
    pub(super) adopters: BTreeMap<String, usize>,
    /// Nothing is handed over any more.
    pub(super) every_client_goes: bool,
    /// The number of locks adopted.
    pub(super) adoptions: u64,
    /// The time since which each kind of client has had a note at each master; only where kinds
    /// differ.
    pub(super) noted: Vec<Vec<Option<Time>>>,
    /// The commands by which each lock was acquired and extended.
    pub(super) sent: BTreeMap<String, Vec<Sent>>,
    /// The grounds of the holds.
    pub(super) grounds: Grounds,
    pub(super) history: History,
    pub(super) rng: Rng,
    pub(super) happenings: u64,
    /// The number of locks won.
    pub(super) wins: u64,
    /// When each resource was last won.
    pub(super) won_at: BTreeMap<&'static str, Time>,
    /// The same by one that keeps readers out.
    pub(super) closed_at: BTreeMap<&'static str, Time>,
    /// Until when a hint may keep readers out of each resource.
    pub(super) hinted_until: BTreeMap<&'static str, Time>,
    /// Of each writer that waits among readers alone, since when, and which readers were in then and are still.
    pub(super) among: BTreeMap<(usize, u64), (Time, BTreeSet<String>)>,
    /// When each resource was last deleted by a command of a client that announces it.
    pub(super) released_at: BTreeMap<&'static str, Time>,
    /// When all that must happen is looked at next.
    pub(super) looks_at: Time,
    /// The masters that each client reaches, or has just lost, by connections that were well.
    pub(super) linked: BTreeSet<(usize, usize)>,
    /// The clients that have opened a connection to a master since the last look.
    pub(super) opened: BTreeSet<(usize, usize)>,
    /// The connections on which something has come since the last look.
    pub(super) heard: BTreeSet<LineId>,
    /// Until when each token that was given back is kept warm.
    pub(super) warm_until: BTreeMap<String, Time>,
    /// A caller has asked for a fair acquire.
    pub(super) has_fair: bool,
    /// The number of locks won by fair acquires whose order was judged.
    pub(super) fair: u64,
    /// The number of writers that have become readers.
    pub(super) downgrades: u64,
    /// How often a lock that is kept warm has gone to another guard, and a guard was asked to give way.
    pub(super) passed_on: u64,
    /// How many of these were fenced.
    pub(super) passed_on_fenced: u64,
    /// How often a caller has taken one without the machine.
    pub(super) taken: u64,
    pub(super) asks: u64,
    /// The number of acquires that failed because others have different settings.
    pub(super) stopped: u64,
    /// A sum of all bytes that clients send, for `scripts/same-bytes`.
    pub(super) sum: u64,
    /// The steps that are matched with the proof.
    pub(super) matched: Matched,
    /// The first violation of an invariant.
    pub(super) violation: Option<String>,
    log: Option<Vec<String>>,
}

impl World {
    /// Creates a world; a `loud` one prints what happens.
    pub(super) fn new(setup: Setup, mut rng: Rng, plan: &[(Time, Act)], loud: bool) -> Self {
        let masters = (0..setup.masters).map(|node| {
            let (seed, clock) = (rng.next(), setup.wall_clock(&mut rng));
            let mut master = Master::new(seed, clock, setup.young, setup.flaw);
            if setup.denies.contains(node) {
                master.deny(setup.denied);
            }
            if setup.trusts() {
                master.set_durable(0);
            }
            master
        });
        let masters: Vec<Master> = masters.collect();
        let clocks = Clocks {
            of_masters: masters.iter().map(|master| master.clock).collect(),
            are_set: setup.steps_back,
            window: setup.kind(0).window,
            kept: setup.kind(0).quarantine + FENCES_STAY,
            lists: setup.lists(),
        };
        let mut world = Self {
            history: History::new(setup.masters),
            agenda: Agenda::default(),
            clients: Vec::new(),
            seats: vec![0; setup.seats()],
            empty: NodeSet::EMPTY,
            masters,
            lines: Vec::new(),
            ends: BTreeMap::new(),
            cuts: Vec::new(),
            slowness: Vec::new(),
            faults: 0,
            denials: 0,
            have_denied: NodeSet::EMPTY,
            troubled_at: None,
            calm_from: plan.last().map_or(0, |(at, _)| *at).max(nanos(setup.length)) + 1,
            is_calm: false,
            invariants: Invariants::default(),
            kept: BTreeSet::new(),
            adopters: BTreeMap::new(),
            every_client_goes: false,
            adoptions: 0,
            noted: vec![vec![None; setup.seats()]; setup.masters],
            sent: BTreeMap::new(),
            grounds: Grounds::default(),
            rng,
            happenings: 0,
            wins: 0,
            won_at: BTreeMap::new(),
            closed_at: BTreeMap::new(),
            hinted_until: BTreeMap::new(),
            among: BTreeMap::new(),
            released_at: BTreeMap::new(),
            looks_at: 0,
            linked: BTreeSet::new(),
            opened: BTreeSet::new(),
            heard: BTreeSet::new(),
            warm_until: BTreeMap::new(),
            has_fair: false,
            fair: 0,
            downgrades: 0,
            passed_on: 0,
            taken: 0,
            passed_on_fenced: 0,
            asks: 0,
            stopped: 0,
            sum: 0xcbf2_9ce4_8422_2325,
            matched: Matched::new(&setup, &clocks),
            violation: None,
            log: loud.then(Vec::new),
            setup,
        };
        for seat in 0..world.seats.len() {
            world.seat(seat);
        }
        for (at, act) in plan {
            world.agenda.at(*at, Happening::Act(act.clone()));
        }
        world
    }

    /// Seats a client: a process starts.
    pub(super) fn seat(&mut self, seat: usize) {
        if self.empty.contains(seat) {
            return;
        }
        let (place, now) = (self.clients.len(), self.agenda.now);
        let client = Client::new(place, seat, &self.setup, &mut self.rng, now);
        self.clients.push(client);
        self.seats[seat] = place;
        self.turn(place);
    }

    /// Lets everything happen until `end`, or until an invariant is violated.
    pub(super) fn pass(&mut self, end: Time) {
        while self.violation.is_none()
            && let Some(happening) = self.next(end)
        {
            self.happens(happening);
            let verdict = self.judge();
            self.find(verdict);
            self.happenings += 1;
            if self.happenings > MOST_HAPPENINGS {
                self.find(Err("it does not come to rest".into()));
            }
        }
        if self.violation.is_none() {
            self.agenda.now = end;
        }
    }

    /// Returns the next happening until `end`, after a look at the silence before it: what the latest look has seen in
    /// the midst of a turn may be over (seed 0x1e631bd5f634f222).
    fn next(&mut self, end: Time) -> Option<Happening> {
        let next_at = self.agenda.next_at().map_or(end, |at| at.min(end));
        if self.agenda.now < self.looks_at && self.looks_at < next_at {
            self.agenda.now = self.looks_at;
            let verdict = self.judge_liveness();
            self.find(verdict);
        }
        if self.violation.is_some() { None } else { self.agenda.next(end) }
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Act(act) => self.act(act),
            Happening::Arrives(line, direction) => self.arrives(line, direction),
            Happening::Dial { client, node, epoch, since } => {
                self.dial(client, node, epoch, since);
            }
            Happening::Breaks(line) => self.breaks(line),
            Happening::Wakes { client, at } => self.wakes(client, at),
            Happening::Writes(client) => self.turn(client),
            Happening::Heard { client, hold } => self.hear(client, hold),
            Happening::Done { client, hold } => self.is_done(client, hold),
            Happening::Delivered { seat, parcel } => self.adopt(seat, parcel),
            Happening::Ends(end) => self.end(end),
        }
    }

    pub(super) fn find(&mut self, verdict: Verdict) {
        if self.setup.only_matches {
            return;
        }
        self.find_any(verdict);
    }

    pub(super) fn find_any(&mut self, verdict: Verdict) {
        if let (None, Err(violation)) = (&self.violation, verdict) {
            let violation = with_names(&violation);
            self.say(|| format!("!! {violation}"));
            self.violation = Some(violation);
        }
    }

    pub(super) fn say(&mut self, words: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.push(format!("{}  {}", shown(self.agenda.now), with_names(&words())));
        }
    }

    pub(super) const fn is_loud(&self) -> bool {
        self.log.is_some()
    }

    pub(super) fn log(&self) -> &[String] {
        self.log.as_deref().unwrap_or_default()
    }
}
