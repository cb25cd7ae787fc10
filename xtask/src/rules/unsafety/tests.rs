//! `unsafe` with and without its home and its reasons.

use super::*;

fn rules_at(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    let findings = check(&Tree::of(&[(path, text)]));
    findings.iter().map(|finding| (finding.rule, finding.line)).collect()
}

fn rules(body: &str) -> Vec<(&'static str, usize)> {
    rules_at("machine/a/src/b.rs", &format!("//! A.\n// UNSAFETY: maps memory.\n{body}"))
}

#[test]
fn safe_code_needs_no_reasons() {
    assert_eq!(rules_at("logic/a/src/b.rs", "fn a() { b(\"unsafe\") }"), []);
}

#[test]
fn unsafe_has_its_homes() {
    let text = "// UNSAFETY: x.\nfn a() {\n    // SAFETY: y.\n    unsafe { b() }\n}\n";
    assert_eq!(rules_at("machine/a/src/b.rs", text), []);
    assert_eq!(rules_at("ground/exchange/tests/b.rs", text), []);
    assert_eq!(rules_at("logic/a/src/b.rs", text), [("unsafe-home", 4)]);
    assert_eq!(rules_at("ground/exchange_other/src/b.rs", text), [("unsafe-home", 4)]);
}

#[test]
fn the_reason_stands_at_the_head() {
    let block = "fn a() {\n    // SAFETY: y.\n    unsafe { b() }\n}\n";
    assert_eq!(rules_at("machine/a/src/b.rs", block), [("unsafety", 3)]);
    let late = format!("{block}// UNSAFETY: x.\n");
    assert_eq!(rules_at("machine/a/src/b.rs", &late), [("unsafety", 3)]);
}

#[test]
fn the_comment_stands_right_above() {
    let right = [
        "fn a() {\n    // SAFETY: y,\n    // and z.\n    unsafe { b() }\n}",
        "fn a() {\n    // SAFETY: y.\n    let c =\n        unsafe { b() };\n}",
        "fn a() {\n    // SAFETY: y.\n    let c = d\n        .e()\n        .f(unsafe { b() });\n}",
        "// SAFETY: y.\nunsafe impl Send for A {}",
        "// SAFETY: y.\n#[link(name = \"c\")]\nunsafe extern \"C\" { fn a(); }",
        "type A = unsafe extern \"C\" fn();",
        "#[unsafe(no_mangle)]\nfn a() {}",
    ];
    for text in right {
        assert_eq!(rules(text), [], "{text}");
    }
    let wrong = [
        "fn a() {\n    unsafe { b() }\n}",
        "fn a() {\n    // Why not.\n    unsafe { b() }\n}",
        "fn a() {\n    // SAFETY: y.\n    c();\n    unsafe { b() }\n}",
        "unsafe impl Send for A {}",
        "unsafe extern \"C\" { fn a(); }",
    ];
    for text in wrong {
        let found = rules(text);
        assert!(found.iter().any(|(rule, _)| *rule == "safety"), "{text}");
    }
}

#[test]
fn an_unsafe_function_documents_its_duties() {
    assert_eq!(rules("/// A.\n///\n/// # Safety\n/// The caller.\npub unsafe fn a() {}"), []);
    assert_eq!(rules("/// A.\npub unsafe fn a() {}"), [("safety-section", 4)]);
    let methods = "impl A {\n    unsafe fn b() {}\n}\ntrait C {\n    unsafe fn d();\n}\n// \
                   SAFETY: x.\nunsafe impl C for A {\n    unsafe fn d() {}\n}";
    assert_eq!(rules(methods), [("safety-section", 4), ("safety-section", 7)]);
}
