use futures::StreamExt;
use quorumlock::{Credentials, RedlockBuilder};
use redis::StreamingCredentialsProvider;
use std::error::Error;
use std::time::Duration;

pub(crate) fn with_provider(
    builder: RedlockBuilder,
    provider: impl StreamingCredentialsProvider + 'static,
) -> RedlockBuilder {
    builder.credentials(move |_master| {
        let mut stream = provider.subscribe();
        async move {
            let latest = stream.next().await.ok_or("the stream of credentials has ended")??;
            let latest = Credentials::new(latest.username(), latest.password());
            // Asked again after 48 s: by then, the next token may have come, and this one still counts.
            Ok::<_, Box<dyn Error + Send + Sync>>(latest.expires_in(Duration::from_secs(60)))
        }
    })
}
