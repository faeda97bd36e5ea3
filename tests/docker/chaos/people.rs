//! The client processes and their faults: they are stopped, killed, asked to end, and replaced.

use super::client::{self, Orders, Party};
use super::clock::now;
use super::clocks::Dials;
use super::history::What;
use super::journal::Journal;
use super::plan::Deed;
use crate::support::seed::Rng;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Time that a client may take to release everything.
const PATIENCE: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(10);

/// Returns the party of the client in a place, in a run at odds.
pub(crate) fn party(place: usize) -> Party {
    match place % 4 {
        2 => Party::OtherList,
        3 => Party::OtherTtl,
        _ => Party::Good,
    }
}

/// One client process. Killed on drop.
struct Person {
    name: String,
    process: Child,
    /// Stopped until this time.
    stopped: Option<Instant>,
    /// The time at which it was asked to end.
    asked_to_end: Option<Instant>,
}

/// All client processes: this many are running, others may be about to end. They must be used by
/// one thread that lives as long as they do, since they end when it ends.
pub(crate) struct People {
    orders: Orders,
    journal: Arc<Journal>,
    /// Their clocks, if those are their own.
    dials: Option<Arc<Dials>>,
    rng: Rng,
    places: Vec<Person>,
    leaving: Vec<Person>,
    born: u64,
}

impl People {
    /// Starts them. `orders` are the same for all, except for name and seed.
    pub(crate) fn hire(
        orders: Orders,
        count: usize,
        rng: Rng,
        journal: Arc<Journal>,
        dials: Option<Arc<Dials>>,
    ) -> Self {
        let (places, leaving) = (Vec::new(), Vec::new());
        let mut people = Self { orders, journal, dials, rng, places, leaving, born: 0 };
        for place in 0..count {
            let person = people.newcomer(place);
            people.places.push(person);
        }
        people
    }

    /// Performs the deeds at their times. Then, when `over` is set, makes all of them end.
    pub(crate) fn live(
        mut self,
        deeds: &[(Duration, usize, Deed)],
        began: Instant,
        over: &AtomicBool,
    ) {
        let mut deeds = deeds.iter().peekable();
        while !over.load(SeqCst) {
            while let Some((_, place, deed)) =
                deeds.next_if(|(at, ..)| began + *at <= Instant::now())
            {
                self.deal(*place, *deed);
            }
            self.tick();
            std::thread::sleep(TICK);
        }
        for place in 0..self.places.len() {
            self.go_on(place);
        }
        while let Some(person) = self.places.pop() {
            self.ask_to_end(person);
        }
        while !self.leaving.is_empty() {
            self.tick();
            std::thread::sleep(TICK);
        }
    }

    /// Returns the ids of those that are running.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.places.iter().map(|person| person.process.id()).collect()
    }

    fn newcomer(&mut self, place: usize) -> Person {
        self.born += 1;
        let party = if self.orders.at_odds { party(place) } else { Party::Good };
        let name = format!("{}{}", party.word(), self.born);
        // Odd and even alternate: each has half of the masters, if that is the safeguard that is
        // removed.
        let seed = (self.rng.next() & !1) | (self.born & 1);
        let program = std::env::current_exe().expect("the path of this program");
        let mut command = Command::new(program);
        let is_set = self.born.is_multiple_of(2);
        let dress = |dials: &Arc<Dials>| dials.dress(&mut command, &mut self.rng, is_set);
        let ppm = self.dials.as_ref().map(dress);
        let orders = Orders { name: name.clone(), party, seed, ppm, ..self.orders.clone() };
        self.journal.note(&name, What::Born);
        command.args(["--exact", client::TEST, "--ignored", "--nocapture"]);
        command.env(client::VARIABLE, orders.to_line()).stdin(Stdio::piped());
        let process = command.stdout(Stdio::null()).spawn().expect("a client process");
        Person { name, process, stopped: None, asked_to_end: None }
    }

    pub(crate) fn deal(&mut self, place: usize, deed: Deed) {
        let person = &mut self.places[place];
        match deed {
            // It has ended by itself, which is reported elsewhere.
            _ if person.process.try_wait().expect("its state").is_some() => {}
            Deed::Stop(lasts) => {
                self.journal.note(&person.name, What::Stopped);
                signal(person, Signal::STOP);
                person.stopped = Some(Instant::now() + lasts);
            }
            Deed::Kill => {
                self.journal.note(&person.name, What::Killed);
                person.kill();
                self.places[place] = self.newcomer(place);
            }
            Deed::End => {
                self.go_on(place);
                let newcomer = self.newcomer(place);
                let person = std::mem::replace(&mut self.places[place], newcomer);
                self.ask_to_end(person);
            }
        }
    }

    fn go_on(&mut self, place: usize) {
        let person = &mut self.places[place];
        if person.stopped.take().is_some() {
            signal(person, Signal::CONT);
            self.journal.note(&person.name, What::Continued);
        }
    }

    fn ask_to_end(&mut self, mut person: Person) {
        drop(person.process.stdin.take());
        person.asked_to_end = Some(Instant::now());
        self.leaving.push(person);
    }

    fn tick(&mut self) {
        for place in 0..self.places.len() {
            if self.places[place].stopped.is_some_and(|until| until <= Instant::now()) {
                self.go_on(place);
            }
            if let Some(status) = self.places[place].process.try_wait().expect("its state") {
                let name = self.places[place].name.clone();
                self.journal.note(&name, What::Odd(format!("ended by itself: {status}")));
                self.places[place] = self.newcomer(place);
            }
        }
        let journal = &self.journal;
        self.leaving.retain_mut(|person| {
            let ended = person.process.try_wait().expect("its state");
            if let Some(status) = ended.filter(|status| !status.success()) {
                journal.note(&person.name, What::Odd(format!("ended badly: {status}")));
            }
            let late = person.asked_to_end.is_some_and(|asked| asked.elapsed() > PATIENCE);
            if late && ended.is_none() {
                journal.note(&person.name, What::Odd(format!("not ended within {PATIENCE:?}")));
                journal.note_at(now(), &person.name, What::Killed);
                person.kill();
            }
            ended.is_none() && !late
        });
    }
}

impl Person {
    fn kill(&mut self) {
        let _already_gone = self.process.kill();
        let _already_reaped = self.process.wait();
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        self.kill();
    }
}

fn signal(person: &Person, signal: Signal) {
    let id = i32::try_from(person.process.id()).ok().and_then(Pid::from_raw);
    // It may have ended by itself just now, which is reported elsewhere.
    let _gone = kill_process(id.expect("a process id"), signal);
}
