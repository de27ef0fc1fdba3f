//! `freshet_fuzz::cdx` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    freshet_fuzz::cdx(bytes);
});
