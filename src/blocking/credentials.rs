//! Credentials that change, from code without `async`.

use super::connect::Builder;
use crate::Credentials;
use crate::credentials::{Source, on_a_thread, threads};
use std::error::Error;
use std::sync::Arc;

impl Builder {
    /// Sets a provider of credentials that blocks. See
    /// [`RedlockBuilder::credentials`](crate::RedlockBuilder::credentials): it is asked at the same times,
    /// on threads beside the client's own, of which it may block four.
    ///
    /// ```
    /// use quorumlock::{Credentials, blocking::Redlock};
    ///
    /// let builder = Redlock::builder().node("redis://10.0.0.1").blocking_credentials(|_master| {
    ///     std::fs::read_to_string("/run/secrets/redis").map(Credentials::password)
    /// });
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "blocking")))]
    pub fn blocking_credentials<P, E>(mut self, provider: P) -> Self
    where
        P: Fn(Arc<str>) -> Result<Credentials, E> + Send + Sync + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        let (provider, threads) = (Arc::new(provider), threads());
        self.credentials = Some(Source::provider(move |master| {
            let provider = provider.clone();
            let work = move || provider(master).map_err(|error| error.into().to_string());
            on_a_thread(threads.clone(), work)
        }));
        self
    }
}
