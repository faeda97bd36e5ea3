//! The script: what happens to the masters, and when.

use crate::masters::{Masters, QUORUM};
use crate::news::Tone;
use crate::show::Scene;
use crate::witness::{Seen, Witness};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};

const LOST_AT: u64 = 4;
const BACK_AT: u64 = 8;
const STAYS_AT: u64 = 11;
/// Long enough to see the lock extended twice.
const STAYS_FOR: Duration = Duration::from_millis(1600);
const QUORUM_BACK_AT: u64 = 17;
pub(crate) const OVER_AT: u64 = 21;

/// Bound on the wait for a worker that does what the play needs next, which takes a tenth of a
/// second.
const PATIENCE: Duration = Duration::from_secs(4);

/// The masters lost first, by their place in the list: M2 comes back, M4 does not. Later, M1 comes
/// back and M3 does not.
const FIRST: [usize; 2] = [1, 3];
const SECOND: [usize; 2] = [0, 2];

pub(crate) async fn play(scene: &Scene) -> Result<(), String> {
    let Scene { masters, floor, .. } = scene;
    let began = Instant::now();
    let at = |seconds| sleep_until(began + Duration::from_secs(seconds));
    let tell = |tone, what: String| floor.news.tell(tone, what);
    let (lost, back, ago) = if masters.can_be_killed() {
        ("killed", "back, empty, after more than the ttl of 2 s", "after the kill")
    } else {
        ("cut off from the workers", "reached again, with its keys", "after the cut")
    };
    tell(Tone::Calm, "five masters are up; six workers compete for one lock".to_owned());
    at(LOST_AT).await;

    let strike = {
        let (masters, floor) = (masters.clone(), floor.clone());
        move |asker| {
            FIRST.iter().for_each(|&node| masters.lose(node));
            floor.await_next(ago);
            let what = format!("M2 and M4 are {lost}, just as worker {asker} asks for the lock");
            floor.news.tell(Tone::Trouble, what);
        }
    };
    let missing = |what| move |_elapsed| format!("no worker has {what} for 4 s");
    let asked = timeout(PATIENCE, floor.strike(strike)).await;
    asked.map_err(missing("asked for the lock while it was free"))?;
    at(BACK_AT).await;

    masters.bring_back(FIRST[0]).await?;
    tell(Tone::Good, format!("M2 is {back}"));
    at(STAYS_AT).await;

    floor.stay.store(true, SeqCst);
    let entered = timeout(PATIENCE, floor.stays.notified()).await;
    entered.map_err(missing("had the lock"))?;
    sleep(STAYS_FOR).await;
    SECOND.iter().for_each(|&node| masters.lose(node));
    floor.quorum_is_gone();
    let up = masters.up();
    tell(Tone::Trouble, format!("M1 and M3 are {lost}: {up} are up, {QUORUM} are a quorum"));
    at(QUORUM_BACK_AT).await;

    let (entered, waiting) = (floor.tally().without_quorum, floor.waiting.load(SeqCst));
    tell(Tone::Calm, format!("{waiting} workers wait; {entered} have entered since the loss"));
    // Called first, because the master's first answer may arrive before this task runs again.
    floor.quorum_is_back();
    floor.await_next("after M1 was back");
    masters.bring_back(SECOND[0]).await?;
    tell(Tone::Good, format!("M1 is {back}"));
    at(OVER_AT).await;
    Ok(())
}

/// Returns when each master has answered, or the name of one that does not answer.
pub(crate) async fn all_answer(masters: &Masters, witness: &Witness) -> Result<(), String> {
    let began = Instant::now();
    for (node, master) in masters.all().iter().enumerate() {
        while witness.saw(node) == Seen::Nothing {
            if began.elapsed() > Duration::from_secs(2) {
                return Err(format!("M{} ({}) does not answer", node + 1, master.name));
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
    Ok(())
}
