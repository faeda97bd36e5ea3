//! Masters to break: redis-server processes that end with the value that started them.

use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(10);

const NOT_INSTALLED: &str = "redis-server is not on PATH: install Redis 6.2 or later \
                             (scripts/redis-server does it where there is apt-get)";

/// One redis-server on 127.0.0.1 that keeps nothing. Killed and reaped on drop.
pub(crate) struct Master {
    address: SocketAddr,
    /// Bound, not listening: keeps the port for the server that comes back.
    _port: Socket,
    directory: TempDir,
    process: Child,
}

impl Master {
    /// Starts one; it answers when this returns.
    pub(crate) fn start() -> Result<Self, String> {
        let (port, address) = free_port().map_err(|error| format!("no free port: {error}"))?;
        let directory = tempfile::Builder::new().prefix("quorumlock-").tempdir();
        let directory = directory.map_err(|error| format!("no temporary directory: {error}"))?;
        let process = spawn(address, &directory)?;
        let mut master = Self { address, _port: port, directory, process };
        master.await_ready()?;
        Ok(master)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn is_up(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Kills it (SIGKILL): no goodbye, nothing saved.
    pub(crate) fn kill(&mut self) {
        let _already_gone = self.process.kill();
        let _already_reaped = self.process.wait();
    }

    /// Brings it back on the same port, empty; it answers when this returns.
    pub(crate) fn come_back(&mut self) -> Result<(), String> {
        self.kill();
        self.process = spawn(self.address, &self.directory)?;
        self.await_ready()
    }

    fn await_ready(&mut self) -> Result<(), String> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!("redis-server on {} ended: {status}", self.address));
            }
            if answers(self.address) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(format!("redis-server on {} does not answer", self.address))
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The bind is exclusive; only afterwards does the socket allow a server beside it.
fn free_port() -> io::Result<(Socket, SocketAddr)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    socket.set_reuse_address(true)?;
    let address = socket.local_addr()?.as_socket();
    let address = address.ok_or_else(|| io::Error::other("the socket has no IPv4 address"))?;
    Ok((socket, address))
}

fn spawn(address: SocketAddr, directory: &TempDir) -> Result<Child, String> {
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string()]);
    command.args(["--save", "", "--appendonly", "no", "--daemonize", "no"]);
    command.arg("--dir").arg(directory.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C in a terminal is for the demonstration, which then ends its masters itself.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => NOT_INSTALLED.to_owned(),
        _ => format!("redis-server does not start: {error}"),
    })
}

fn answers(address: SocketAddr) -> bool {
    let ask = || -> io::Result<bool> {
        let limit = Duration::from_millis(200);
        let mut stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_read_timeout(Some(limit))?;
        stream.write_all(b"PING\r\n")?;
        let mut reply = [0; 7];
        stream.read_exact(&mut reply)?;
        Ok(&reply == b"+PONG\r\n")
    };
    ask().unwrap_or(false)
}
