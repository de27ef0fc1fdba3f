//! What a new plan from class histograms costs, and how far it is from the exact one.

fn main() {}
