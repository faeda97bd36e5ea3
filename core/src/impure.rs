//! All that this package may not name, once a line: `scripts/clippy` compiles it, with `--cfg impure`, and
//! sees to it that each line is refused.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::RandomState;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Instant, SystemTime};
use std::{env, fs, io, thread};

pub(crate) type Types = (
    Option<HashMap<u8, u8>>, // refused
    Option<HashSet<u8>>,     // refused
    Option<File>,            // refused
    Option<RandomState>,     // refused
    Option<TcpListener>,     // refused
    Option<TcpStream>,       // refused
    Option<UdpSocket>,       // refused
    Option<Command>,         // refused
    Option<Instant>,         // refused
);

pub(crate) fn methods() {
    drop(SystemTime::now()); // refused
    drop(thread::spawn(|| {})); // refused
    thread::scope(|_| {}); // refused
    thread::sleep(std::time::Duration::ZERO); // refused
    drop(env::var("HOME")); // refused
    drop(env::var_os("HOME")); // refused
    drop(env::args()); // refused
    drop(fs::read("/")); // refused
    drop(fs::read_to_string("/")); // refused
    drop(fs::write("/", "")); // refused
    let _ = std::process::id(); // refused
    drop(io::stdin()); // refused
    drop(io::stdout()); // refused
    drop(io::stderr()); // refused
}

pub(crate) fn macros() {
    print!(""); // refused
    println!(); // refused
    eprint!(""); // refused
    eprintln!(); // refused
    thread_local!(static HIDDEN: u8 = const { 0 }); // refused
    drop(HIDDEN.with(|hidden| *hidden));
}
