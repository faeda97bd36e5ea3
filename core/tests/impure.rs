//! Everything that this package may not name, once a line, and a function of std that is newer than the
//! declared Rust version. `scripts/clippy` compiles it with `--cfg impure` and checks that each line is
//! refused.
#![cfg(impure)]

pub(crate) type Types = (
    Option<std::collections::HashMap<u8, u8>>, // refused
    Option<std::collections::HashSet<u8>>,     // refused
    Option<std::fs::File>,                     // refused
    Option<std::hash::RandomState>,            // refused
    Option<std::net::TcpListener>,             // refused
    Option<std::net::TcpStream>,               // refused
    Option<std::net::UdpSocket>,               // refused
    Option<std::process::Command>,             // refused
    Option<std::time::Instant>,                // refused
);

pub(crate) fn methods() {
    let _ = std::time::SystemTime::now(); // refused
    let _ = std::thread::spawn(|| {}); // refused
    std::thread::scope(|_| {}); // refused
    std::thread::sleep(std::time::Duration::ZERO); // refused
    let _ = std::env::var("HOME"); // refused
    let _ = std::env::var_os("HOME"); // refused
    let _ = std::env::args(); // refused
    let _ = std::fs::read("/"); // refused
    let _ = std::fs::read_to_string("/"); // refused
    let _ = std::fs::write("/", ""); // refused
    let _ = std::process::id(); // refused
    let _ = std::io::stdin(); // refused
    let _ = std::io::stdout(); // refused
    let _ = std::io::stderr(); // refused
}

pub(crate) const fn newer() -> std::time::Duration {
    std::time::Duration::from_mins(1) // refused
}

pub(crate) fn macros() {
    print!(""); // refused
    println!(); // refused
    eprint!(""); // refused
    eprintln!(); // refused
    thread_local!(static HIDDEN: u8 = const { 0 }); // refused
    HIDDEN.with(|_| {});
}
