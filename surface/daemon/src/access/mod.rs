//! Access: one layer before all services lets calls in, and puts their [`Caller`] into them.
//!
//! The answer of a call from the network is watched as long as it goes on: a stream ends within
//! [`LOOK`] after its credential has.
//!
//! [`Caller`]: crate::caller::Caller

mod gate;
pub(crate) mod rates;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Interval, interval_at};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{BoxFuture, Bytes, Service};
use tower_layer::Layer;

pub(crate) use gate::Gate;
use gate::{Admitted, Shown};

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
            let watched = |body| WatchedBody {
                body,
                look: interval_at(Instant::now() + LOOK, LOOK),
                gate,
                shown,
            };
            Ok(answer.await?.map(|body| Body::new(watched(body))))
        })
    }
}

/// An answer that goes on as long as the credential of its call holds.
struct WatchedBody {
    body: Body,
    look: Interval,
    gate: Arc<Gate>,
    shown: Shown,
}

impl WatchedBody {
    /// Becomes ready when the credential holds no more.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        loop {
            ready!(self.look.poll_tick(context));
            if let Err(ended) = self.gate.check_again(&self.shown) {
                return Poll::Ready(ended);
            }
        }
    }
}

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        if let Poll::Ready(ended) = self.poll_end(context) {
            // Nothing follows the trailers, and the stream behind is let go.
            self.body = Body::empty();
            let mut trailers = HeaderMap::new();
            ended.add_header(&mut trailers)?;
            return Poll::Ready(Some(Ok(http_body::Frame::trailers(trailers))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
