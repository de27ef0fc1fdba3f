//! `freshet_fuzz::compression` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    freshet_fuzz::compression(bytes);
});
