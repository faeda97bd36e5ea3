//! One connection, in both directions: the reader stamps bytes with the time at which they are due,
//! and the writer waits for that. It uses threads, since tokio's timers are no finer than a
//! millisecond.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

struct Chunk {
    due: Instant,
    bytes: Vec<u8>,
}

/// Makes threads of this one wake up on time, and not up to 50 us later: by default the kernel may
/// delay timers to bundle them.
pub(super) fn sleep_precisely() {
    #[cfg(target_os = "linux")]
    {
        let finest = std::num::NonZeroU64::new(1);
        rustix::thread::set_current_timer_slack(finest).expect("a finer timer");
    }
}

pub(super) fn join(client: &TcpStream, master: SocketAddr, one_way: Duration) -> io::Result<()> {
    let master = TcpStream::connect(master)?;
    relay(client, &master, one_way)?;
    relay(&master, client, one_way)
}

/// Relays one direction, until it ends.
fn relay(from: &TcpStream, to: &TcpStream, one_way: Duration) -> io::Result<()> {
    to.set_nodelay(true)?;
    let (from, to) = (from.try_clone()?, to.try_clone()?);
    let (sender, chunks) = mpsc::channel();
    thread::spawn(move || read(from, one_way, &sender));
    thread::spawn(move || write(to, &chunks));
    Ok(())
}

fn read(mut from: TcpStream, one_way: Duration, chunks: &Sender<Chunk>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let chunk = Chunk { due: Instant::now() + one_way, bytes: buffer[..length].to_vec() };
        if chunks.send(chunk).is_err() {
            return;
        }
    }
}

fn write(mut to: TcpStream, chunks: &Receiver<Chunk>) {
    for Chunk { due, bytes } in chunks {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _already_closed = to.shutdown(Shutdown::Write);
}
