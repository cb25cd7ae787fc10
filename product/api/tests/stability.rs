//! The contract keeps its promise: what `quietcore.v1` had once stays as it was.
//!
//! Method: every call, field and value is a line of text with all that a client relies on. The
//! lines of the contract as it was stored must all be there still.
//!
//! Additions are stored with `QUIETCORE_STORE=1 cargo test -p quietcore-api --test stability`.

use std::collections::BTreeSet;
use std::path::Path;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorSet, ServiceDescriptorProto,
};
use quietcore_api::FILE_DESCRIPTOR_SET;

const PACKAGE: &str = "quietcore.v1";

/// The calls that clients stream to. A browser can't, so a page can't use them.
const STREAMED_TO: [&str; 1] = ["UploadProgram"];

fn lines() -> BTreeSet<String> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("the build script made it");
    let own = set.file.iter().filter(|file| file.package() == PACKAGE);
    let mut lines = BTreeSet::new();
    for file in own {
        file.message_type.iter().for_each(|message| fields(message, &mut lines));
        file.enum_type.iter().for_each(|values| numbers(values, &mut lines));
        file.service.iter().for_each(|service| calls(service, &mut lines));
    }
    lines
}

fn fields(message: &DescriptorProto, lines: &mut BTreeSet<String>) {
    assert!(message.nested_type.is_empty() && message.enum_type.is_empty(), "{}", message.name());
    for field in &message.field {
        let kind = match field.r#type() {
            Type::Message | Type::Enum => field.type_name().to_owned(),
            scalar => scalar.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
        };
        let several = if field.label() == Label::Repeated { "repeated " } else { "" };
        let optional = if field.proto3_optional() { "optional " } else { "" };
        let (name, number) = (field.name(), field.number());
        lines.insert(format!("{}.{name} = {number}: {several}{optional}{kind}", message.name()));
    }
}

fn numbers(values: &EnumDescriptorProto, lines: &mut BTreeSet<String>) {
    for value in &values.value {
        lines.insert(format!("{}.{} = {}", values.name(), value.name(), value.number()));
    }
}

fn calls(service: &ServiceDescriptorProto, lines: &mut BTreeSet<String>) {
    for call in &service.method {
        let stream = |is: bool| if is { "stream " } else { "" };
        let (name, from, to) = (call.name(), call.input_type(), call.output_type());
        assert_eq!(call.client_streaming(), STREAMED_TO.contains(&name), "{name}");
        let (sent, streamed) = (stream(call.client_streaming()), stream(call.server_streaming()));
        lines.insert(format!("{}/{name}({sent}{from}) -> {streamed}{to}", service.name()));
    }
}

#[test]
fn what_a_client_relies_on_is_never_taken_away_or_changed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stability/stored.txt");
    let now = lines();
    let text = now.iter().map(|line| format!("{line}\n")).collect::<String>();
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let gone: Vec<&str> = stored.lines().filter(|line| !now.contains(*line)).collect();
    assert!(gone.is_empty(), "these were promised and are not there any more: {gone:#?}");
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
        return;
    }
    assert_eq!(stored, text, "the contract has grown; store it as this file's header says");
}
