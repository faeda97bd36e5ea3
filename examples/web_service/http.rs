//! As much HTTP/1.1 as the service needs: one request for each connection, and no body.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Bound on the bytes of a request.
const LONGEST: u64 = 8192;

/// Status line without the version, and body.
pub(crate) type Response = (&'static str, String);

/// Reads a request; returns its method and path.
pub(crate) async fn receive(stream: &mut TcpStream) -> io::Result<(String, String)> {
    let mut lines = BufReader::new(stream.take(LONGEST)).lines();
    let first = lines.next_line().await?.unwrap_or_default();
    while lines.next_line().await?.is_some_and(|line| !line.is_empty()) {}
    let mut words = first.split(' ').map(str::to_owned);
    Ok((words.next().unwrap_or_default(), words.next().unwrap_or_default()))
}

pub(crate) async fn respond(stream: &mut TcpStream, (status, body): Response) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; version=0.0.4\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}
