//! The command `quorumlock`: a program under a lock, and an operator's view of locks and masters.
//! `docs/cli.md` is its manual.

// Much is of `run` and `elect` alone.
#![cfg_attr(not(unix), allow(dead_code))]

mod args;
mod doctor;
mod exit;
mod failure;
mod holder;
mod inspect;
mod list;
mod output;
mod pages;
#[cfg(unix)]
mod run;
mod settings;
mod style;
mod watch;

use args::{Args, Command, MastersArgs};
use failure::{Failure, Result};
use output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    #[cfg(unix)]
    if let Some(code) = run::helper(&arguments) {
        return code;
    }
    let mut output = Output::asked_for(&arguments);
    let ended = match args::parse(&arguments) {
        Ok(Args { masters, json, verbose, color, command, given }) => {
            output = Output { json, verbose, color };
            perform(command, masters, output).map_err(|failure| failure.by_options(&given))
        }
        Err(error) if error.use_stderr() => {
            Err(Failure::usage(args::in_one_line(&error.to_string(), &arguments)))
        }
        Err(shown) => Output::plain(&shown.to_string()),
    };
    let exit = ended.unwrap_or_else(|failure| {
        output.fail(&failure);
        failure.exit
    });
    ExitCode::from(exit.code)
}

fn perform(command: Command, masters: MastersArgs, output: Output) -> Result {
    let is_page = matches!(command, Command::Completions { .. } | Command::Man { .. });
    if !is_page && let Some(file) = settings::file(&masters) {
        output.note(&format!("settings from {}", file.display()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::system("no runtime", &error))?;
    let ended = runtime.block_on(async {
        match command {
            #[cfg(unix)]
            Command::Run(run) => run::run(*run, masters, output).await,
            #[cfg(unix)]
            Command::Elect(elect) => run::elect(*elect, masters, output).await,
            // Without process groups there is no guarantee that a command ends with its lock.
            #[cfg(not(unix))]
            Command::Run(_) | Command::Elect(_) => {
                let problem = "run and elect need a Unix: there are no process groups here";
                Err(Failure::new(exit::Exit::SYSTEM, problem))
            }
            Command::Inspect(args) => inspect::inspect(args, masters, output).await,
            Command::List(args) => list::list(args, masters, output).await,
            Command::Watch(args) => watch::watch(args, masters, output).await,
            Command::Ask(args) => holder::ask(args, masters, output).await,
            Command::ForceRelease(args) => holder::force_release(args, masters, output).await,
            Command::Doctor(args) => doctor::doctor(args, masters, output).await,
            Command::Completions { shell } => pages::completions(shell),
            Command::Man { command } => pages::man(command.as_deref()),
        }
    });
    // Do not wait for a name that is still being resolved.
    runtime.shutdown_background();
    ended
}
