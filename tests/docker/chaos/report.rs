//! The figures of a run.

use super::check::availability::{self, Availability};
use super::check::crowd::{self, Crowd};
use super::check::hand_over::{self, HandOvers};
use super::check::kept::{self, Bursts};
use super::check::turns::{self, Turns};
use super::client::Party;
use super::clock::between;
use super::history::{Claim, Condition, Entry, What};
use super::story::{Attempt, Story, process};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) lasted: Duration,
    pub(crate) asked: usize,
    pub(crate) acquired: usize,
    pub(crate) fenced: usize,
    pub(crate) shared: usize,
    /// Waited for in turn.
    pub(crate) fair: usize,
    pub(crate) extended: usize,
    pub(crate) failed: BTreeMap<&'static str, usize>,
    /// Number of faults, by kind.
    pub(crate) faults: BTreeMap<&'static str, usize>,
    /// How often the clock of a master was set back, and forward.
    pub(crate) set: [usize; 2],
    pub(crate) processes: usize,
    pub(crate) stopped: usize,
    pub(crate) killed: usize,
    pub(crate) ended: usize,
    pub(crate) owed: usize,
    pub(crate) accepted: usize,
    pub(crate) refused: usize,
    /// Writes accepted from a holder after its deadline, before any other holder had written.
    pub(crate) late: usize,
    pub(crate) availability: Availability,
    pub(crate) hand_overs: HandOvers,
    pub(crate) turns: Turns,
    pub(crate) crowd: Crowd,
    pub(crate) bursts: Bursts,
    /// Locks won by clients with correct settings, with another list, and with another ttl.
    pub(crate) by_party: [usize; 3],
}

impl Figures {
    pub(crate) fn of(story: &Story) -> Self {
        let held = |attempt: &&Attempt| attempt.hold.is_some();
        let acquired: Vec<&Attempt> = story.attempts.iter().filter(held).collect();
        let count =
            |is: fn(Claim) -> bool| acquired.iter().filter(|attempt| is(attempt.claim)).count();
        let mut failed: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, why) in story.attempts.iter().filter_map(|attempt| attempt.failed) {
            *failed.entry(why.word()).or_default() += 1;
        }
        let mut faults: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, condition) in story.masters.values().flatten() {
            if Condition::FAULTS.contains(condition) {
                *faults.entry(condition.word()).or_default() += 1;
            }
        }
        let key = |attempt: &Attempt| (process(&attempt.task).to_owned(), attempt.id);
        let over: BTreeMap<_, _> = acquired
            .iter()
            .filter_map(|attempt| Some((key(attempt), attempt.hold?.end())))
            .collect();
        let is_late = |write: &&super::story::Write| {
            let end = over.get(&(process(&write.by).to_owned(), write.id));
            write.accepted && end.is_some_and(|end| write.at >= *end)
        };
        let lives = story.lives.values();
        Self {
            lasted: between(story.began, story.ended),
            asked: story.attempts.len(),
            acquired: acquired.len(),
            fenced: count(Claim::is_fenced),
            shared: count(|claim| claim == Claim::Shared),
            fair: count(Claim::is_fair),
            extended: acquired
                .iter()
                .filter(|attempt| attempt.hold.is_some_and(|hold| hold.extended))
                .count(),
            failed,
            faults,
            set: story.set,
            processes: story.lives.len(),
            stopped: lives.clone().map(|life| life.stopped.len()).sum(),
            killed: lives.clone().filter(|life| life.killed.is_some()).count(),
            ended: lives.clone().filter(|life| life.gone.is_some()).count(),
            owed: lives.filter(|life| life.gone.is_some_and(|(_, owed)| owed > 0)).count(),
            accepted: story.writes.iter().filter(|write| write.accepted).count(),
            refused: story.writes.iter().filter(|write| !write.accepted).count(),
            late: story.writes.iter().filter(is_late).count(),
            availability: availability::figures(story),
            hand_overs: hand_over::figures(story),
            turns: turns::figures(story),
            crowd: crowd::figures(story),
            bursts: kept::figures(story),
            by_party: Party::ALL.map(|party| {
                let theirs = |attempt: &&&Attempt| Party::of(process(&attempt.task)) == Some(party);
                acquired.iter().filter(theirs).count()
            }),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            lasted, asked, acquired, fenced, shared, fair, extended, failed, faults, ..
        } = self;
        let Availability { answered, no_quorum, outlasted, uncured } = self.availability;
        let HandOvers { well, in_turn, reused, anew, elsewhere, minority, lapsed } =
            &self.hand_overs;
        writeln!(
            f,
            "  {lasted:.0?}: {asked} acquires, {acquired} won ({fenced} fenced, {shared} shared, {fair} in turn, {extended} extended), others {failed:?}"
        )?;
        writeln!(f, "  masters: {} faults {faults:?}", faults.values().sum::<usize>())?;
        writeln!(
            f,
            "  clients: {} processes, {} stops, {} killed, {} ended by themselves ({} owing something)",
            self.processes, self.stopped, self.killed, self.ended, self.owed,
        )?;
        if self.set != [0; 2] {
            let [back, forward] = self.set;
            writeln!(f, "  clocks: set {forward} times forward, {back} back")?;
        }
        let [good, list, ttl] = self.by_party;
        if list + ttl > 0 {
            writeln!(f, "  at odds: {good} won by five masters, {list} by three, {ttl} by a ttl")?;
        }
        writeln!(
            f,
            "  store: {} writes accepted ({} late, before any other holder's), {} refused as late",
            self.accepted, self.late, self.refused,
        )?;
        writeln!(
            f,
            "  with a minority away at most: {answered} answers, {no_quorum} without a quorum; a \
             retry for one ttl did not cure {uncured}, nor {outlasted} while others had the lock",
        )?;
        writeln!(f, "  hand-over, all masters well:  {well}")?;
        writeln!(f, "  hand-over, in turn:           {in_turn}")?;
        writeln!(f, "  hand-over, warm, reused:      {reused}")?;
        writeln!(f, "  hand-over, warm, won anew:    {anew}")?;
        writeln!(f, "  hand-over, warm, elsewhere:   {elsewhere}")?;
        let Turns { served, passed } = self.turns;
        writeln!(
            f,
            "  in turn: {served} served, {passed} of them before one that had come earlier"
        )?;
        let Crowd { won, in_vain, waits, most_before } = &self.crowd;
        writeln!(
            f,
            "  crowd: {won} served, {in_vain} gave up; with a minority away at most {waits}, and no more than \
             {most_before} went before one"
        )?;
        let Bursts { begun, whole, asked, served, kept, lost } = self.bursts;
        writeln!(
            f,
            "  bursts: {whole} of {begun}, {served} of {asked} acquires served; {kept} locks kept alive \
             meanwhile, {lost} of them lost to faults"
        )?;
        writeln!(f, "  hand-over, a minority away:   {minority}")?;
        write!(f, "  hand-over, after a deadline:  {lapsed}")
    }
}

/// Progress of a run.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    acquired: usize,
    faults: usize,
    clients: usize,
    masters: BTreeMap<String, Condition>,
    stopped: BTreeSet<String>,
}

impl Progress {
    pub(crate) fn note(&mut self, entries: &[Entry]) {
        for Entry { who, what, .. } in entries {
            match what {
                What::Enters { .. } => self.acquired += 1,
                What::Is(condition) => {
                    self.faults += usize::from(Condition::FAULTS.contains(condition));
                    self.masters.insert(who.clone(), *condition);
                }
                What::Killed => self.clients += 1,
                What::Stopped => {
                    self.clients += 1;
                    self.stopped.insert(who.clone());
                }
                What::Continued => drop(self.stopped.remove(who)),
                _ => {}
            }
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let up = self.masters.values().filter(|condition| **condition == Condition::Up).count();
        write!(
            f,
            "  {} acquired, {} faults at masters and {} at clients, {up} of {} masters well",
            self.acquired,
            self.faults,
            self.clients,
            self.masters.len(),
        )
    }
}
