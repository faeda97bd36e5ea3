//! A set of numbers in memory, which clients read and write as a whole over TCP. It checks fencing tokens, where a
//! client presents one.

use crate::Failure;
use quorumlock::FencingToken;
use quorumlock::fencing::FenceCheck;
use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const RESOURCE: &str = "set";

#[derive(Default)]
struct State {
    members: BTreeSet<u64>,
    check: FenceCheck<String>,
    refused: u64,
}

/// The server's side, which a clone shares.
#[derive(Clone, Default)]
pub(crate) struct Set(Arc<Mutex<State>>);

impl Set {
    /// Serves the set on a port of its own, for as long as the runtime runs.
    pub(crate) async fn serve(&self) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let set = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let set = set.clone();
                tokio::spawn(async move { set.answer(stream).await });
            }
        });
        Ok(address)
    }

    async fn answer(&self, stream: TcpStream) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut request = String::new();
        while stream.read_line(&mut request).await? > 0 {
            let reply = self.execute(request.trim_end()).unwrap_or_else(|| "refused".to_owned());
            stream.write_all(format!("{reply}\n").as_bytes()).await?;
            request.clear();
        }
        Ok(())
    }

    /// Executes `read TOKEN` or `write TOKEN MEMBER ..`, with `-` for no token: checks and acts in one step. Returns
    /// `None` if the token is out of date.
    fn execute(&self, request: &str) -> Option<String> {
        let mut words = request.split(' ');
        let (deed, token) = (words.next()?, words.next()?);
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if token != "-" {
            let token = FencingToken::try_from(token.parse::<u64>().ok()?).ok()?;
            if state.check.admit(RESOURCE, token).is_err() {
                state.refused += 1;
                return None;
            }
        }
        if deed == "write" {
            state.members = words.map(str::parse).collect::<Result<_, _>>().ok()?;
        }
        Some(listed(&state.members))
    }

    pub(crate) fn members(&self) -> BTreeSet<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).members.clone()
    }

    /// Returns how many requests had a token that was out of date.
    pub(crate) fn refused(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refused
    }
}

fn listed(members: &BTreeSet<u64>) -> String {
    let members: Vec<String> = members.iter().map(u64::to_string).collect();
    members.join(" ")
}

/// A client's side.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) async fn connect(address: &str) -> io::Result<Self> {
        Ok(Self(BufReader::new(TcpStream::connect(address).await?)))
    }

    /// Returns the members; `None` if the token is out of date.
    pub(crate) async fn read(
        &mut self,
        token: Option<FencingToken>,
    ) -> Result<Option<BTreeSet<u64>>, Failure> {
        self.ask("read", token, "").await
    }

    /// Replaces the members. Returns `None` if the token is out of date.
    pub(crate) async fn write(
        &mut self,
        token: Option<FencingToken>,
        members: &BTreeSet<u64>,
    ) -> Result<Option<BTreeSet<u64>>, Failure> {
        self.ask("write", token, &format!(" {}", listed(members))).await
    }

    async fn ask(
        &mut self,
        deed: &str,
        token: Option<FencingToken>,
        members: &str,
    ) -> Result<Option<BTreeSet<u64>>, Failure> {
        let token = token.map_or("-".to_owned(), |token| token.to_string());
        self.0.write_all(format!("{deed} {token}{members}\n").as_bytes()).await?;
        let mut reply = String::new();
        self.0.read_line(&mut reply).await?;
        match reply.trim_end() {
            "refused" => Ok(None),
            members => {
                let members = members.split(' ').filter(|member| !member.is_empty());
                Ok(Some(members.map(str::parse).collect::<Result<_, _>>()?))
            }
        }
    }
}
