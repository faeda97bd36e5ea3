//! Workloads that are measured from outside: clients in processes of their own, and masters that
//! fail. A contender may fail in them, and is then shown as failed.

use crate::contenders::{self, Apart};
use crate::field;
use crate::plan::Plan;
use crate::referee::Referee;
use crate::round::order;
use crate::sheet::Sheet;
use crate::support::server::Server;
use crate::worker::Failed;
use crate::workloads::contended::{self, Rivals};
use crate::workloads::gathered::{self, Gathered};
use crate::workloads::{faults, idle, kept_alive, outage, weight};
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trial {
    Stopped,
    Killed,
    Contended(Rivals),
    Outage,
    Weight,
    Gathered(Gathered),
    Idle,
    KeptAlive,
}

impl Trial {
    pub(crate) const ALL: [Self; 15] = [
        Self::Stopped,
        Self::Killed,
        Self::Outage,
        Self::Weight,
        Self::contended(1, 8, false),
        Self::contended(1, 32, false),
        Self::contended(4, 8, false),
        Self::contended(1, 8, true),
        Self::contended(1, 32, true),
        Self::contended(4, 8, true),
        Self::gathered(10),
        Self::gathered(100),
        Self::gathered(300),
        Self::Idle,
        Self::KeptAlive,
    ];

    const fn gathered(clients: usize) -> Self {
        Self::Gathered(Gathered { clients })
    }

    const fn contended(processes: usize, tasks: usize, thinking: bool) -> Self {
        Self::Contended(Rivals { processes, tasks, thinking })
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Stopped => "W3".to_owned(),
            Self::Killed => "W4".to_owned(),
            Self::Contended(rivals) => rivals.name(),
            Self::Outage => "W6".to_owned(),
            Self::Weight => "W8".to_owned(),
            Self::Gathered(crowd) => crowd.name(),
            Self::Idle => "W12".to_owned(),
            Self::KeptAlive => "W13".to_owned(),
        }
    }

    pub(crate) fn about(self) -> String {
        match self {
            Self::Stopped => faults::STOPPED.to_owned(),
            Self::Killed => faults::KILLED.to_owned(),
            Self::Contended(rivals) => rivals.about(),
            Self::Outage => outage::ABOUT.to_owned(),
            Self::Weight => weight::ABOUT.to_owned(),
            Self::Gathered(crowd) => crowd.about(),
            Self::Idle => idle::ABOUT.to_owned(),
            Self::KeptAlive => kept_alive::ABOUT.to_owned(),
        }
    }

    /// Returns whether it is played with `--quick` alone.
    pub(crate) fn is_quick(self) -> bool {
        self == Self::contended(1, 8, false) || self == Self::Outage
    }

    /// Returns whether it is played only on request: a full run has no time for it.
    pub(crate) fn is_long(self) -> bool {
        matches!(self, Self::Gathered(_) | Self::Idle | Self::KeptAlive)
    }

    /// Returns the mean time of a turn over all contenders: some hang when masters do, and some
    /// take seconds for what others do in a moment.
    pub(crate) fn expected(self, plan: &Plan) -> Duration {
        let more = Duration::from_millis;
        match self {
            Self::Stopped => 2 * plan.span + more(3000),
            Self::Killed => 3 * plan.span + more(1200),
            // The slowest have about this many sections a second.
            Self::Contended(rivals) => {
                plan.contended_span(rivals.processes * rivals.tasks, 160.0) + more(1200)
            }
            Self::Outage => more(1000),
            Self::Weight => more(7_500),
            // Each span has half of it as its warm-up; ours have a second one.
            Self::Gathered(crowd) => 9 * crowd.span(plan) / 4 + more(4000),
            Self::Idle => idle::TAKES,
            Self::KeptAlive => kept_alive::TAKES,
        }
    }

    pub(crate) const fn metrics(self) -> &'static [&'static str] {
        match self {
            Self::Stopped => &faults::WHILE_STOPPED,
            Self::Killed => &faults::WHILE_KILLED,
            Self::Contended(_) => &contended::METRICS,
            Self::Outage => &outage::METRICS,
            Self::Weight => &weight::METRICS,
            Self::Gathered(_) => &gathered::METRICS,
            Self::Idle => &idle::METRICS,
            Self::KeptAlive => &kept_alive::METRICS,
        }
    }

    /// Checks whether the trial suits this contender.
    pub(crate) fn suits(self, contender: &str) -> bool {
        match contender {
            // Others have no heartbeats, and extend by hand.
            _ if matches!(self, Self::Idle | Self::KeptAlive) => contender == contenders::OURS,
            contenders::FLOOR => matches!(self, Self::Contended(Rivals { processes: 1, .. })),
            contenders::KEPT_WARM => self == Self::contended(1, 8, false),
            name => !contenders::waits_otherwise(name) || matches!(self, Self::Gathered(_)),
        }
    }

    /// Plays a turn; returns one figure for each metric.
    fn turn(
        self,
        contender: &str,
        masters: &[Server],
        plan: &Plan,
        round: usize,
    ) -> Result<Vec<f64>, Failed> {
        match self {
            Self::Stopped => faults::stopped(contender, masters, plan, round),
            Self::Killed => faults::killed(contender, masters, plan, round),
            Self::Contended(rivals) => rivals.turn(contender, masters, plan),
            Self::Outage => outage::turn(contender, masters, round),
            Self::Weight => weight::turn(contender, masters),
            Self::Gathered(crowd) => crowd.turn(contender, masters, plan),
            Self::Idle => idle::turn(contender, masters, round),
            Self::KeptAlive => Ok(kept_alive::turn(masters)),
        }
    }

    /// Plays all rounds: every contender has its turn in each, in an order that changes.
    pub(crate) fn play(
        self,
        masters: &[Server],
        contenders: &[Box<dyn Apart>],
        plan: &Plan,
        referee: &mut Referee,
    ) -> Sheet {
        let names = contenders.iter().map(|contender| contender.name()).collect();
        let mut sheet = Sheet::new(self.name(), self.about(), self.metrics(), names);
        for round in 0..plan.trial_rounds {
            for place in order(contenders.len(), round) {
                let name = contenders[place].name();
                eprintln!("{} round {} of {}: {name}", self.name(), round + 1, plan.trial_rounds);
                let turn = || {
                    let figures = self.turn(name, masters, plan, round);
                    mend(masters);
                    figures
                };
                let (figures, disturbed) = match self {
                    // Bytes are the same however busy the machine is.
                    Self::Weight => (referee.pass(self.expected(plan), turn), false),
                    _ => referee.play(self.expected(plan), turn),
                };
                sheet.note(place, round, figures, disturbed);
            }
        }
        sheet
    }
}

/// Undoes whatever a turn has done to the masters and left on them.
fn mend(masters: &[Server]) {
    for server in masters.iter() {
        if server.is_stopped() {
            server.cont();
        }
        if !server.is_running() {
            server.restart();
        }
    }
    field::empty(masters);
}
