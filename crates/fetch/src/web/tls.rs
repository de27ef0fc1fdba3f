//! TLS by rustls with ring: trusted roots, and the causes of failed handshakes.
//!
//! # Promises
//! - An invalid certificate ends the exchange with its fault; it is never accepted.
//! - HTTP/2 is offered first, then HTTP/1.1.

use std::io;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error, RootCertStore};

use super::answer::{Failure, TlsFault};

/// The client configuration: protocols, and Mozilla's root certificates with those of the user.
pub(super) fn client(extra_roots: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in extra_roots {
        roots.add(root.clone())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(client))
}

/// The cause of a failed handshake.
pub(super) fn failure(error: &io::Error) -> Failure {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    Failure::Tls(match inner {
        Some(error) => fault(error),
        None if is_ending(error.kind()) => TlsFault::Closed,
        None => TlsFault::Other(error.kind().to_string()),
    })
}

fn is_ending(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

fn fault(error: &Error) -> TlsFault {
    match error {
        Error::InvalidCertificate(certificate) => certificate_fault(certificate),
        Error::NoCertificatesPresented => TlsFault::BadCertificate("none presented".to_owned()),
        Error::PeerIncompatible(_) | Error::NoApplicationProtocol => TlsFault::NothingInCommon,
        Error::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion) => {
            TlsFault::NothingInCommon
        }
        Error::AlertReceived(alert) => TlsFault::Alert(format!("{alert:?}")),
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } | Error::PeerSentOversizedRecord => {
            TlsFault::NotTls
        }
        other => TlsFault::Other(other.to_string()),
    }
}

fn certificate_fault(error: &CertificateError) -> TlsFault {
    use CertificateError as E;
    match error {
        E::Expired | E::ExpiredContext { .. } => TlsFault::Expired,
        E::NotValidYet | E::NotValidYetContext { .. } => TlsFault::NotYetValid,
        E::UnknownIssuer => TlsFault::UnknownIssuer,
        E::NotValidForName | E::NotValidForNameContext { .. } => TlsFault::WrongName,
        E::Revoked => TlsFault::Revoked,
        other => TlsFault::BadCertificate(other.to_string()),
    }
}
