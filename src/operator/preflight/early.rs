//! A preflight before there is a connection.

use super::{Preflight, run};
use crate::builder::RedlockBuilder;
use crate::failure::PreflightError;

impl RedlockBuilder {
    /// Asks every master whether it is fit for this lock, all at once, over connections of its own.
    /// This covers what [`connect`](Self::connect) would refuse, and what it would not notice.
    /// Masters that are down or unfit are findings of the [`Preflight`], not errors.
    ///
    /// It tries what the crate does later, on keys of its own, and deletes them again. All of these
    /// keys begin with `quorumlock:preflight` behind the prefix. Each answer may take three
    /// operation timeouts. With [`inspect_only`](Self::inspect_only) it sets no key, and does not try the
    /// rights that locks need.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let builder = quorumlock::Redlock::builder().nodes(["redis://10.0.0.1", "redis://10.0.0.2"]);
    /// let preflight = builder.preflight().await?;
    /// println!("{preflight}");
    /// let redlock = builder.connect().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`PreflightError`]: a setting (or an address) that cannot work, no tokio runtime to run on, with
    /// time and I/O, or no [thread](Self::own_thread); the call sent nothing.
    ///
    /// # Cancel safety
    ///
    /// Safe: if dropped, it closes its connections. Any keys that it has set by then expire
    /// in 2 s.
    pub async fn preflight(&self) -> Result<Preflight, PreflightError> {
        self.options.check()?;
        Ok(run(self.own_thread, &self.masters()?, &self.options, self.clock).await?)
    }
}
