//! A provider of the redis crate, whose token a test changes, and the example's way to take it.

#[path = "../../examples/support/streaming_provider.rs"]
mod streaming_provider;

use futures::stream::{StreamExt, once, pending};
use redis::{BasicAuth, RedisResult, StreamingCredentialsProvider};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

pub(crate) use streaming_provider::with_provider;

#[derive(Clone)]
pub(crate) struct Tokens(Arc<Mutex<BasicAuth>>);

impl Tokens {
    pub(crate) fn new(user: &str, token: &str) -> Self {
        Self(Arc::new(Mutex::new(BasicAuth::new(user.to_owned(), token.to_owned()))))
    }

    pub(crate) fn rotate(&self, user: &str, token: &str) {
        *self.0.lock().unwrap() = BasicAuth::new(user.to_owned(), token.to_owned());
    }
}

impl StreamingCredentialsProvider for Tokens {
    fn subscribe(
        &self,
    ) -> Pin<Box<dyn futures::Stream<Item = RedisResult<BasicAuth>> + Send + 'static>> {
        let latest = Ok(self.0.lock().unwrap().clone());
        once(std::future::ready(latest)).chain(pending()).boxed()
    }
}
