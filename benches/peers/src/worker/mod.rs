//! A process with one client in it. It receives orders line by line and answers in numbers. If it
//! hangs it can be ended, and several processes can want the same lock.

mod attempts;
mod contend;
mod crowd;
mod handle;
mod weigh;

pub(crate) use contend::{Contended, RESOURCE};
pub(crate) use crowd::Crowded;
pub(crate) use handle::{Failed, Worker};
pub(crate) use weigh::Load;

use crate::contenders::Client;
use futures::future::join_all;
use std::io::{self, Write};
use std::sync::Arc;

/// The argument that makes this program a worker. Its contender and the masters follow it.
pub(crate) const ARGUMENT: &str = "--worker";

/// Printed once, when the client is connected and has held a lock.
const READY: &str = "ready";

const CONTEND: &str = "contend";
const ATTEMPTS: &str = "attempts";
const WEIGH: &str = "weigh";
const GATHER: &str = "gather";
const CROWD: &str = "crowd";

/// Serves orders. Ends the process when there are no more, even if something still hangs in it.
pub(crate) async fn serve<C: Client>(connect: impl AsyncFn() -> C) {
    let client = connect().await;
    // Clients with connections of their own, if an order has asked for them.
    let mut crowd = Vec::new();
    let first: Arc<str> = format!("bench:worker:{}", std::process::id()).into();
    client.release(client.acquire(&first).await).await;
    say(READY);
    for line in io::stdin().lines() {
        let line = line.expect("an order");
        let (order, rest) = line.split_once(' ').expect("an order with what belongs to it");
        let figures = match order {
            CONTEND => contend::obey(&client, rest).await,
            ATTEMPTS => attempts::obey(&client, rest).await,
            WEIGH => weigh::obey(&client, rest).await,
            GATHER => crowd::gather(&mut crowd, &connect, rest).await,
            CROWD => crowd::obey(&crowd, rest).await,
            _ => panic!("no order: {line}"),
        };
        let words: Vec<_> = figures.iter().map(ToString::to_string).collect();
        say(&words.join(" "));
    }
    crowd.push(client);
    join_all(crowd.into_iter().map(Client::close)).await;
    std::process::exit(0);
}

fn say(line: &str) {
    println!("{line}");
    io::stdout().flush().expect("an output that is open");
}

/// Reads the next word of an order as a number.
fn number(words: &mut std::str::SplitWhitespace<'_>) -> u64 {
    let word = words.next().expect("one more number");
    word.parse().expect("a number")
}
