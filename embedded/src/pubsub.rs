//! The channels and their listeners. Channels know no databases.

use super::client::Client;
use super::command::Call;
use super::reply::Reply;
use super::{ClientId, Machine};

/// Handles PUBLISH; answers with the number of connections that the message went to.
pub(super) fn publish(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (channel, message) = (&call.arguments[1], &call.arguments[2]);
    let listeners = listeners(machine, channel);
    let push = Reply::Push(vec![
        Reply::bulk("message"),
        Reply::bulk(channel.clone()),
        Reply::bulk(message.clone()),
    ]);
    listeners.iter().for_each(|listener| machine.answer(*listener, &push));
    Reply::count(listeners.len())
}

/// Handles `PUBSUB NUMSUB channel ...`: each channel, and how many connections listen to it.
pub(super) fn numsub(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let count = |channel: &Vec<u8>| Reply::count(listeners(machine, channel).len());
    let pair = |channel: &Vec<u8>| [Reply::bulk(channel.clone()), count(channel)];
    Reply::Array(call.arguments[2..].iter().flat_map(pair).collect())
}

fn listeners(machine: &Machine, channel: &[u8]) -> Vec<ClientId> {
    let listens =
        |(id, client): (&ClientId, &Client)| client.channels.contains(channel).then_some(*id);
    machine.process.clients.iter().filter_map(listens).collect()
}

/// Handles SUBSCRIBE: one answer for each channel.
pub(super) fn subscribe(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let Some(client) = machine.process.clients.get_mut(&call.client) else { return Reply::Null };
    let mut answers = Vec::new();
    for channel in &call.arguments[1..] {
        client.channels.insert(channel.clone());
        answers.push(confirm("subscribe", Reply::bulk(channel.clone()), client.channels.len()));
    }
    Reply::Several(answers)
}

/// Handles UNSUBSCRIBE: one answer for each channel that is named, or for each that there is; at
/// least one.
pub(super) fn unsubscribe(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let Some(client) = machine.process.clients.get_mut(&call.client) else { return Reply::Null };
    let mut left = call.arguments[1..].to_vec();
    if left.is_empty() {
        left = client.channels.iter().cloned().collect();
    }
    if left.is_empty() {
        return confirm("unsubscribe", Reply::Null, 0);
    }
    let mut answers = Vec::new();
    for channel in left {
        client.channels.remove(&channel);
        answers.push(confirm("unsubscribe", Reply::bulk(channel), client.channels.len()));
    }
    Reply::Several(answers)
}

fn confirm(kind: &str, channel: Reply, channels: usize) -> Reply {
    Reply::Push(vec![Reply::bulk(kind), channel, Reply::count(channels)])
}
