//! A fence in an HTTP service: the token comes as a header of each request.
//!
//! The service has a layer that demands the header, and the handler of each request checks the token
//! in the transaction of its own write: a check in the layer would be apart from the write (rule
//! 3). A handler that forgets the layer has no token to check, and fails.
//!
//! ```
//! use http::{Request, Response, StatusCode};
//! use quorumlock_fencing::{FenceCheck, FencingToken, tower};
//! use std::convert::Infallible;
//! use std::sync::Mutex;
//! use tower_layer::Layer;
//! use tower_service::Service;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The data, and the check in one critical section with it. With a database: `sqlx::fence`.
//! let data = Mutex::new((FenceCheck::<String>::new(), 100));
//! let write = |request: Request<u32>| -> Result<Response<String>, Response<String>> {
//!     let token = *request.extensions().get::<FencingToken>().expect("the layer");
//!     let (check, balance) = &mut *data.lock().expect("no writer that has panicked");
//!     check.admit("balance", token)?; // 409
//!     *balance = request.into_body();
//!     Ok(Response::default())
//! };
//! # #[derive(Clone)]
//! # struct Handler<F>(F);
//! # impl<B, F: Fn(Request<B>) -> Result<Response<String>, Response<String>>> Service<Request<B>> for Handler<F> {
//! #     type Response = Response<String>;
//! #     type Error = Infallible;
//! #     type Future = std::future::Ready<Result<Response<String>, Infallible>>;
//! #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> { Ok(()).into() }
//! #     fn call(&mut self, request: Request<B>) -> Self::Future {
//! #         std::future::ready(Ok((self.0)(request).unwrap_or_else(|refused| refused)))
//! #     }
//! # }
//! # let handler = Handler(write);
//! let mut service = tower::DemandToken.layer(handler);
//!
//! // The client.
//! let [old, new]: [FencingToken; 2] = ["7".parse()?, "9".parse()?];
//! service.call(tower::present(Request::new(50), new)).await?;
//! let late = service.call(tower::present(Request::new(110), old)).await?;
//! assert_eq!(late.status(), StatusCode::CONFLICT);
//! assert_eq!(tower::stale(&late, old).map(|stale| stale.greatest), Some(new));
//! # Ok(())
//! # }
//! ```

use crate::{FencingToken, InvalidToken, StaleToken};
use futures_util::future::Either;
use http::{HeaderMap, HeaderName, Request, Response, StatusCode};
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// `Fencing-Token`, whose value is the token in decimal digits. In an answer with status 409 it is
/// the greatest token that the service has seen.
pub const HEADER: HeaderName = HeaderName::from_static("fencing-token");

/// Returns the request with the token in its header, and with no other.
#[must_use]
pub fn present<B>(mut request: Request<B>, token: FencingToken) -> Request<B> {
    request.headers_mut().insert(HEADER, token.as_u64().into());
    request
}

/// Returns both tokens if this answer to a request with the token `presented` refuses it as stale.
/// That is final: acquire the lock again.
#[must_use]
pub fn stale<B>(answer: &Response<B>, presented: FencingToken) -> Option<StaleToken> {
    let greatest = only_token(answer.headers()).ok()?;
    (answer.status() == StatusCode::CONFLICT).then_some(StaleToken { presented, greatest })
}

/// Status 409 with both tokens in its text, and the greatest one in the header. A handler may
/// return it by `?`, or by `into` from [`FenceError::Stale`](crate::FenceError::Stale).
impl<B: From<String>> From<StaleToken> for Response<B> {
    fn from(stale: StaleToken) -> Self {
        let mut answer = Self::new(stale.to_string().into());
        *answer.status_mut() = StatusCode::CONFLICT;
        answer.headers_mut().insert(HEADER, stale.greatest.as_u64().into());
        answer
    }
}

/// A layer that answers 400, with the problem in its text, to each request without one valid [`HEADER`],
/// and gives the others the [`FencingToken`] as an extension. It does not compare: the handler has to.
///
/// Put it on the routes that write, and on those whose reads come before a write.
#[derive(Debug, Clone, Copy, Default)]
pub struct DemandToken;

/// The service of [`DemandToken`].
#[derive(Debug, Clone)]
pub struct Demanding<S>(S);

impl<S> Layer<S> for DemandToken {
    type Service = Demanding<S>;

    fn layer(&self, inner: S) -> Demanding<S> {
        Demanding(inner)
    }
}

impl<S, B, R> Service<Request<B>> for Demanding<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: From<String>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<Response<R>, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        match only_token(request.headers()) {
            Ok(token) => {
                request.extensions_mut().insert(token);
                Either::Left(self.0.call(request))
            }
            Err(invalid) => {
                let mut refusal = Response::new(R::from(invalid.to_string()));
                *refusal.status_mut() = StatusCode::BAD_REQUEST;
                Either::Right(ready(Ok(refusal)))
            }
        }
    }
}

/// Returns the token, if exactly one header has one.
fn only_token(headers: &HeaderMap) -> Result<FencingToken, InvalidToken> {
    let mut values = headers.get_all(HEADER).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => String::from_utf8_lossy(value.as_bytes()).parse(),
        (None, _) => Err(InvalidToken::new("missing", "send it as the header Fencing-Token")),
        _ => Err(InvalidToken::new("twice", "send one header Fencing-Token")),
    }
}
