//! Masters that are further away: a process with a proxy in front of each. A proxy delivers every
//! byte half a round trip after it arrived, however many are in flight. It is a separate process,
//! so that its CPU time is not counted for a contender.

mod relay;

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The argument that makes this program such a process. The microseconds of a round trip and the
/// masters follow it.
pub(crate) const ARGUMENT: &str = "--delay";

/// Killed on drop.
pub(crate) struct Delay {
    process: Child,
    /// The addresses of the masters through it.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Delay {
    pub(crate) fn start(masters: &[SocketAddr], round_trip: Duration) -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let mut command = Command::new(program);
        command.args([ARGUMENT, &round_trip.as_micros().to_string()]);
        command.args(masters.iter().map(SocketAddr::to_string));
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a proxy");
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().expect("its standard output"));
        stdout.read_line(&mut line).expect("its addresses");
        let address = |word: &str| word.parse().expect("an address");
        let addresses: Vec<_> = line.split_whitespace().map(address).collect();
        assert_eq!(addresses.len(), masters.len(), "a proxy for each master");
        Self { process, addresses }
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        let _already_gone = self.process.kill();
        let _already_reaped = self.process.wait();
    }
}

/// Serves until standard input ends, which happens when the process at its other end does.
pub(crate) fn serve(mut args: impl Iterator<Item = String>) {
    let micros = args.next().and_then(|micros| micros.parse().ok()).expect("microseconds");
    let one_way = Duration::from_micros(micros) / 2;
    relay::sleep_precisely();
    let addresses = args.map(|master| start(master.parse().expect("an address"), one_way));
    let words: Vec<_> = addresses.map(|address| address.to_string()).collect();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", words.join(" ")).and_then(|()| stdout.flush()).expect("a reader");
    let _ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

/// Starts a proxy in front of this master; returns its address.
fn start(master: SocketAddr, one_way: Duration) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A client that disconnects at once, or a master that is down, ends this connection
            // only.
            let _ended = relay::join(&client, master, one_way);
        }
    });
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpStream;
    use std::time::Instant;

    /// Echoes each byte.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut reader = stream.try_clone().expect("a second handle");
            std::io::copy(&mut reader, &mut stream)
        });
        address
    }

    #[test]
    fn bytes_sent_in_succession_take_one_round_trip_in_all() {
        let round_trip = Duration::from_millis(100);
        let address = start(echo(), round_trip / 2);
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("TCP_NODELAY");
        let (began, mut last) = (Instant::now(), Instant::now());
        for byte in 0..20 {
            stream.write_all(&[byte]).expect("a byte sent");
            thread::sleep(Duration::from_millis(5));
            last = Instant::now();
        }
        let mut all = [0; 20];
        stream.read_exact(&mut all[..1]).expect("the first");
        assert!(began.elapsed() >= round_trip, "{:?}", began.elapsed());
        stream.read_exact(&mut all[1..]).expect("the others");
        assert!(all.iter().copied().eq(0..20), "{all:?}");
        // One round trip each would take two seconds.
        assert!(last.elapsed() < 5 * round_trip, "{:?}", last.elapsed());
    }

    #[test]
    fn the_end_of_a_connection_comes_through_behind_what_was_sent() {
        let address = start(echo(), Duration::from_millis(5));
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(b"last words").expect("bytes sent");
        stream.shutdown(std::net::Shutdown::Write).expect("an end");
        let mut back = Vec::new();
        stream.read_to_end(&mut back).expect("an end");
        assert_eq!(back, b"last words");
    }
}
