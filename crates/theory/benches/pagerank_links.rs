//! How many links a second one iteration of PageRank follows, beside a plain loop and SciPy.

fn main() {}
