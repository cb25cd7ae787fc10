//! Access: one layer before all services lets calls in, and puts their [`Caller`] into them.
//!
//! The answer of a call from the network is watched as long as it goes on: a stream ends within
//! [`LOOK`] after its credential has, and so does one whose client takes nothing.
//!
//! [`Caller`]: crate::caller::Caller

mod gate;
pub(crate) mod rates;

use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::sleep;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{BoxFuture, Bytes, Service};
use tower_layer::Layer;

use gate::Admitted;
pub(crate) use gate::Gate;

/// Time between two looks at the credential of a stream.
const LOOK: Duration = Duration::from_secs(1);

/// Puts the gate before services.
#[derive(Clone, Debug)]
pub(crate) struct AccessLayer(pub(crate) Arc<Gate>);

impl<S> Layer<S> for AccessLayer {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { gate: Arc::clone(&self.0), inner }
    }
}

/// Services behind the gate.
#[derive(Clone, Debug)]
pub(crate) struct Guarded<S> {
    gate: Arc<Gate>,
    inner: S,
}

impl<S> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<Response<Body>, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let Admitted { caller, shown } = match self.gate.admit(&request) {
            Ok(admitted) => admitted,
            Err(refused) => return Box::pin(async move { Ok(refused.into_http()) }),
        };
        if let Some(caller) = caller {
            request.extensions_mut().insert(caller);
        }
        let answer = self.inner.call(request);
        let Some(shown) = shown else { return Box::pin(answer) };
        let gate = Arc::clone(&self.gate);
        Box::pin(async move {
            let check = move || gate.check_again(&shown);
            Ok(answer.await?.map(|body| Body::new(WatchedBody::new(body, check))))
        })
    }
}

/// An answer that goes on as long as the credential of its call holds.
///
/// A task of its own looks at the credential: a body is asked for nothing as long as its client
/// takes nothing.
struct WatchedBody {
    watched: Arc<Mutex<Watched>>,
    looks: JoinHandle<()>,
}

struct Watched {
    body: Body,
    /// Why the answer ends early, until that is sent.
    ended: Option<Status>,
    /// The task that waits for the body.
    waker: Option<Waker>,
}

impl WatchedBody {
    fn new(body: Body, check: impl Fn() -> Result<(), Status> + Send + 'static) -> Self {
        let watched = Arc::new(Mutex::new(Watched { body, ended: None, waker: None }));
        let looked_at = Arc::clone(&watched);
        let looks = tokio::spawn(async move {
            let ended = loop {
                sleep(LOOK).await;
                if let Err(ended) = check() {
                    break ended;
                }
            };
            let mut watched = lock(&looked_at);
            watched.ended = Some(ended);
            let let_go = mem::take(&mut watched.body);
            let waker = watched.waker.take();
            drop(watched);
            drop(let_go);
            waker.inspect(Waker::wake_by_ref);
        });
        Self { watched, looks }
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.looks.abort();
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        let mut watched = lock(&self.watched);
        if let Some(ended) = watched.ended.take() {
            // Nothing follows the trailers.
            let mut trailers = HeaderMap::new();
            ended.add_header(&mut trailers)?;
            return Poll::Ready(Some(Ok(http_body::Frame::trailers(trailers))));
        }
        watched.waker = Some(context.waker().clone());
        Pin::new(&mut watched.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        let watched = lock(&self.watched);
        watched.ended.is_none() && watched.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        lock(&self.watched).body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use http_body_util::BodyExt as _;

    use super::*;

    /// A body without an end, which says when it is let go.
    struct Endless(Arc<AtomicBool>);

    impl Drop for Endless {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl http_body::Body for Endless {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
            Poll::Pending
        }
    }

    /// Goal: what a revoked client holds of the daemon is let go, whether it reads or not.
    /// Method: the answer is asked for nothing, as that of a client is whose window is full.
    #[tokio::test]
    async fn an_answer_that_is_not_read_is_let_go_with_its_credential() {
        let is_let_go = Arc::new(AtomicBool::new(false));
        let holds = Arc::new(AtomicBool::new(true));
        let held = Arc::clone(&holds);
        let check = move || match held.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err(Status::unauthenticated("revoked")),
        };
        let answer = WatchedBody::new(Body::new(Endless(Arc::clone(&is_let_go))), check);
        sleep(LOOK * 3 / 2).await;
        assert!(!is_let_go.load(Ordering::Relaxed), "its credential holds");
        holds.store(false, Ordering::Relaxed);
        for _ in 0..100 {
            sleep(LOOK / 10).await;
            if is_let_go.load(Ordering::Relaxed) {
                break;
            }
        }
        assert!(
            is_let_go.load(Ordering::Relaxed),
            "it is not held for a client that is not let in"
        );
        let trailers = answer.collect().await.unwrap().trailers().cloned().unwrap();
        assert_eq!(trailers["grpc-message"], "revoked");
    }
}
