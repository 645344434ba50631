//! TLS towards the target: which certificates are trusted, and why a handshake failed.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use crate::{environment::Environment, files, network::ConnectError};

/// The HTTP versions that the handshake offers, the preferred one first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Which certificates are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// A file of PEM certificates that are trusted instead of the platform's (`--cacert`).
    pub cacert: Option<PathBuf>,
    /// Trust any certificate (`--insecure`).
    pub insecure: bool,
}

/// What is wrong with the processor.
const NO_CRYPTOGRAPHY: &str = "https:// needs an x86_64 processor with AES, ADX and AVX2, or an aarch64 one with the crypto extensions: \
    here, put a proxy that ends TLS in front and give its http:// URL";

impl Trust {
    /// Makes the connector.
    pub(crate) fn connector(&self) -> Result<TlsConnector, ConnectError> {
        let provider = Arc::new(provider()?);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|cause| ConnectError::of(format!("TLS: {cause}")))?;
        let mut config = if self.insecure {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
                .with_no_client_auth()
        } else {
            let roots = if let Some(path) = &self.cacert { roots_of_file(path)? } else { platform_roots()? };
            builder.with_root_certificates(roots).with_no_client_auth()
        };
        config.alpn_protocols = ALPN.iter().map(|name| name.to_vec()).collect();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// The cryptography. It panics on a processor without the instructions that it is written in, so these are checked first.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn provider() -> Result<CryptoProvider, ConnectError> {
    #[cfg(target_arch = "x86_64")]
    let able = is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("adx")
        && is_x86_feature_detected!("avx")
        && is_x86_feature_detected!("avx2");
    #[cfg(target_arch = "aarch64")]
    let able = std::arch::is_aarch64_feature_detected!("neon")
        && std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull")
        && std::arch::is_aarch64_feature_detected!("sha2");
    if able { Ok(rustls_graviola::default_provider()) } else { Err(ConnectError::of(NO_CRYPTOGRAPHY)) }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn provider() -> Result<CryptoProvider, ConnectError> {
    Err(ConnectError::of(NO_CRYPTOGRAPHY))
}

fn roots_of_file(path: &Path) -> Result<RootCertStore, ConnectError> {
    fn failed<E: Display>(path: &Path) -> impl FnOnce(E) -> ConnectError {
        |cause| ConnectError::of(format!("--cacert {}: {cause}", path.display()))
    }
    let mut roots = RootCertStore::empty();
    let text = files::read(path, files::WRITTEN_BY_HAND).map_err(failed(path))?;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        roots.add(certificate.map_err(failed(path))?).map_err(failed(path))?;
    }
    if roots.is_empty() { Err(failed(path)("no PEM certificate in this file")) } else { Ok(roots) }
}

fn platform_roots() -> Result<RootCertStore, ConnectError> {
    let environment = Environment::of_process();
    let variable = |name| environment.get(name).map_err(ConnectError::of);
    let file = variable("SSL_CERT_FILE")?;
    if let Some(path) = &file {
        // A file without end would be read for ever.
        files::read(Path::new(path), files::WRITTEN_BY_HAND)
            .map_err(|cause| ConnectError::of(format!("SSL_CERT_FILE {path}: {cause}")))?;
    }
    let found = match (file, variable("SSL_CERT_DIR")?) {
        (None, None) => unnamed_roots(),
        _ => rustls_native_certs::load_native_certs(),
    };
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let cause = found.errors.first().map(|cause| format!(" ({cause})")).unwrap_or_default();
        let remedy = "install them (ca-certificates), set SSL_CERT_FILE, or give --cacert FILE";
        return Err(ConnectError::of(format!("no root certificates found on this machine{cause}: {remedy}")));
    }
    Ok(roots)
}

/// The roots of the platform where no variable names other ones. `load_native_certs` takes an empty `SSL_CERT_FILE` for the name of a file.
#[cfg(all(unix, not(target_os = "macos")))]
fn unnamed_roots() -> rustls_native_certs::CertificateResult {
    let found = openssl_probe::probe();
    // The first folder can be that of an empty `SSL_CERT_DIR`.
    let folder = found.cert_dir.last().map(PathBuf::as_path);
    rustls_native_certs::load_certs_from_paths(found.cert_file.as_deref(), folder)
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
use rustls_native_certs::load_native_certs as unnamed_roots;

/// Trusts any certificate. The signature of the handshake is still verified: the server holds the key of the certificate that it sent.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Why a TLS handshake failed.
pub(crate) fn handshake_text(cause: &io::Error) -> String {
    let inner = cause.get_ref().and_then(|inner| inner.downcast_ref());
    let text = match inner {
        Some(rustls::Error::InvalidCertificate(cause)) => {
            &format!("{}, or go on without looking with --insecure", certificate_text(cause))
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            "what answers on this port does not speak TLS: is it an http:// URL?"
        }
        Some(rustls::Error::AlertReceived(alert)) => {
            &format!("the target refused the handshake (alert {alert:?})")
        }
        Some(cause) => &cause.to_string(),
        None if cause.kind() == io::ErrorKind::UnexpectedEof => {
            "the connection was closed in the middle of the handshake: does this port speak TLS?"
        }
        None => &format!("the handshake ended: {cause}"),
    };
    format!("TLS: {text}")
}

fn certificate_text(cause: &CertificateError) -> String {
    use CertificateError as Cause;
    let text = match cause {
        Cause::Expired | Cause::ExpiredContext { .. } => "has expired: renew it",
        Cause::NotValidYet | Cause::NotValidYetContext { .. } => {
            "is not valid yet: look at its dates and at the clock of this machine"
        }
        Cause::UnknownIssuer => {
            "is signed by an issuer that is not trusted here (unknown issuer): give the issuer's certificate with --cacert FILE"
        }
        Cause::NotValidForName => "is for another host name: use the name that it is for",
        Cause::NotValidForNameContext { presented, .. } => {
            let names = if presented.is_empty() { "no name at all" } else { &presented.join(", ") };
            &format!("is for another host name ({names}): use a name that it is for")
        }
        Cause::Revoked => "has been revoked: renew it",
        other if other.to_string().contains("CaUsedAsEndEntity") => {
            return "the target shows the certificate of a certificate authority as its own: make one that is no CA's (basicConstraints CA:FALSE)".to_owned();
        }
        other => &format!("is not valid ({other}): mend it"),
    };
    format!("the target's certificate {text}")
}
