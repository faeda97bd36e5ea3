//! The commands that load and run scripts, and the commands that a script may call.

use super::Machine;
use super::command::{self, Call};
use super::keys::NOT_AN_INTEGER;
use super::lua::{self, Engine, Words};
use super::reply::Reply;
use super::request::integer;
use super::server::READONLY;

pub(super) fn eval(machine: &mut Machine, call: &Call<'_>) -> Reply {
    run(machine, call, lua::load).unwrap_or_else(|error| error)
}

pub(super) fn evalsha(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let hash = |_: &mut Engine, hash: &[u8]| Ok(String::from_utf8_lossy(hash).to_ascii_lowercase());
    run(machine, call, hash).unwrap_or_else(|error| error)
}

pub(super) fn load(machine: &mut Machine, call: &Call<'_>) -> Reply {
    lua::load(&mut machine.process.engine, &call.arguments[2])
        .map_or_else(|error| error, Reply::bulk)
}

pub(super) fn flush(machine: &mut Machine, _: &Call<'_>) -> Reply {
    machine.process.engine = None;
    Reply::ok()
}

/// Runs the script whose hash is what `find` returns for the first argument.
fn run(
    machine: &mut Machine,
    call: &Call<'_>,
    find: impl FnOnce(&mut Engine, &[u8]) -> Result<String, Reply>,
) -> Result<Reply, Reply> {
    let words = keys_and_arguments(call)?;
    let hash = find(&mut machine.process.engine, &call.arguments[1])?;
    // The commands of a script need the machine, and none of them needs the engine.
    let engine = std::mem::take(&mut machine.process.engine);
    let mut execute = |words: Vec<Vec<u8>>| called(machine, &Call { arguments: &words, ..*call });
    let reply = engine.as_ref().and_then(|lua| lua.run(&hash, words, &mut execute));
    machine.process.engine = engine;
    reply.ok_or_else(|| Reply::error("NOSCRIPT No matching script. Please use EVAL."))
}

/// Executes one command of a script.
fn called(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let Some(command) = command::lookup(call.arguments, machine.is_valkey) else {
        return Reply::error("ERR Unknown Redis command called from script");
    };
    if !command.takes(call.arguments.len()) {
        Reply::error("ERR Wrong number of args calling Redis command from script")
    } else if !command.in_scripts {
        Reply::error("ERR This Redis command is not allowed from script")
    } else if machine.denied.contains(command.name) {
        Reply::error("ERR The user executing the script can't run this command or subcommand")
    } else if machine.refuses(command) {
        Reply::error(READONLY)
    } else {
        machine.run(command, call)
    }
}

/// Splits the arguments after `EVAL script numkeys`.
fn keys_and_arguments<'a>(call: &Call<'a>) -> Result<Words<'a>, Reply> {
    let Some(count) = integer(&call.arguments[2]) else { return Err(Reply::error(NOT_AN_INTEGER)) };
    let Ok(count) = usize::try_from(count) else {
        return Err(Reply::error("ERR Number of keys can't be negative"));
    };
    call.arguments[3..]
        .split_at_checked(count)
        .ok_or_else(|| Reply::error("ERR Number of keys can't be greater than number of args"))
}
