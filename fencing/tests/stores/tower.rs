//! A service whose handler checks the token in the transaction of its own write, in SQLite.

use crate::sqlite;
use crate::storm;
use crate::support::sql::SqlxSqlite;
use crate::support::{Outcome, Store, token};
use futures::future::BoxFuture;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use quorumlock_fencing::tower::{DemandToken, Demanding, HEADER, present, stale};
use quorumlock_fencing::{FenceError, FencingToken, StaleToken};
use sqlx::sqlite::SqliteJournalMode;
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// PUT writes the body, GET reads; both fenced, or without any check behind the layer.
#[derive(Clone)]
struct Handler {
    data: Arc<SqlxSqlite>,
    fenced: bool,
}

impl Service<Request<String>> for Handler {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<String>) -> Self::Future {
        let Self { data, fenced } = self.clone();
        Box::pin(async move {
            let token = request.extensions().get::<FencingToken>().copied();
            let token = Some(token.expect("the layer")).filter(|_| fenced);
            let done = match *request.method() {
                Method::PUT => data.write(token, request.body()).await.map(|()| String::new()),
                _ => data.read(token).await,
            };
            Ok(match done {
                Ok(content) => Response::new(content),
                Err(FenceError::Stale(stale)) => stale.into(),
                Err(error) => panic!("{error}"),
            })
        })
    }
}

/// The client: a request for each read and write. Without a token, a service that does not compare
/// what it demands.
#[derive(Clone)]
struct Client(Demanding<Handler>, Demanding<Handler>);

impl Client {
    async fn new(address: &str) -> Self {
        let data = Arc::new(SqlxSqlite::open(address).await);
        let [checks, passes] = [true, false]
            .map(|fenced| DemandToken.layer(Handler { data: Arc::clone(&data), fenced }));
        Self(checks, passes)
    }

    async fn ask(
        &self,
        method: Method,
        token: Option<FencingToken>,
        body: &str,
    ) -> Outcome<String> {
        let mut service = if token.is_some() { self.0.clone() } else { self.1.clone() };
        let presented = token.unwrap_or(FencingToken::MIN);
        let request = Request::builder().method(method).body(body.to_owned()).unwrap();
        let answer = service.call(present(request, presented)).await.unwrap();
        match stale(&answer, presented) {
            Some(stale) => Err(FenceError::Stale(stale)),
            None => Ok(answer.into_body()),
        }
    }
}

impl Store for Client {
    const KIND: &'static str = "tower";

    async fn open(address: &str) -> Self {
        Self::new(address).await
    }

    async fn read(&self, token: Option<FencingToken>) -> Outcome<String> {
        self.ask(Method::GET, token, "").await
    }

    async fn write(&self, token: Option<FencingToken>, content: &str) -> Outcome<()> {
        self.ask(Method::PUT, token, content).await.map(drop)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_refuses_what_is_stale_and_a_storm_loses_nothing() {
    let (_folder, address) = sqlite::empty(SqliteJournalMode::Wal).await;
    let client = Client::new(&address).await;
    cases_and_restart(&address, &client).await;
    let (_folder, address) = sqlite::empty(SqliteJournalMode::Wal).await;
    storm::in_tasks(Arc::new(Client::new(&address).await)).await;
}

async fn cases_and_restart(address: &str, client: &Client) {
    crate::cases::play(client).await;
    crate::cases::still_fenced(&Client::new(address).await).await;
}

#[tokio::test]
async fn a_request_without_one_token_is_answered_400_and_never_reaches_the_handler() {
    let (_folder, address) = sqlite::empty(SqliteJournalMode::Wal).await;
    let Client(mut service, _) = Client::new(&address).await;
    for (values, part) in [
        (&[][..], "missing"),
        (&["7", "7"], "twice"),
        (&[""], "not a decimal number"),
        (&["0"], "no win has this number"),
        (&["7, 9"], "digits only"),
        (&["9007199254740992"], "at most"),
        (&["\u{fc}"], "digits only"),
    ] {
        let mut request = Request::new("unfenced".to_owned());
        *request.method_mut() = Method::PUT;
        for value in values {
            request
                .headers_mut()
                .append(HEADER, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let answer = service.call(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{values:?}");
        assert!(answer.body().contains(part), "{values:?}: {}", answer.body());
        assert_eq!(stale(&answer, token(7)), None);
    }
    let store = SqlxSqlite::open(&address).await;
    assert_eq!(store.read(None).await.unwrap(), "");
}

#[test]
fn the_answer_to_a_stale_token_has_both_and_the_client_reads_it() {
    let both = StaleToken { presented: token(7), greatest: token(9) };
    let mut answer = Response::<String>::from(both);
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    assert_eq!(answer.headers()[HEADER], "9");
    assert!(answer.body().contains("token 7: 9 has been seen"), "{}", answer.body());
    assert_eq!(stale(&answer, token(7)), Some(both));
    // A conflict of the service's own, or another status.
    answer.headers_mut().remove(HEADER);
    assert_eq!(stale(&answer, token(7)), None);
    let other = present(Request::new(()), token(9));
    let mut passed = Response::new(());
    *passed.headers_mut() = other.headers().clone();
    assert_eq!(stale(&passed, token(7)), None);
    // A request has one token, whatever it had before.
    assert_eq!(present(other, token(11)).headers().get_all(HEADER).iter().count(), 1);
}
