//! A stream whose messages are encoded before they are sent: once for all its clients.
//!
//! The generated service encodes each message for each client. It does so for all calls but
//! `SubscribeVariables`, which is answered here, before it.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use prost::bytes::BufMut as _;
use quietcore_api::v1::SubscribeVariablesRequest;
use quietcore_api::v1::variable_service_server::VariableServiceServer;
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{BoxFuture, Bytes, Service};
use tonic::server::{Grpc, NamedService, ServerStreamingService};
use tonic_prost::ProstDecoder;

use super::Stream;
use crate::service::VariableCalls;

/// Path of the call that is answered here.
const PATH: &str = "/quietcore.v1.VariableService/SubscribeVariables";

/// The service of variables, with messages of subscriptions that are encoded already.
#[derive(Clone, Debug)]
pub(crate) struct Subscriptions {
    calls: Arc<VariableCalls>,
    others: VariableServiceServer<VariableCalls>,
}

impl Subscriptions {
    pub(crate) fn new(calls: VariableCalls) -> Self {
        let calls = Arc::new(calls);
        Self { others: VariableServiceServer::from_arc(Arc::clone(&calls)), calls }
    }
}

impl NamedService for Subscriptions {
    const NAME: &'static str = <VariableServiceServer<VariableCalls> as NamedService>::NAME;
}

impl Service<Request<Body>> for Subscriptions {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.uri().path() != PATH {
            return self.others.call(request);
        }
        let subscribe = Subscribe(Arc::clone(&self.calls));
        Box::pin(async move { Ok(Grpc::new(Encoded).server_streaming(subscribe, request).await) })
    }
}

/// The call that is answered here.
struct Subscribe(Arc<VariableCalls>);

impl ServerStreamingService<SubscribeVariablesRequest> for Subscribe {
    type Response = Bytes;
    type ResponseStream = Stream<Bytes>;
    type Future = BoxFuture<tonic::Response<Stream<Bytes>>, Status>;

    fn call(&mut self, request: tonic::Request<SubscribeVariablesRequest>) -> Self::Future {
        let calls = Arc::clone(&self.0);
        Box::pin(async move { calls.subscribe(request).await.map(tonic::Response::new) })
    }
}

/// The codec of answers that are encoded already.
struct Encoded;

impl Codec for Encoded {
    type Encode = Bytes;
    type Decode = SubscribeVariablesRequest;
    type Encoder = Self;
    type Decoder = ProstDecoder<SubscribeVariablesRequest>;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::default()
    }
}

impl Encoder for Encoded {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}
