//! Lua: loads scripts and runs them, within bounds.

mod convert;

use super::reply::Reply;
use convert::{raised, reply_at, value_of};
use mlua::chunk::ChunkMode;
use mlua::debug::HookTriggers;
use mlua::{Function, Lua, LuaOptions, LuaString, StdLib, Value, VmState};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A script that runs longer is stopped. A server would answer BUSY to all other clients.
const MOST_INSTRUCTIONS: u64 = 10_000_000;
const COUNTED_EVERY: u32 = 10_000;

/// The limit, in bytes, for everything that the interpreter holds.
const MOST_MEMORY: usize = 64 << 20;

/// Executes one command for a script.
pub(super) type Execute<'a> = &'a mut dyn FnMut(Vec<Vec<u8>>) -> Reply;

/// The loaded scripts, and the interpreter, once a script is loaded.
#[derive(Default)]
pub(super) struct Engine {
    interpreter: Option<Interpreter>,
}

struct Interpreter {
    lua: Lua,
    /// The prelude's function that runs a script.
    run: Function,
    scripts: BTreeMap<String, Function>,
    instructions: Arc<AtomicU64>,
}

impl Engine {
    /// Compiles a script and returns its hash.
    ///
    /// # Errors
    ///
    /// In the server's own words, if it is not valid Lua.
    pub(super) fn load(&mut self, source: &[u8]) -> Result<String, Reply> {
        let interpreter = match &mut self.interpreter {
            Some(interpreter) => interpreter,
            none => none.insert(Interpreter::new().map_err(|error| failure(&error))?),
        };
        let hash = sha1_smol::Sha1::from(source).digest().to_string();
        if !interpreter.scripts.contains_key(&hash) {
            let chunk =
                interpreter.lua.load(source).set_name("@user_script").set_mode(ChunkMode::Text);
            let script = chunk.into_function().map_err(|error| not_compiled(&error))?;
            interpreter.scripts.insert(hash.clone(), script);
        }
        Ok(hash)
    }

    /// Runs a loaded script; `None` if it is not loaded.
    pub(super) fn run(
        &self,
        hash: &str,
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
        execute: Execute<'_>,
    ) -> Option<Reply> {
        let interpreter = self.interpreter.as_ref()?;
        let script = interpreter.scripts.get(hash)?;
        interpreter.instructions.store(0, Ordering::Relaxed);
        let result = interpreter.run(script, keys, arguments, execute);
        Some(match result {
            _ if is_exhausted(&interpreter.instructions) => Reply::error(format!(
                "ERR the script is stopped after {MOST_INSTRUCTIONS} instructions"
            )),
            Ok((true, value)) => reply_at(&value, 0),
            Ok((false, problem)) => raised(&problem),
            Err(error) => failure(&error),
        })
    }
}

impl Interpreter {
    fn new() -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::default())?;
        lua.set_memory_limit(MOST_MEMORY)?;

        let instructions = Arc::new(AtomicU64::new(0));
        let spent = instructions.clone();
        let triggers = HookTriggers::new().every_nth_instruction(COUNTED_EVERY);
        lua.set_hook(triggers, move |_, _| {
            spent.fetch_add(COUNTED_EVERY.into(), Ordering::Relaxed);
            if is_exhausted(&spent) {
                return Err(mlua::Error::runtime("too many instructions"));
            }
            Ok(VmState::Continue)
        })?;

        let spent = instructions.clone();
        let exhausted = lua.create_function(move |_, ()| Ok(is_exhausted(&spent)))?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let run = prelude.call(exhausted)?;
        Ok(Self { lua, run, scripts: BTreeMap::new(), instructions })
    }

    /// Runs a script. Returns whether it ended well, and its result or the error that it raised.
    fn run(
        &self,
        script: &Function,
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
        execute: Execute<'_>,
    ) -> mlua::Result<(bool, Value)> {
        let strings = |words: &[Vec<u8>]| {
            let words = words.iter().map(|word| self.lua.create_string(word));
            self.lua.create_sequence_from(words.collect::<mlua::Result<Vec<_>>>()?)
        };
        let (keys, arguments) = (strings(keys)?, strings(arguments)?);
        self.lua.scope(|scope| {
            let ask = scope.create_function_mut(|lua, words: Vec<LuaString>| {
                value_of(lua, &execute(words.iter().map(|word| word.as_bytes().to_vec()).collect()))
            })?;
            self.run.call((script, keys, arguments, ask))
        })
    }
}

fn is_exhausted(instructions: &AtomicU64) -> bool {
    instructions.load(Ordering::Relaxed) > MOST_INSTRUCTIONS
}

fn not_compiled(error: &mlua::Error) -> Reply {
    let mlua::Error::SyntaxError { message, .. } = error else { return failure(error) };
    Reply::error(format!("ERR Error compiling script (new function): {message}"))
}

fn failure(error: &mlua::Error) -> Reply {
    Reply::error(format!("ERR {error}"))
}
