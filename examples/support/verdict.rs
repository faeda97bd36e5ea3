//! The verdict on the run.

use crate::news::Tone;
use crate::show::{paint, say};
use crate::tally::{Tally, millis};
use std::io;
use std::time::Duration;

/// Longest time with no worker inside while a quorum is up.
const LONGEST_STALL: Duration = Duration::from_secs(5);
/// Longest delay of a loss notification; later is too late for the holder.
const NOTIFIED_WITHIN: Duration = Duration::from_millis(250);

/// Prints the verdict. Returns `true` if it is good.
pub(crate) fn print(tally: &Tally) -> io::Result<bool> {
    let stall = tally.longest_stall;
    let notified = tally.notified_after.map_or_else(|| "never".to_owned(), millis);
    let rows = [
        ("sections", tally.sections.to_string(), tally.sections > 0, "counter read, written back"),
        ("overlaps", tally.overlaps.to_string(), tally.overlaps == 0, "a worker beside another"),
        ("lost increments", tally.lost().to_string(), tally.lost() == 0, "sections less counter"),
        (
            "without quorum",
            tally.without_quorum.to_string(),
            tally.without_quorum == 0,
            "entered while two of five were up",
        ),
        (
            "loss reported in",
            notified,
            tally.notified_after.is_some_and(|after| after <= NOTIFIED_WITHIN),
            "from the deadline to the holder's notice",
        ),
        ("longest stall", millis(stall), stall < LONGEST_STALL, "no worker inside, with a quorum"),
        (
            "late write",
            if tally.late_write_refused { "refused" } else { "accepted" }.to_owned(),
            tally.late_write_refused,
            "of a holder paused for longer than its ttl",
        ),
        ("failed acquires", tally.failed.to_string(), tally.failed == 0, "an error, and no lock"),
    ];
    let good = rows.iter().all(|row| row.2);
    say("")?;
    for (name, value, well, meaning) in rows {
        let (tone, mark) = if well { (Tone::Good, "ok ") } else { (Tone::Bad, "BAD") };
        say(&format!("  {} {name:<16} {value:>9}   {meaning}", paint(tone, mark)))?;
    }
    say("")?;
    say(&match (good, tally.overlaps) {
        (true, _) => paint(Tone::Good, "  GOOD: one at a time, as long as there was a quorum."),
        (false, 0) => paint(Tone::Bad, "  BAD: no two were inside at once, but look at the rest."),
        (false, _) => paint(Tone::Bad, "  BAD: two were inside at once."),
    })?;
    Ok(good)
}
