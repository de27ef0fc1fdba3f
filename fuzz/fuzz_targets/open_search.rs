//! `freshet_fuzz::open_search` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    freshet_fuzz::open_search(bytes);
});
