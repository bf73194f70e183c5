//! Things of the host that a script must never reach: listeners, and a process of the service's user.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::pass::Pass;
use crate::reaper;

/// Listeners that nobody may talk to. What came waits in the kernel until it is asked for.
#[derive(Debug)]
pub(crate) struct Listeners {
    tcp: Vec<TcpListener>,
    udp: UdpSocket,
    path: UnixListener,
    hidden: UnixListener,
    pub(crate) port: u16,
}

impl Listeners {
    /// Loopback TCP and UDP on one port, a socket at a path and one with an abstract name.
    pub(crate) fn open(path: &Path, name: &str) -> Result<Self> {
        let (tcp, udp, port) = loopback()?;
        let at_path = UnixListener::bind(path).with_context(|| path.display().to_string())?;
        let hidden = UnixListener::bind_addr(&UnixAddress::from_abstract_name(name)?)?;
        tcp.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        udp.set_nonblocking(true)?;
        at_path.set_nonblocking(true)?;
        hidden.set_nonblocking(true)?;
        Ok(Self { tcp, udp, path: at_path, hidden, port })
    }

    /// Those that somebody talked to.
    pub(crate) fn touched(&self) -> Vec<String> {
        let tcp = self.tcp.iter().map(|listener| ("tcp", listener.accept().err().map(|error| error.kind())));
        let others = [
            ("udp", self.udp.recv(&mut [0; 16]).err().map(|error| error.kind())),
            ("path", self.path.accept().err().map(|error| error.kind())),
            ("abstract", self.hidden.accept().err().map(|error| error.kind())),
        ];
        let touched = tcp.chain(others).filter(|(_, error)| *error != Some(ErrorKind::WouldBlock));
        touched.map(|(name, _)| format!("the {name} listener was touched")).collect()
    }
}

fn loopback() -> Result<(Vec<TcpListener>, UdpSocket, u16)> {
    for _ in 0..50 {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = first.local_addr()?.port();
        let Ok(udp) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) else { continue };
        let other: [SocketAddr; 2] =
            [(Ipv4Addr::new(127, 1, 2, 3), port).into(), (std::net::Ipv6Addr::LOCALHOST, port).into()];
        // A host without IPv6 has one less.
        let others = other.into_iter().filter_map(|address| TcpListener::bind(address).ok());
        return Ok(([first].into_iter().chain(others).collect(), udp, port));
    }
    bail!("no port is free for both TCP and UDP")
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?.local_addr()?.port())
}

/// Tries to reach a port of this host until told to stop; whether that ever worked.
pub(crate) fn reaches(port: u16, stop: &AtomicBool) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    while !stop.load(Ordering::Relaxed) {
        if TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// A process of the service's user that does nothing; it ends with this value.
#[derive(Debug)]
pub(crate) struct Decoy(Child);

impl Decoy {
    /// Starts it with a word in its command line.
    pub(crate) fn start(pass: &Pass, word: &str) -> Result<Self> {
        let mut line = pass.command_line("sh").into_iter();
        let mut command = reaper::start(line.next().unwrap_or_default());
        // It waits for a line that never comes: the pipe closes when this harness ends.
        command.args(line).args(["-c", "read -r line", "decoy", word]).current_dir("/");
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().context("a decoy process")?;
        Ok(Self(child))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// What happened to it.
    pub(crate) fn harm(&mut self) -> Result<Option<String>> {
        if let Some(status) = self.0.try_wait()? {
            return Ok(Some(format!("the decoy ended: {status}")));
        }
        let stat = i32::try_from(self.pid()).ok().and_then(reaper::stat).unwrap_or_default();
        let state = stat.first().map_or("?", String::as_str);
        Ok((!matches!(state, "S" | "R" | "D")).then(|| format!("the decoy is in state {state}")))
    }
}

impl Drop for Decoy {
    fn drop(&mut self) {
        // Both fail only where it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
