//! Workloads that are measured from outside: clients in processes of their own, and masters that
//! fail. A contender may fail in them, and is then shown as failed.

use crate::contenders::{self, Apart};
use crate::plan::Plan;
use crate::sheet::Sheet;
use crate::support::masters::Masters;
use crate::support::witness;
use crate::worker::Failed;
use crate::workloads::contended::{self, Rivals};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trial {
    Contended(Rivals),
}

impl Trial {
    pub(crate) const ALL: [Self; 6] = [
        Self::contended(1, 8, false),
        Self::contended(1, 32, false),
        Self::contended(4, 8, false),
        Self::contended(1, 8, true),
        Self::contended(1, 32, true),
        Self::contended(4, 8, true),
    ];

    const fn contended(processes: usize, tasks: usize, thinking: bool) -> Self {
        Self::Contended(Rivals { processes, tasks, thinking })
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Contended(rivals) => rivals.name(),
        }
    }

    pub(crate) fn about(self) -> String {
        match self {
            Self::Contended(rivals) => rivals.about(),
        }
    }

    /// Whether it is played where nothing but `--quick` is said.
    pub(crate) fn is_quick(self) -> bool {
        self == Self::contended(1, 8, false)
    }

    pub(crate) const fn metrics(self) -> &'static [&'static str] {
        match self {
            Self::Contended(_) => &contended::METRICS,
        }
    }

    /// One figure for each metric.
    fn turn(self, contender: &str, masters: &Masters, plan: &Plan) -> Result<Vec<f64>, Failed> {
        match self {
            Self::Contended(rivals) => rivals.turn(contender, masters, plan),
        }
    }

    /// All rounds: every contender has its turn in each, in an order that changes.
    pub(crate) fn play(
        self,
        masters: &Masters,
        contenders: &[Box<dyn Apart>],
        plan: &Plan,
    ) -> Sheet {
        let names = contenders.iter().map(|one| one.name());
        let mut sheet = Sheet::new(self, names);
        for round in 0..plan.trial_rounds {
            for turn in 0..contenders.len() {
                let place = (turn + round) % contenders.len();
                let name = contenders[place].name();
                eprintln!("{} round {} of {}: {name}", self.name(), round + 1, plan.trial_rounds);
                let figures = self.turn(name, masters, plan);
                mend(masters);
                sheet.note(place, round, figures);
            }
        }
        sheet
    }
}

/// Whatever a turn has done to the masters, and left on them.
fn mend(masters: &Masters) {
    for server in masters.iter() {
        if server.is_stopped() {
            server.cont();
        }
        if !server.is_running() {
            server.restart();
        }
    }
    contenders::one_thread().block_on(async {
        for server in masters.iter() {
            witness::ask::<()>(server, &redis::cmd("FLUSHALL")).await.expect("an empty master");
        }
    });
}
