//! What a Cox fit of 100,000 subjects costs beside lifelines.

fn main() {}
