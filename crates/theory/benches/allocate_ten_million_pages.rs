//! What the exact allocation of ten million pages costs beside one exp per page.

fn main() {}
