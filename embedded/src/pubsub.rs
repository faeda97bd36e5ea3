//! The channels and their listeners. Channels know no databases.

use super::client::Client;
use super::command::Call;
use super::reply::Reply;
use super::{ClientId, Machine};
use std::collections::BTreeSet;

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
    changed(machine, call, "subscribe", |channels, channel| channels.insert(channel.clone()))
}

/// Handles `UNSUBSCRIBE channel ...`: one answer for each channel.
pub(super) fn unsubscribe(machine: &mut Machine, call: &Call<'_>) -> Reply {
    changed(machine, call, "unsubscribe", |channels, channel| channels.remove(channel))
}

fn changed(
    machine: &mut Machine,
    call: &Call<'_>,
    kind: &str,
    change: fn(&mut BTreeSet<Vec<u8>>, &Vec<u8>) -> bool,
) -> Reply {
    let Some(client) = machine.process.clients.get_mut(&call.client) else { return Reply::Null };
    let answers = call.arguments[1..].iter().map(|channel| {
        change(&mut client.channels, channel);
        let count = Reply::count(client.channels.len());
        Reply::Push(vec![Reply::bulk(kind), Reply::bulk(channel.clone()), count])
    });
    Reply::Several(answers.collect())
}
