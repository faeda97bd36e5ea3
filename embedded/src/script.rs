//! The commands that load and run scripts, and the commands that a script may call.

use super::command::{self, Call, Run};
use super::keys::NOT_AN_INTEGER;
use super::lua::Engine;
use super::replication::READONLY;
use super::reply::Reply;
use super::request::integer;
use super::server::Server;

pub(super) fn eval(engine: &mut Engine, server: &mut Server, call: &Call<'_>) -> Reply {
    let (keys, arguments) = match keys_and_arguments(call) {
        Ok(split) => split,
        Err(error) => return error,
    };
    match engine.load(&call.arguments[1]) {
        Ok(hash) => run(engine, server, call, &hash, keys, arguments),
        Err(error) => error,
    }
}

pub(super) fn evalsha(engine: &mut Engine, server: &mut Server, call: &Call<'_>) -> Reply {
    let hash = String::from_utf8_lossy(&call.arguments[1]).to_ascii_lowercase();
    if hash.len() != 40 {
        return noscript();
    }
    match keys_and_arguments(call) {
        Ok((keys, arguments)) => run(engine, server, call, &hash, keys, arguments),
        Err(error) => error,
    }
}

pub(super) fn load(engine: &mut Engine, _: &mut Server, call: &Call<'_>) -> Reply {
    engine.load(&call.arguments[2]).map_or_else(|error| error, Reply::bulk)
}

pub(super) fn exists(engine: &mut Engine, _: &mut Server, call: &Call<'_>) -> Reply {
    let known = |hash: &Vec<u8>| {
        let hash = String::from_utf8_lossy(hash).to_ascii_lowercase();
        Reply::Integer(i64::from(engine.knows(&hash)))
    };
    Reply::Array(call.arguments[2..].iter().map(known).collect())
}

pub(super) fn flush(engine: &mut Engine, _: &mut Server, call: &Call<'_>) -> Reply {
    match &call.arguments[2..] {
        [] => {}
        [how] if [&b"ASYNC"[..], b"SYNC"].contains(&&*how.to_ascii_uppercase()) => {}
        _ => return Reply::error("ERR SCRIPT FLUSH only support SYNC|ASYNC option"),
    }
    engine.forget();
    Reply::ok()
}

fn run(
    engine: &Engine,
    server: &mut Server,
    call: &Call<'_>,
    hash: &str,
    keys: &[Vec<u8>],
    arguments: &[Vec<u8>],
) -> Reply {
    let mut execute = |words: Vec<Vec<u8>>| called(server, &Call { arguments: &words, ..*call });
    engine.run(hash, keys, arguments, &mut execute).unwrap_or_else(noscript)
}

/// Executes one command of a script.
fn called(server: &mut Server, call: &Call<'_>) -> Reply {
    let known = command::lookup(call.arguments).ok();
    let Some(command) = known.filter(|command| server.knows(command)) else {
        return Reply::error("ERR Unknown Redis command called from script");
    };
    match command.run {
        _ if !command.takes(call.arguments.len()) => {
            Reply::error("ERR Wrong number of args calling Redis command from script")
        }
        Run::Server(_) if command.in_scripts && !server.rights.allow(command) => {
            Reply::error("ERR The user executing the script can't run this command or subcommand")
        }
        Run::Server(_) if command.in_scripts && server.refuses(command) => Reply::error(READONLY),
        Run::Server(run) if command.in_scripts => {
            let reply = run(server, call);
            server.count(command);
            reply
        }
        _ => Reply::error("ERR This Redis command is not allowed from script"),
    }
}

type Words<'a> = &'a [Vec<u8>];

/// Splits the arguments after `EVAL script numkeys`.
fn keys_and_arguments<'a>(call: &Call<'a>) -> Result<(Words<'a>, Words<'a>), Reply> {
    let Some(count) = integer(&call.arguments[2]) else { return Err(Reply::error(NOT_AN_INTEGER)) };
    let Ok(count) = usize::try_from(count) else {
        return Err(Reply::error("ERR Number of keys can't be negative"));
    };
    call.arguments[3..]
        .split_at_checked(count)
        .ok_or_else(|| Reply::error("ERR Number of keys can't be greater than number of args"))
}

fn noscript() -> Reply {
    Reply::error("NOSCRIPT No matching script. Please use EVAL.")
}
