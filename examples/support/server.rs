//! One redis-server process that ends with the value that started it.

use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// Bound on the time until a server answers.
const PATIENCE: Duration = Duration::from_secs(10);

/// One redis-server on 127.0.0.1 that stores nothing on disk. Killed and reaped on drop.
pub(crate) struct Server {
    address: SocketAddr,
    /// Bound, not listening: reserves the port for the server that comes back.
    _port: Socket,
    directory: TempDir,
    process: Mutex<Child>,
}

impl Server {
    /// Starts a server, without waiting until it answers. `None` if there is no redis-server here.
    pub(crate) fn start() -> Result<Option<Self>, String> {
        let (port, address) = free_port().map_err(|error| format!("no free port: {error}"))?;
        let directory = tempfile::Builder::new().prefix("quorumlock-").tempdir();
        let directory = directory.map_err(|error| format!("no temporary directory: {error}"))?;
        match spawn(address, &directory) {
            Ok(process) => {
                let process = Mutex::new(process);
                Ok(Some(Self { address, _port: port, directory, process }))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("redis-server does not start: {error}")),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Kills it (SIGKILL): it closes nothing and saves nothing. It may die only after this returns.
    pub(crate) fn kill(&self) {
        let _already_gone = self.process().kill();
    }

    /// Kills it, and waits until it is gone.
    pub(crate) fn end(&self) {
        self.kill();
        let _already_reaped = self.process().wait();
    }

    /// Brings it back on the same port, empty; it answers when this returns.
    pub(crate) async fn come_back(&self) -> Result<(), String> {
        self.end();
        let process = spawn(self.address, &self.directory);
        *self.process() = process.map_err(|error| format!("redis-server is gone: {error}"))?;
        self.answers().await
    }

    /// Returns once it answers.
    pub(crate) async fn answers(&self) -> Result<(), String> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Ok(Some(status)) = self.process().try_wait() {
                return Err(format!("redis-server on {} ended: {status}", self.address));
            }
            if let Ok(Ok(true)) = timeout(Duration::from_millis(200), ping(self.address)).await {
                return Ok(());
            }
            sleep(Duration::from_millis(5)).await;
        }
        Err(format!("redis-server on {} does not answer", self.address))
    }

    fn process(&self) -> MutexGuard<'_, Child> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Finds a free port. The bind is exclusive; only afterwards does the socket allow a server next to
/// it.
fn free_port() -> io::Result<(Socket, SocketAddr)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    socket.set_reuse_address(true)?;
    let address = socket.local_addr()?.as_socket();
    let address = address.ok_or_else(|| io::Error::other("the socket has no IPv4 address"))?;
    Ok((socket, address))
}

fn spawn(address: SocketAddr, directory: &TempDir) -> io::Result<Child> {
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string()]);
    command.args(["--save", "", "--appendonly", "no", "--daemonize", "no"]);
    command.arg("--dir").arg(directory.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C in a terminal is meant for the demonstration, which then ends its masters itself.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

async fn ping(address: SocketAddr) -> io::Result<bool> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"PING\r\n").await?;
    let mut reply = [0; 7];
    stream.read_exact(&mut reply).await?;
    Ok(&reply == b"+PONG\r\n")
}
