//! The last scene: a holder is paused for longer than its ttl, and writes late.

use crate::account::Account;
use crate::floor::Floor;
use crate::masters::Masters;
use crate::news::Tone;
use crate::workers::RESOURCE;
use crate::{Failure, connect};
use quorumlock::Redlock;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use tokio::runtime;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// How long the scene lasts, about.
pub(crate) const LASTS: u64 = 4;

const AT_FIRST: u64 = 100;
const WORKER_1_TAKES: u64 = 10;
const WORKER_2_TAKES: u64 = 50;

/// Time to read a line of news; less than a ttl.
const BEAT: Duration = Duration::from_millis(800);

/// Plays the scene: worker 1 is paused, and worker 2 acquires with `successor`.
pub(crate) async fn play(
    floor: &Arc<Floor>,
    masters: &Arc<Masters>,
    successor: &Redlock,
    checks: bool,
) -> Result<(), Failure> {
    let account = Arc::new(Account::open(AT_FIRST, checks));
    let (pauses, paused) = oneshot::channel();
    let (wake, woken) = mpsc::channel();
    let holder = Holder { floor: floor.clone(), account: account.clone(), pauses, woken };
    let end = holder.start(masters.clone())?;
    if paused.await.is_err() {
        return end.await?;
    }
    succeed(floor, successor, &account).await?;
    sleep(BEAT).await;
    let _holder_gone = wake.send(());
    end.await??;

    let balance = account.balance();
    let (tone, what) = if balance == AT_FIRST - WORKER_2_TAKES {
        (Tone::Good, format!("the account keeps the {balance} that worker 2 wrote"))
    } else {
        let taken = WORKER_1_TAKES + WORKER_2_TAKES;
        let what = format!(
            "worker 2's write is LOST: the workers took {taken} out of {AT_FIRST}, and the \
             account has {balance}"
        );
        (Tone::Bad, what)
    };
    floor.news.tell(tone, what);
    Ok(())
}

/// Worker 1.
struct Holder {
    floor: Arc<Floor>,
    account: Arc<Account>,
    pauses: oneshot::Sender<()>,
    woken: mpsc::Receiver<()>,
}

impl Holder {
    /// Runs the holder on a thread and a runtime of its own. While that thread is blocked, nothing
    /// of the holder runs, as in a process that is paused.
    fn start(
        self,
        masters: Arc<Masters>,
    ) -> Result<oneshot::Receiver<Result<(), Failure>>, Failure> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (ends, end) = oneshot::channel();
        thread::Builder::new().spawn(move || {
            let _scene_gone = ends.send(runtime.block_on(self.work(&masters)));
        })?;
        Ok(end)
    }

    async fn work(self, masters: &Masters) -> Result<(), Failure> {
        let Self { floor, account, pauses, woken } = self;
        let redlock = connect(masters).await?;
        let guard = redlock.acquire(RESOURCE).fenced().await?;
        let token = guard.fencing_token();
        floor.present("worker 1", guard.lease());
        let balance = account.read(token)?;
        let what = format!(
            "worker 1 has the lock, with fencing token {token}, and reads {balance} from an account"
        );
        floor.news.tell(Tone::Calm, what);
        sleep(BEAT).await;

        let rest = balance.saturating_sub(WORKER_1_TAKES);
        let left = guard.check()?.as_secs_f64();
        floor.present("1 is paused", guard.lease());
        let what = format!(
            "worker 1 has the lock for {left:.1} s more, but is PAUSED just before it writes {rest}; \
             worker 2 waits"
        );
        floor.news.tell(Tone::Trouble, what);
        let _scene_gone = pauses.send(());
        woken.recv()?; // Blocks the thread.

        let what = format!("worker 1 wakes up, has not noticed the pause, and writes {rest}");
        floor.news.tell(Tone::Trouble, what);
        match account.write(token, rest) {
            Ok(()) => floor.news.tell(Tone::Bad, "the store checks no token, and accepts this"),
            Err(stale) => {
                floor.note_refusal();
                let (presented, greatest) = (stale.presented, stale.greatest);
                let what = format!(
                    "the store refuses this: token {presented} is stale, since the store has \
                     seen {greatest}"
                );
                floor.news.tell(Tone::Good, what);
            }
        }
        let _lost = guard.release().await;
        Ok(())
    }
}

/// Runs worker 2.
async fn succeed(floor: &Floor, redlock: &Redlock, account: &Account) -> Result<(), Failure> {
    floor.waiting.fetch_add(1, SeqCst);
    let asked = redlock.acquire(RESOURCE).fenced().await;
    floor.waiting.fetch_sub(1, SeqCst);
    let guard = asked?;
    let token = guard.fencing_token();
    floor.present("worker 2", guard.lease());
    let balance = account.read(token)?;
    let what = format!(
        "worker 1's lock has expired: worker 2 has the lock, with fencing token {token}, and \
         reads {balance}"
    );
    floor.news.tell(Tone::Good, what);
    sleep(BEAT).await;

    guard.check()?;
    let rest = balance.saturating_sub(WORKER_2_TAKES);
    account.write(token, rest)?;
    guard.release().await?;
    floor.dismiss();
    floor.news.tell(Tone::Calm, format!("worker 2 writes {rest}, and releases the lock"));
    Ok(())
}
