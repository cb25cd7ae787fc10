//! The envelope of a signature: DSSE 1.0, as in-toto attestations have it.
//!
//! The signature is not over the payload alone but its type with it, each with its length in front
//! (pre-authentication encoding), so that no signature can be taken for one of something else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::key::{MachineKey, VerificationKey};

/// The type of the payload: an in-toto statement.
pub(super) const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The most signatures that are looked at.
const SIGNATURE_COUNT_MAX: usize = 16;

/// A payload with its signatures.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Envelope {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Debug, Serialize, Deserialize)]
struct EnvelopeSignature {
    #[serde(default)]
    keyid: String,
    sig: String,
}

impl Envelope {
    /// Signs a payload of an in-toto statement.
    pub(super) fn sign(payload: &[u8], key: &MachineKey) -> Self {
        let signature = key.sign(&encoded(PAYLOAD_TYPE, payload));
        Self {
            payload: STANDARD.encode(payload),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: vec![EnvelopeSignature {
                keyid: key.verification_key().id(),
                sig: STANDARD.encode(signature),
            }],
        }
    }

    /// The payload, where it is of the type that is expected here.
    pub(super) fn payload(&self) -> Option<Vec<u8>> {
        let is_ours = self.payload_type == PAYLOAD_TYPE;
        STANDARD.decode(&self.payload).ok().filter(|_| is_ours)
    }

    /// Returns whether one of the signatures is one of `payload` by this key. The key's name in the
    /// envelope is a hint and proves nothing.
    pub(super) fn is_signed_by(&self, payload: &[u8], key: &VerificationKey) -> bool {
        let message = encoded(&self.payload_type, payload);
        let signatures = self.signatures.iter().take(SIGNATURE_COUNT_MAX);
        let bytes = signatures.filter_map(|signature| STANDARD.decode(&signature.sig).ok());
        bytes.into_iter().any(|signature| key.has_signed(&message, &signature))
    }
}

/// Encodes what is signed: `DSSEv1 LENGTH TYPE LENGTH PAYLOAD`.
fn encoded(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of DSSE.
    #[test]
    fn what_is_signed_has_its_lengths_in_front() {
        let encoded = encoded("http://example.com/HelloWorld", b"hello world");
        let expected = "DSSEv1 29 http://example.com/HelloWorld 11 hello world";
        assert_eq!(encoded, expected.as_bytes());
    }
}
