//! Names of composed policies, for tests that drive every policy.

/// Names that [`PolicyName::all`](super::PolicyName::all) does not list: policies within policies,
/// estimators, allocations, orders and neighbourhoods.
pub fn other_names() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for inner in [
        "random",
        "proportional",
        "adaptive:wilson",
        "frequency:rank",
        "nutch",
        "directory:2:ha",
        "link:-1:pra",
        "freshet:mix",
        "freshet:changes",
    ] {
        names.push(format!("subset:{inner}"));
        names.push(format!("mixture:{inner}:round-robin:0.3"));
        names.push(format!("mixture:frequency:gamma:rank:{inner}:0.6"));
        names.push(format!("mixture:subset:{inner}:greedy:0.5"));
        names.push(format!("subset:mixture:{inner}:subset:greedy:0.5"));
    }
    for estimator in ["naive", "improved", "irregular", "gamma"] {
        for allocation in ["uniform", "proportional", "optimal", "age", "harmonic", "rank"] {
            names.push(format!("frequency:{estimator}:{allocation}"));
        }
        for order in ["fixed", "random", "purely-random"] {
            for objective in ["freshness", "age", "harmonic"] {
                names.push(format!("optimal:{objective}:{order}:{estimator}"));
            }
            names.push(format!("proportional-rate:{order}:{estimator}"));
        }
    }
    for kinship in ["link", "directory", "cluster"] {
        for (granularity, download_probability) in
            [(-3, "status"), (-1, "wha"), (0, "pra"), (2, "ha"), (8, "status")]
        {
            names.push(format!("{kinship}:{granularity}:{download_probability}"));
        }
    }
    names
}
