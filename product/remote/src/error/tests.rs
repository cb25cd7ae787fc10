//! Statuses and faults of TLS as sentences.

use quietcore_control::ErrorKind;

use super::*;

fn words(status: &Status) -> String {
    RemoteError::of_status(status, "plant7:7443").to_string()
}

fn handshake(fault: rustls::Error) -> String {
    let error = io::Error::new(io::ErrorKind::InvalidData, fault);
    RemoteError::of_handshake(&error, "plant7:7443".to_owned()).to_string()
}

#[test]
fn a_refusal_reads_as_on_the_machine_itself() {
    let own = ControlError::new(ErrorKind::NotNow, "axis", "it does not run", "start it");
    assert_eq!(words(&refusal::status(&own)), own.to_string());
    let denied = "`x` needs the role operator; `anna` has the role viewer";
    assert_eq!(words(&Status::permission_denied(denied)), denied);
    assert_eq!(words(&Status::not_found("gone\u{1b}[2J")), "gone\u{fffd}[2J");
}

#[test]
fn an_older_daemon_and_a_credential_that_holds_no_more_say_what_to_do() {
    let old = words(&Status::unimplemented(""));
    assert!(old.contains("`plant7:7443` is older than this `quietcore`"), "{old}");
    let none = words(&Status::unauthenticated("no credential that holds"));
    assert!(none.contains("quietcore auth issue"), "{none}");
}

#[test]
fn each_fault_of_a_certificate_says_what_would_be_right() {
    let invalid = |why| handshake(rustls::Error::InvalidCertificate(why));
    assert!(invalid(CertificateError::Expired).contains("has expired; renew it there"));
    assert!(invalid(CertificateError::UnknownIssuer).contains("of another authority"));
    assert!(invalid(CertificateError::NotValidForName).contains("for another name"));
    let alert = |alert| handshake(rustls::Error::AlertReceived(alert));
    assert!(alert(AlertDescription::CertificateExpired).contains("that was shown has expired"));
    assert!(alert(AlertDescription::UnknownCA).contains("that was shown is of another authority"));
    let plain = io::Error::from(io::ErrorKind::UnexpectedEof);
    let plain = RemoteError::of_handshake(&plain, "plant7:80".to_owned()).to_string();
    assert!(plain.contains("name the port of `--listen`"), "{plain}");
}
