//! Access control. Every web page that the user opens can reach a service on the loopback interface (by DNS rebinding
//! or by simple cross-site requests), and so can every other user of the machine. So Host and Origin are checked before
//! anything else, and over TCP a token is required. A connection by a socket file needs none: the file's mode and the
//! user of the peer guard it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use axum::middleware::Next;
use axum::response::Response;

use super::grant::{Credentials, Grant, Via};
use super::listen::Line;
use super::problem::Refusal;
use super::{document, hello, pages};
use semdex_model::{Code, Error, Result};

/// The response says only that the process is alive.
pub(crate) const HEALTH: &str = "/healthz";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Debug, Clone)]
pub(crate) struct AuthGuard {
    /// `None`: no client needs a token, and the server cannot prove itself.
    pub credentials: Option<Arc<Credentials>>,
}

/// The layer before every route.
pub(crate) async fn guard(
    State(guard): State<AuthGuard>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let via = request.extensions().get::<Via>().copied();
    // A request without a known connection gets the stricter check.
    if !matches!(via, Some(Via::Unix)) {
        let reached = via.and_then(|it| if let Via::Tcp(address) = it { Some(address) } else { None });
        own_host(request.headers(), request.uri(), reached)?;
    }
    own_origin(request.headers())?;
    let grant = match guard.credentials {
        Some(by) if by.is_token_required && !matches!(via, Some(Via::Unix)) && !is_free(request.uri().path()) => {
            authorized(request.headers(), by)?
        }
        _ => Grant::default(),
    };
    if !is_free(request.uri().path())
        && let Some(line) = request.extensions().get::<Line>()
    {
        line.is_known();
    }
    request.extensions_mut().insert(grant);
    Ok(next.run(request).await)
}

/// Paths without a token, since their responses contain nothing of a workspace.
fn is_free(path: &str) -> bool {
    path == HEALTH || path == hello::PATH || path == document::PATH || pages::is_page(path)
}

fn own_host(headers: &HeaderMap, uri: &Uri, reached: Option<IpAddr>) -> Result<()> {
    let mut given = headers.get_all(header::HOST).iter();
    let host = match (given.next(), given.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default(),
        _ => return Err(forbidden_host("a request names its host exactly once")),
    };
    // A target in absolute form would take precedence over Host, so it has to agree.
    let names = std::iter::once(host).chain(uri.authority().map(Authority::as_str));
    for name in names {
        if !is_own_name(name, reached) {
            let detail = format!("this server is reached as `localhost` or `127.0.0.1`, not as `{name}`");
            return Err(forbidden_host(&detail));
        }
    }
    Ok(())
}

fn forbidden_host(detail: &str) -> Error {
    Error::new(Code::ForbiddenHost, detail)
}

/// A loopback name or the address listened on, with any port.
fn is_own_name(authority: &str, reached: Option<IpAddr>) -> bool {
    let (name, port) = match authority.rsplit_once(':') {
        // In a bracketed address without a port, the last colon is inside the brackets.
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (authority, None),
    };
    if port.is_some_and(|it| !it.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let address = match name.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(inner) => inner.parse().map(IpAddr::V6),
        None => name.parse().map(IpAddr::V4),
    };
    address.is_ok_and(|it| it.is_loopback() || reached.is_some_and(|own| own.to_canonical() == it.to_canonical()))
}

fn own_origin(headers: &HeaderMap) -> Result<()> {
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    for origin in headers.get_all(header::ORIGIN) {
        let own = origin.to_str().ok().and_then(|it| it.strip_prefix("http://"));
        if !own.is_some_and(|it| !it.is_empty() && it.eq_ignore_ascii_case(host)) {
            return Err(Error::new(
                Code::ForbiddenOrigin,
                "a request from another origin than this server's own is refused",
            ));
        }
    }
    if headers.get_all(SEC_FETCH_SITE).iter().any(|it| it.as_bytes().eq_ignore_ascii_case(b"cross-site")) {
        return Err(Error::new(Code::ForbiddenOrigin, "a request that a browser makes for another site is refused"));
    }
    Ok(())
}

fn authorized(headers: &HeaderMap, by: Arc<Credentials>) -> Result<Grant> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let credentials = match (given.next(), given.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    };
    let token = match credentials.split_once(' ') {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => secret.trim(),
        _ => "",
    };
    if let Some(access) = by.tokens.access(token) {
        return Ok(Grant { access, token: Some((by, token.into())) });
    }
    Err(Error::new(
        Code::Unauthorized,
        "send `Authorization: Bearer TOKEN`; the token is in the file that `semdex serve` names when it starts, and \
         `semdex token` prints it. After `semdex token --rotate` earlier tokens are refused",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_and_the_address_reached_are_own() {
        let reached = Some("192.168.1.5".parse().unwrap());
        for own in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.0.0.1:7878",
            "127.9.9.9:1",
            "[::1]",
            "[::1]:7878",
            "192.168.1.5:7878",
        ] {
            assert!(is_own_name(own, reached), "{own}");
        }
        for foreign in [
            "",
            ":80",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "foo.localhost",
            "localhost:80:80",
            "localhost:x",
            "192.168.1.6",
            "[::2]",
            "::1",
            "[127.0.0.1]",
            "0.0.0.0",
            "127.1",
            "user@localhost",
        ] {
            assert!(!is_own_name(foreign, reached), "{foreign}");
        }
    }
}
