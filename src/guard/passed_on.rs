//! A holder's part towards others: its deadline for a store that has a clock of its own, and the lock for clients
//! that ask for it.

use super::Lease;
use crate::failure::Lost;
use crate::kind::Kind;
use std::time::{Duration, SystemTime};

impl<K: Kind> Lease<K> {
    /// Returns the deadline as wall-clock time, less `apart`, for a store that refuses late writes by its own
    /// clock: a database with a condition on the time, or a service that takes signed requests with an expiry.
    ///
    /// `apart` is how far the store's clock may be behind this machine's; choose it from what the time
    /// synchronization of both reports (with NTP, some milliseconds), and add the resolution of the store's
    /// clock. Without `apart`, the result is never later than the deadline on this machine's clock; so no
    /// write that the store checks after the deadline is let in, as long as
    ///
    /// - the store's clock is behind by no more than `apart`; a clock that is ahead only refuses earlier;
    /// - neither clock is set back between this call and the check of the store. Call this anew for each
    ///   write: the result moves with the wall clock, and later with each extension;
    /// - the deadline is right: the clocks here do not count the pause of a virtual machine.
    ///
    /// The result may be in the past, if less than `apart` is left. Compare with `<`, and with a clock that
    /// the store reads at the write. PostgreSQL's `now()` is the start of the transaction, so use
    /// `clock_timestamp()`. A check in a statement also says nothing of when its transaction commits.
    ///
    /// This is no substitute for a [fencing token](Lease::fencing_token), which needs no clocks: it is for a
    /// store that cannot compare tokens, or to refuse a late write before there is a next holder.
    ///
    /// ```no_run
    /// # use std::time::{Duration, SystemTime};
    /// # struct Database;
    /// # impl Database { async fn execute(&self, _: &str, _: &[SystemTime]) -> Result<u64, std::io::Error> { Ok(1) } }
    /// # async fn example(
    /// #     guard: quorumlock::Guard, database: Database,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// const APART: Duration = Duration::from_millis(50); // what the monitoring of the clocks allows
    ///
    /// let statement = "UPDATE account SET balance = 50 WHERE id = 42 AND clock_timestamp() < $1";
    /// let rows = database.execute(statement, &[guard.not_after(APART)?]).await?;
    /// if rows == 0 {
    ///     return Err("too late, or there is no such account".into());
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Lost`], as from [`check`](Self::check): a lock that is over has no time that a store may accept.
    #[doc(alias("expires_at", "expiry"))]
    pub fn not_after(&self, apart: Duration) -> Result<SystemTime, Lost> {
        not_after(|| self.driver.clock().wall(), || self.check(), apart)
    }

    /// Returns whether another client waits for this lock, and has asked for it. Once `true`, always `true`.
    /// See [`wanted`](Self::wanted).
    ///
    /// ```no_run
    /// # fn next_job() -> Option<u32> { None }
    /// # fn example(guard: quorumlock::Guard) -> Result<(), quorumlock::Lost> {
    /// while let Some(_job) = next_job() {
    ///     guard.check()?; // before a side effect
    ///     // the job
    ///     if guard.is_wanted() {
    ///         break; // the rest of them later: others have their turn
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.driver.claim(&self.hold);
        self.hold.asked.is_taken()
    }

    /// Completes when another client waits for this lock, and has asked for it: end the work where that suits
    /// you, and release the lock, or go on. It also completes when the lock is over, and at once if either is
    /// so: [`is_wanted`](Self::is_wanted) and [`check`](Self::check) say which.
    ///
    /// An acquire that was refused, and that waits, asks the process of the holder, and again after a second. A message
    /// can be lost, and forged by any client that may publish on the masters: it is a hint, and the lock does not depend
    /// on it. It does not come with
    /// [`wake_ups(false)`](crate::RedlockBuilder::wake_ups) on either side, nor for a lock that was adopted
    /// from another process.
    ///
    /// ```no_run
    /// # async fn work() {}
    /// # async fn example(guard: quorumlock::Guard) -> Result<(), quorumlock::Lost> {
    /// loop {
    ///     tokio::select! {
    ///         () = guard.wanted() => break,
    ///         () = work() => {
    ///             guard.check()?;
    ///         }
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Safe: it only watches. Works on any executor.
    pub async fn wanted(&self) {
        self.driver.claim(&self.hold);
        if self.driver.is_here() {
            self.hold.wanted().await;
        }
    }
}

/// Returns what both clocks say of the deadline, less `apart`. The wall clock is read first: time that passes
/// between the two makes the result earlier.
fn not_after<E>(
    wall: impl FnOnce() -> SystemTime,
    left: impl FnOnce() -> Result<Duration, E>,
    apart: Duration,
) -> Result<SystemTime, E> {
    let wall = wall();
    let left = left()?;
    // Whatever is out of range becomes earlier, too.
    let deadline = wall.checked_add(left).unwrap_or(wall);
    Ok(deadline.checked_sub(apart).unwrap_or_else(|| wall.min(SystemTime::UNIX_EPOCH)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use SystemTime as Wall;
    use std::cell::Cell;

    const MS: Duration = Duration::from_millis(1);
    const YEAR: Duration = Duration::from_secs(31_557_600);

    #[test]
    fn the_result_is_the_wall_clock_and_what_is_left_less_how_far_clocks_are_apart() {
        let wall = Wall::UNIX_EPOCH + 56 * YEAR;
        for (left, apart, expected) in [
            (10 * MS, Duration::ZERO, wall + 10 * MS),
            (10 * MS, 3 * MS, wall + 7 * MS),
            (10 * MS, 10 * MS, wall),
            (10 * MS, 25 * MS, wall - 15 * MS),
            (292 * YEAR, MS, wall + 292 * YEAR - MS),
            // Out of range: the past, and no panic.
            (10 * MS, Duration::MAX, Wall::UNIX_EPOCH),
            (Duration::MAX, MS, wall - MS),
        ] {
            let result = not_after(|| wall, || Ok::<_, ()>(left), apart);
            assert_eq!(result, Ok(expected), "{left:?} less {apart:?}");
        }
    }

    #[test]
    fn a_pause_between_the_two_readings_makes_it_earlier() {
        let (now, deadline) = (Cell::new(40 * MS), 100 * MS);
        for pause in [Duration::ZERO, MS, 59 * MS] {
            now.set(40 * MS);
            let wall = || {
                let wall = Wall::UNIX_EPOCH + now.get();
                now.set(now.get() + pause);
                wall
            };
            let result = not_after(wall, || Ok::<_, ()>(deadline - now.get()), Duration::ZERO);
            assert_eq!(result, Ok(Wall::UNIX_EPOCH + deadline - pause));
        }
    }

    #[test]
    fn what_is_lost_has_no_such_time() {
        assert_eq!(not_after(Wall::now, || Err("lost"), Duration::ZERO), Err("lost"));
    }
}
