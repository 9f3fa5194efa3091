//! TLS, as in Erlang nodes with `-proto_dist inet_tls`.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use erl_dist::node::NodeName;
use tokio::net::TcpStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::error::Error;
use super::socket::Socket;

/// A node's certificate and key, and the authorities that it trusts. Needs the feature `dist-tls`.
///
/// Both sides of a connection show a certificate, and each must be of an authority that the other side trusts. The certificate of a
/// node that is dialled must be for the host in that node's name. The cookie is still required. If the host is an address, Erlang looks
/// for it among the DNS names of the certificate, and dyntrace among the addresses.
///
/// TLS 1.2 and 1.3 are supported. An Erlang node that fits has
/// `-proto_dist inet_tls -ssl_dist_opt server_certfile ... server_keyfile ... server_cacertfile ... server_verify verify_peer
/// server_fail_if_no_peer_cert true`, and the same for `client_`.
///
/// ```no_run
/// # mod dyntrace { pub use dyntrace_dist as dist; }
/// use dyntrace::dist::{Node, Options, Tls};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), dyntrace::dist::Error> {
/// let tls = Tls::from_pem("node.pem", "node.key", "authorities.pem")?;
/// let node = Node::start_with("worker@10.0.0.7", "the cookie", Options { tls: Some(tls), ..Default::default() })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tls {
    client: TlsConnector,
    server: TlsAcceptor,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads PEM files: the node's certificate with the chain to an authority, its private key, and the trusted authorities.
    ///
    /// # Errors
    ///
    /// [`Error::Certificate`] if a file cannot be read, has no such entry, or does not fit the others.
    pub fn from_pem(
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
        authorities: impl AsRef<Path>,
    ) -> Result<Tls, Error> {
        let (certificate, key, authorities) = (certificate.as_ref(), key.as_ref(), authorities.as_ref());
        let chain = certificates(certificate)?;
        let mut roots = RootCertStore::empty();
        for authority in certificates(authorities)? {
            roots.add(authority).map_err(|reason| unfit(authorities, reason))?;
        }
        let (roots, provider) = (Arc::new(roots), Arc::new(ring::default_provider()));
        let key_of_client = PrivateKeyDer::from_pem_file(key).map_err(|reason| unfit(key, reason))?;
        let key_of_server = key_of_client.clone_key();
        let client = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|reason| unfit(certificate, reason))?
            .with_root_certificates(roots.clone())
            .with_client_auth_cert(chain.clone(), key_of_client)
            .map_err(|reason| unfit(certificate, reason))?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(|reason| unfit(authorities, reason))?;
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|reason| unfit(certificate, reason))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key_of_server)
            .map_err(|reason| unfit(certificate, reason))?;
        Ok(Tls { client: Arc::new(client).into(), server: Arc::new(server).into() })
    }

    /// Does the handshake of the dialling side with the node `name`.
    pub(super) async fn dial(&self, socket: TcpStream, name: &NodeName) -> Result<Socket, Error> {
        let host = ServerName::try_from(name.host().to_owned());
        let host = host.map_err(|reason| Error::tls(name, io::Error::other(reason)))?;
        let socket = self.client.connect(host, socket).await.map_err(|reason| Error::tls(name, reason))?;
        Ok(Socket::Tls(Box::new(socket.into())))
    }

    /// Does the handshake of the accepting side.
    pub(super) async fn accept(&self, socket: TcpStream) -> Result<Socket, Error> {
        let socket = self.server.accept(socket).await.map_err(|reason| Error::tls("a peer", reason))?;
        Ok(Socket::Tls(Box::new(socket.into())))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let certificates: Vec<_> = read.map_err(|reason| unfit(file, reason))?;
    if certificates.is_empty() { Err(unfit(file, "it has no certificate")) } else { Ok(certificates) }
}

fn unfit(file: &Path, reason: impl fmt::Display) -> Error {
    Error::Certificate { file: file.to_owned(), reason: reason.to_string() }
}
