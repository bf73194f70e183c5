//! No step of the chain can be skipped, repeated or forged: each short cut does not compile.

#[test]
fn short_cuts_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
