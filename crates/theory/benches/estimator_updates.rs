//! How many observations a second each running estimator absorbs on one core.

fn main() {}
