//! A script of a master, and as much of a server as it asks for.

use mlua::{Function, Lua};

/// A script on a server of its own.
pub(crate) struct Script {
    pub(crate) lua: Lua,
    pub(crate) script: Function,
}

impl Script {
    /// Loads a script next to what stands for its server.
    pub(crate) fn on(server: &str, source: &str) -> Self {
        let lua = Lua::new();
        lua.load(server).exec().expect("the server's part");
        let script = lua.load(source).into_function().expect("a script of the crate");
        Self { lua, script }
    }
}
