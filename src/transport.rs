//! The ways to a master, as an address names them and the driver dials them.

use std::io;
#[cfg(unix)]
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// A stream over which the driver moves bytes. TLS buffers: written bytes leave only once flushed.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for T {}

pub(crate) type BoxStream = Box<dyn Stream>;

/// A user's own way to a master: an SSH tunnel, a simulated network, an embedded master.
pub(crate) type Dial = Arc<dyn Fn() -> Dialing + Send + Sync>;

type Dialing = Pin<Box<dyn Future<Output = io::Result<BoxStream>> + Send>>;

/// The address of a master, and the way to reach it.
#[derive(Clone)]
pub(crate) enum Transport {
    Tcp {
        host: String,
        port: u16,
    },
    #[cfg(feature = "tls")]
    Tls {
        host: String,
        port: u16,
        config: crate::tls::Trust,
    },
    #[cfg(unix)]
    Unix(PathBuf),
    Custom(Dial),
}

impl Transport {
    /// Returns whether the dial uses TLS. A plain master that is greeted in TLS says nothing, so it
    /// helps to say which side did not answer.
    pub(crate) const fn is_tls(&self) -> bool {
        #[cfg(feature = "tls")]
        if matches!(self, Self::Tls { .. }) {
            return true;
        }
        false
    }

    /// Returns the possible cause if a connection ends before anything is received over it.
    pub(crate) const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Tcp { .. } => Some("if this port speaks TLS, write rediss://"),
            #[cfg(feature = "tls")]
            Self::Tls { .. } => {
                Some("if it asks for a client certificate, name one in tls_cert_file or tls_config")
            }
            _ => None,
        }
    }
}

/// Hint for a port that speaks no TLS: a plain master takes a TLS greeting for the beginning of a
/// line, and waits for its end.
pub(crate) const PLAIN_PORT: &str = "if this port does not speak TLS, write redis://";
