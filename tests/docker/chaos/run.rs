//! One run: containers, proxies, clients, faults, and what its history shows.

use super::check::{Kind, Violation, violations};
use super::client::{MAX_TTL, Orders, Party, Spoiled, WINDOW};
use super::clocks::{Dials, Stage};
use super::history::{RUN, What};
use super::journal::{Journal, Reader};
use super::people::People;
use super::picture::timeline;
use super::plan::{Clocks, Plan, Setting};
use super::report::{Figures, Progress};
use super::story::Story;
use super::trouble::Master;
use super::usage::Usage;
use super::{store, watch};
use crate::support::docker::{Containers, Profile, tell};
use crate::support::proxy::{Proxy, in_front_of};
use crate::support::seed::Seed;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Title of the picture. The seed is below it.
const DRAWN: &str = "Processes compete for locks while masters and processes fail";

/// Time between progress messages.
const TELLS_EVERY: Duration = Duration::from_secs(10);

const MASTERS: usize = 5;
const CLIENTS: usize = 4;
const TASKS: usize = 3;
/// Clients of each process that are part of the crowd.
const CROWD: usize = 5;

/// Time for which a restarted master does not vote: `max_ttl` and its drift, a second by which its
/// uptime rounds up, and the time to connect to it.
const QUARANTINE: Duration = Duration::from_millis(4300);
/// Time until a master is usable by all clients again after a fault.
const RECOVERY: Duration = Duration::from_millis(2500);
/// Time for which a client's settings remain at a master after it was last heard from: the
/// quarantine, 15 s, and the drift of both.
const STANDS: Duration = Duration::from_millis(19_500);
/// Time after the last SET by which no key of any kind is left.
const EXPIRED: Duration = Duration::from_millis(5000);

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) seed: Seed,
    /// From the first fault to the last one.
    pub(crate) lasts: Duration,
    pub(crate) spoiled: Spoiled,
    /// Some clients use another list, and some another longest ttl.
    pub(crate) at_odds: bool,
    pub(crate) clocks: Clocks,
    profile: Profile,
}

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) title: String,
    pub(crate) figures: Figures,
    /// Memory and open files.
    pub(crate) usage: String,
    /// What has grown that should not.
    pub(crate) growth: Option<String>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) history: PathBuf,
    pub(crate) picture: PathBuf,
    /// The command that repeats the same choices.
    pub(crate) again: String,
}

impl Run {
    pub(crate) fn new(
        seed: Seed,
        lasts: Duration,
        spoiled: Spoiled,
        at_odds: bool,
        clocks: Clocks,
    ) -> Self {
        let remember = match spoiled {
            Spoiled::Nothing | Spoiled::Agreement => seed.rng().chance(50),
            // Durable masters vote at once, which is sooner.
            Spoiled::Rollback | Spoiled::Quorum => true,
            // Where nothing is forgotten there is nothing to guard.
            Spoiled::RestartGuard => false,
        };
        let profile = if remember { Profile::Durable } else { Profile::Volatile };
        Self { seed, lasts, spoiled, at_odds, clocks, profile }
    }

    /// Returns `None` and prints a line that says so if no Docker daemon answers.
    pub(crate) async fn play(&self) -> Option<Outcome> {
        assert!(QUARANTINE > MAX_TTL.max(WINDOW * 2) + Duration::from_secs(1));
        tell(&format!("{self}, {:?}", self.lasts));
        let mut rng = self.seed.rng();
        let quarantine = self.quarantine();
        // Not before all masters vote.
        let from = quarantine.unwrap_or(Duration::from_secs(1));
        let setting = Setting {
            from,
            until: from + self.lasts,
            masters: MASTERS,
            clients: CLIENTS,
            recovery: RECOVERY,
            quarantine: quarantine.unwrap_or_default(),
            ttl: MAX_TTL,
            at_odds: self.at_odds.then_some(STANDS),
            clocks: self.clocks,
        };
        let plan = Plan::new(rng.fork(), &setting);
        let dials = match self.clocks {
            Clocks::Shared => None,
            _ => Some(Arc::new(Dials::new(&plan.times)?)),
        };
        let folder = dials.as_ref().map(|dials| dials.folder());
        let containers = Arc::new(Containers::start_with(self.profile, folder).await?);
        if let Some(dials) = &dials {
            dials.assert_shown(&containers).await;
        }
        let proxies = in_front_of((0..containers.len()).map(|node| containers.address(node)));
        let history = self.history();
        let journal = Arc::new(Journal::open(&history));
        let store = store::serve(journal.clone()).await;
        if self.at_odds {
            journal.note(RUN, What::AtOdds);
        }

        let orders = Orders {
            name: String::new(),
            party: Party::Good,
            at_odds: self.at_odds,
            seed: 0,
            tasks: TASKS,
            crowd: CROWD,
            nodes: proxies.iter().map(Proxy::addr).collect(),
            store,
            durable: self.profile == Profile::Durable,
            spoiled: self.spoiled,
            ppm: None,
            history: history.clone(),
        };

        let (began, over) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let usage = Arc::new(Usage::default());
        let people = std::thread::spawn({
            let (journal, over, rng) = (journal.clone(), over.clone(), rng.fork());
            // One more, which no fault strikes. At odds it would keep all others away.
            let spared = usize::from(!self.at_odds);
            let (usage, dials) = (usage.clone(), dials.clone());
            move || {
                let people = People::hire(orders, CLIENTS + spared, rng, journal, dials);
                let ids = people.ids();
                usage.client.store(ids.get(CLIENTS).copied().unwrap_or_default(), SeqCst);
                people.live(&plan.deeds, began, &over);
            }
        });
        let using = tokio::spawn({
            let (containers, usage) = (containers.clone(), usage.clone());
            async move { usage.watch(&containers).await }
        });
        let watching = tokio::spawn({
            let (containers, journal) = (containers.clone(), journal.clone());
            async move { watch::watch(&containers, &journal).await }
        });
        let noting = std::thread::spawn({
            let (journal, over) = (journal.clone(), over.clone());
            move || journal.note_freezes(RUN, || over.load(SeqCst))
        });
        let telling = tokio::spawn(self.tell_progress(history.clone(), began));
        let trouble = tokio::task::spawn_blocking({
            let (containers, journal) = (containers.clone(), journal.clone());
            let (dials, runtime) = (dials.clone(), Handle::current());
            move || {
                let (containers, proxies, journal) = (&*containers, &proxies[..], &*journal);
                let stage = Stage { containers, proxies, journal, runtime };
                let (dials, gone) = (dials.as_deref(), AtomicBool::new(false));
                std::thread::scope(|scope| {
                    scope.spawn(|| dials.inspect(|dials| dials.keep(&stage, began, &gone)));
                    trouble(&stage, dials, quarantine, &plan.blows, began);
                    std::thread::sleep(RECOVERY);
                    // All clients end while the proxies to the masters are still there.
                    over.store(true, SeqCst);
                    let ended = people.join();
                    gone.store(true, SeqCst);
                    ended
                })
            }
        });
        trouble.await.expect("the masters are struck").expect("the clients are looked after");
        if let Some(dials) = &dials {
            tell(&format!("  clocks: {} steps forward were put off", dials.skipped.load(SeqCst)));
        }
        noting.join().expect("a thread that watches the clock");
        watch::look_for_locks(&containers, &journal).await;
        watching.abort();
        using.abort();
        telling.abort();
        // Where a token of a quorum that was set is above the time of the others, these keep its fence for as long.
        let all_expires = matches!(self.clocks, Clocks::Shared | Clocks::Apart);
        if self.spoiled == Spoiled::Nothing && all_expires {
            dials.iter().for_each(|dials| dials.outlast());
            tokio::time::sleep(EXPIRED).await;
            if let Some(dials) = &dials {
                dials.assert_shown(&containers).await;
            }
            journal.note(RUN, What::Empty);
            watch::look_for_anything(&containers, &journal).await;
        }

        let (title, again) = (self.to_string(), self.again());
        usage.write(&history.with_extension("usage.tsv"));
        let outcome = Outcome::of(history, title, again);
        Some(Outcome { usage: usage.to_string(), growth: usage.growth(), ..outcome })
    }

    fn again(&self) -> String {
        let (seed, seconds, spoiled) = (self.seed, self.lasts.as_secs(), self.spoiled.word());
        let mut again = format!("make chaos SEED={seed} SECONDS={seconds}");
        if self.at_odds {
            again.push_str(" ODDS=1");
        }
        if self.clocks != Clocks::Shared {
            again.push_str(&format!(" CLOCKS={}", self.clocks.word()));
        }
        if self.spoiled != Spoiled::Nothing {
            again.push_str(&format!(" WITHOUT={spoiled}"));
        }
        again
    }

    /// Returns how long a master that has started does not vote, if the clients enforce that.
    fn quarantine(&self) -> Option<Duration> {
        let waits = self.profile == Profile::Volatile && self.spoiled != Spoiled::RestartGuard;
        waits.then_some(QUARANTINE)
    }

    /// Creates an empty file for it, in the folder where cargo puts everything else.
    fn history(&self) -> PathBuf {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
        let folder = target.join("chaos");
        std::fs::create_dir_all(&folder).expect("a folder for histories");
        let spoiled = match self.spoiled {
            Spoiled::Nothing => String::new(),
            other => format!("-without-{}", other.word()),
        };
        let odds = if self.at_odds { "-odds" } else { "" };
        let clocks = match self.clocks {
            Clocks::Shared => String::new(),
            Clocks::Apart => "-clocks".to_owned(),
            // As of a run without a safeguard: violations are what it is for.
            other => format!("-without-clocks-{}", other.word()),
        };
        let path = folder.join(format!("{}{odds}{clocks}{spoiled}.edn", self.seed));
        std::fs::write(&path, "").expect("a history that can be written");
        path
    }

    fn tell_progress(
        &self,
        history: PathBuf,
        began: Instant,
    ) -> impl Future<Output = ()> + Send + 'static {
        let whole = self.quarantine().unwrap_or_default() + self.lasts;
        async move {
            let (mut reader, mut progress) = (Reader::open(&history), Progress::default());
            loop {
                tokio::time::sleep(TELLS_EVERY).await;
                progress.note(&reader.read());
                tell(&format!("{progress} after {:.0?} of {whole:.0?}", began.elapsed()));
            }
        }
    }
}

impl Outcome {
    /// Judges a history, and draws it next to the history's file.
    pub(crate) fn of(history: PathBuf, title: String, again: String) -> Self {
        let story = Story::of(Reader::open(&history).read());
        let (figures, violations) = (Figures::of(&story), violations(&story));
        let summary = figures.to_string();
        let footer = [title.clone(), again.clone()].into_iter();
        let footer = footer.chain(summary.lines().map(str::to_owned)).collect();
        let drawn = timeline(&story, &violations, DRAWN.to_owned(), footer);
        let picture = history.with_extension("html");
        std::fs::write(&picture, drawn.to_html()).expect("a picture that can be written");
        // The same for a page that takes only images.
        std::fs::write(picture.with_extension("svg"), drawn.to_svg()).expect("a picture, too");
        let (usage, growth) = (String::new(), None);
        Self { title, figures, usage, growth, violations, history, picture, again }
    }

    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.violations.iter().filter(|violation| violation.kind == kind).count()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let profile = format!("{:?}", self.profile).to_lowercase();
        write!(f, "chaos on five {profile} masters, seed {}", self.seed)?;
        if self.at_odds {
            f.write_str(", clients at odds")?;
        }
        match self.clocks {
            Clocks::Shared => {}
            Clocks::Apart => f.write_str(", clocks apart")?,
            other => write!(f, ", clocks {}", other.word())?,
        }
        match self.spoiled {
            Spoiled::Nothing => Ok(()),
            spoiled => write!(f, ", without {}", spoiled.word()),
        }
    }
}

/// Inflicts and heals the faults of all masters, each at its time.
fn trouble(
    stage: &Stage<'_>,
    dials: Option<&Dials>,
    quarantine: Option<Duration>,
    blows: &[Vec<super::plan::Blow>],
    began: Instant,
) {
    let Stage { containers, proxies, journal, .. } = *stage;
    std::thread::scope(|scope| {
        for (node, (blows, proxy)) in blows.iter().zip(proxies).enumerate() {
            let master = Master { node, containers, proxy, journal, quarantine, dials };
            scope.spawn(move || {
                // They have all just been started.
                master.warm_up();
                master.note_well();
                master.befall(blows, began);
            });
        }
    });
}
