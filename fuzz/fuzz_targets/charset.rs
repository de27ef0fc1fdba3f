//! `freshet_fuzz::charset` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    freshet_fuzz::charset(bytes);
});
