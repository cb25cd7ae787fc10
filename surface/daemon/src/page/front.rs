//! The front of the page: what browsers ask for beside calls.
//!
//! | request | answer |
//! |---------|--------|
//! | `GET /`, `/app.js`, `/app.css` | the page |
//! | `POST /session` with a link | the session, once |
//! | `GET /session` | who the session is |
//! | `DELETE /session` | the session ends |
//! | `POST /quietcore.v1.SERVICE/CALL` | the services, behind the gate |
//!
//! A request whose `Host` is not this machine's, or whose `Origin` is another page, is refused: it
//! comes from a page of somebody else.

use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::{BodyExt as _, Full, Limited};
use tonic::body::Body;
use tonic::codegen::http::header::{self, HeaderName, HeaderValue};
use tonic::codegen::http::{HeaderMap, Method, Request, Response, StatusCode};
use tonic::codegen::{BoxFuture, Bytes, Service};
use tower_layer::Layer;

use super::{Page, files};
use crate::caller::Caller;
use crate::network::Arrival;

/// The longest link that is read, in bytes.
const LINK_BYTES_MAX: usize = 256;
/// The longest message of a call, in bytes.
const CALL_BYTES_MAX: usize = 1 << 20;
/// The word before a session in the header `authorization`.
const BEARER: &str = "Bearer ";
/// Restrains what a browser does with the page: run its own files, and call the daemon.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
/// Headers of each answer beside those of its content.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Puts the front before all else.
#[derive(Clone, Debug)]
pub(crate) struct FrontLayer(pub(crate) Arc<Page>);

impl<S> Layer<S> for FrontLayer {
    type Service = Front<S>;

    fn layer(&self, inner: S) -> Front<S> {
        Front { page: Arc::clone(&self.0), inner }
    }
}

/// Services behind the front.
#[derive(Clone, Debug)]
pub(crate) struct Front<S> {
    page: Arc<Page>,
    inner: S,
}

impl<S> Service<Request<Body>> for Front<S>
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<Response<Body>, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Some(Arrival::Page(known)) = request.extensions().get().cloned() else {
            return Box::pin(self.inner.call(request));
        };
        if !is_of_this_page(request.headers()) {
            let refused = text(StatusCode::FORBIDDEN, "this page is for browsers of this machine");
            return Box::pin(async { Ok(refused) });
        }
        let caller = session(request.headers()).and_then(|it| self.page.caller(it));
        if caller.is_some() {
            known.set();
        }
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/session") => {
                let answer = match caller {
                    Some(caller) => described(&caller, None),
                    None => no_session(),
                };
                Box::pin(async { Ok(answer) })
            }
            (&Method::DELETE, "/session") => {
                session(request.headers()).into_iter().for_each(|it| self.page.close(it));
                Box::pin(async { Ok(answer(StatusCode::NO_CONTENT, Bytes::new())) })
            }
            (&Method::POST, "/session") => {
                let page = Arc::clone(&self.page);
                Box::pin(async move { Ok(open(&page, request.into_body()).await) })
            }
            (&Method::GET, path) => {
                let answer = match files::file(path) {
                    Some(file) => with_type(file.content.into(), file.media_type),
                    None => text(StatusCode::NOT_FOUND, "there is no such file"),
                };
                Box::pin(async { Ok(answer) })
            }
            (&Method::POST, _) => Box::pin(call(self.inner.clone(), request, caller.is_some())),
            _ => Box::pin(async { Ok(answer(StatusCode::METHOD_NOT_ALLOWED, Bytes::new())) }),
        }
    }
}

/// Passes a call on once all of it is there: if it were refused before, what is left of it would
/// end the connection, by which the browser makes its next call. Nothing is kept of a call without
/// a session, which the gate refuses: strangers take no memory.
async fn call<S>(
    mut services: S,
    request: Request<Body>,
    has_session: bool,
) -> Result<Response<Body>, S::Error>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    let (head, body) = request.into_parts();
    let body = Limited::new(body, CALL_BYTES_MAX);
    let read = if has_session { read(body).await } else { pass_over(body).await };
    let Some(body) = read else {
        return Ok(text(StatusCode::PAYLOAD_TOO_LARGE, "a call of the page is shorter"));
    };
    std::future::poll_fn(|context| services.poll_ready(context)).await?;
    services.call(Request::from_parts(head, body)).await
}

/// Returns a body that is there as a whole; `None` if it is too long, or ends too soon.
async fn read(body: Limited<Body>) -> Option<Body> {
    let read = body.collect().await.ok()?;
    Some(Body::new(Full::new(read.to_bytes())))
}

/// Reads a body to its end and returns an empty one; `None` as for [`read`].
async fn pass_over(mut body: Limited<Body>) -> Option<Body> {
    while let Some(frame) = body.frame().await {
        frame.ok()?;
    }
    Some(Body::empty())
}

/// Makes a session of the link that a browser has sent.
async fn open(page: &Page, body: Body) -> Response<Body> {
    let Ok(read) = Limited::new(body, LINK_BYTES_MAX).collect().await else {
        return text(StatusCode::PAYLOAD_TOO_LARGE, "a link is shorter");
    };
    let link = read.to_bytes();
    let opened = page.open(str::from_utf8(&link).unwrap_or_default());
    match opened.map(|session| session.and_then(|it| Some((page.caller(&it)?, it)))) {
        Ok(Some((caller, session))) => described(&caller, Some(&session)),
        Ok(None) => no_session(),
        Err(error) => text(StatusCode::SERVICE_UNAVAILABLE, error.message()),
    }
}

/// Returns the session that a request shows.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix(BEARER)
}

/// Returns `true` if a request was made to this machine by its name, and by a page of it: another
/// page's name may lead here (DNS rebinding), and each page may send requests here.
fn is_of_this_page(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host.filter(|host| is_loopback(host)) else { return false };
    match headers.get(header::ORIGIN) {
        None => true,
        Some(origin) => origin.to_str().is_ok_and(|it| it.strip_prefix("http://") == Some(host)),
    }
}

/// Returns `true` for a host and port of loopback. The port may be another one: it can be forwarded
/// from elsewhere, as by SSH.
fn is_loopback(host: &str) -> bool {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(it, _)| it);
    ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

fn described(caller: &Caller, session: Option<&str>) -> Response<Body> {
    let described = serde_json::json!({
        "name": caller.name(),
        "role": caller.role().word(),
        "version": env!("CARGO_PKG_VERSION"),
        "session": session,
    });
    with_type(described.to_string().into(), "application/json")
}

fn no_session() -> Response<Body> {
    text(StatusCode::UNAUTHORIZED, "no link or session that holds; `quietcored link` makes a link")
}

fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut answer = answer(status, Bytes::from(format!("{text}\n")));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

fn with_type(content: Bytes, media_type: &'static str) -> Response<Body> {
    let mut answer = answer(StatusCode::OK, content);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer
}

fn answer(status: StatusCode, content: Bytes) -> Response<Body> {
    let mut answer = Response::new(Body::new(Full::new(content)));
    *answer.status_mut() = status;
    let headers = HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value)));
    answer.headers_mut().extend(headers);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &'static str, origin: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(host));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        headers
    }

    #[test]
    fn requests_of_other_pages_are_refused() {
        for (host, origin) in [
            ("127.0.0.1:7480", None),
            ("127.0.0.1:7480", Some("http://127.0.0.1:7480")),
            ("localhost:9000", Some("http://localhost:9000")),
            ("[::1]", None),
        ] {
            assert!(is_of_this_page(&headers(host, origin)), "{host} {origin:?}");
        }
        for (host, origin) in [
            ("evil.example:7480", None),
            ("127.0.0.1.evil.example", None),
            ("localhost:7480", Some("http://localhost:7481")),
            ("localhost:7480", Some("https://localhost:7480")),
            ("localhost:7480", Some("null")),
            ("localhost:x", None),
        ] {
            assert!(!is_of_this_page(&headers(host, origin)), "{host} {origin:?}");
        }
        assert!(!is_of_this_page(&HeaderMap::new()));
    }
}
