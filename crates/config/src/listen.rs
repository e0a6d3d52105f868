//! The address on which the server listens: a loopback address or a socket in the file system.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::{fmt, io};

use super::ConfigError;

/// The longest path that fits into a socket's address.
pub const LONGEST_SOCKET_PATH: usize = 107;

/// An address on which the server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A loopback address. Port 0 means any free port.
    Tcp(SocketAddr),
    /// A socket file with mode 0600.
    Unix(PathBuf),
}

impl Listen {
    /// The same with an absolute path, since clients look for the socket from other directories.
    pub fn absolute(self) -> io::Result<Listen> {
        match self {
            Listen::Unix(path) => Ok(Listen::Unix(std::path::absolute(path)?)),
            tcp @ Listen::Tcp(_) => Ok(tcp),
        }
    }
}

impl FromStr for Listen {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Listen, ConfigError> {
        let refuse = |why: &str| Err(ConfigError::Address(format!("cannot listen on `{text}`: {why}")));
        if let Some(path) = text.strip_prefix("unix:") {
            return match path.len() {
                0 => refuse("there is no path after `unix:`"),
                1..=LONGEST_SOCKET_PATH => Ok(Listen::Unix(path.into())),
                _ => refuse("a socket's path has at most 107 bytes"),
            };
        }
        let address = match text.rsplit_once(':') {
            Some(("localhost", port)) => port.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))).ok(),
            _ => text.parse().ok(),
        };
        match address {
            None => refuse("neither ADDRESS:PORT, as `127.0.0.1:7878`, nor `unix:PATH`"),
            Some(address) if is_loopback(address.ip()) => Ok(Listen::Tcp(address)),
            Some(_) => refuse(
                "it can be reached from other machines, and anybody who reaches semdex reads and writes your files. \
                 Take 127.0.0.1 or unix:PATH, and ssh to come from elsewhere",
            ),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => write!(f, "{address}"),
            Listen::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_and_sockets_are_taken() {
        for text in ["127.0.0.1:7878", "127.0.0.1:0", "127.8.9.1:80", "[::1]:7878", "unix:/run/semdex.sock", "unix:s"] {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), text);
        }
        assert_eq!("localhost:0".parse::<Listen>().unwrap().to_string(), "127.0.0.1:0");
        assert!("[::ffff:127.0.0.1]:1".parse::<Listen>().is_ok());
    }

    #[test]
    fn others_are_refused_with_the_reason() {
        let long = format!("unix:/{}", "x".repeat(107));
        for (text, why) in [
            ("0.0.0.0:7878", "other machines"),
            ("192.168.1.2:7878", "other machines"),
            ("[::]:7878", "other machines"),
            ("7878", "ADDRESS:PORT"),
            ("127.0.0.1", "ADDRESS:PORT"),
            ("localhost:99999", "ADDRESS:PORT"),
            ("example.org:80", "ADDRESS:PORT"),
            ("", "ADDRESS:PORT"),
            ("unix:", "no path"),
            (&long, "107 bytes"),
        ] {
            let error = text.parse::<Listen>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(text), "{text}: {error}");
        }
    }
}
