//! Most sites change hardly at all or nearly everywhere.
//!
//! **sample**, section 4.1, Figure 5: distribution of sites by the fraction of their pages that changes in a
//! cycle of a month, averaged over the cycles.

use anyhow::Result;

use super::{DATA, PAGES_PER_SITE};
use crate::figure::bars::{Bars, Row};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::material::{MODEL_CYCLE, changed_fractions, normal, recorded, v_shape};
use crate::report::sources::{Need, Sources};

/// Figure 5.
pub(super) const FRACTIONS: Maker = Maker {
    name: "sample-figure-5",
    title: "Figure 5: sites by the part of their pages that changes in a cycle",
    needs: Need::Nothing,
    make,
};

/// Days per cycle on histories.
const MONTH: f64 = 365.25 / 12.0;

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let histories = recorded(sources, 36.0 * MONTH, 2_000)?;
    progress(0.4);
    let shape = v_shape(sources, PAGES_PER_SITE / 5, 5)?;
    let bell = normal(sources, 200, 5)?;
    progress(0.8);
    let sets = [
        (histories.name, changed_fractions(&histories.world, MONTH)),
        (shape.name, changed_fractions(&shape.world, MODEL_CYCLE)),
        (bell.name, changed_fractions(&bell.world, MODEL_CYCLE)),
    ];
    let part = |fractions: &[f64], tenth: usize| {
        let is_in = |fraction: &&f64| ((**fraction * 10.0) as usize).min(9) == tenth;
        100.0 * fractions.iter().filter(is_in).count() as f64 / fractions.len() as f64
    };
    let row = |tenth: usize| Row {
        name: format!("{:.1} to {:.1}", 0.1 * tenth as f64, 0.1 * (tenth + 1) as f64),
        values: sets.iter().map(|(_, fractions)| Some(part(fractions, tenth))).collect(),
        is_ours: false,
    };
    let bars = Bars {
        title: "Sites by the part of their pages that changes in a cycle".to_owned(),
        axis: "% of sites".to_owned(),
        digits: 1,
        panels: sets.iter().map(|(name, fractions)| format!("{name} ({} sites)", fractions.len())).collect(),
        ceiling: None,
        rows: (0..10).map(row).collect(),
    };
    let (ours, model) = (&sets[0].1, &sets[1].1);
    Ok(Exhibit::new(
        "The authors found a V: many sites that hardly change, some that change everywhere, few between. \
         Recorded document sites have only the left arm of it: no site is edited everywhere in every month. \
         The model with a V has both.",
    )
    .text(histories.about)
    .picture(bars.draw())
    .compare(
        Comparison::statement(
            "sites with a changed fraction below 0.1",
            "more than 35%",
            format!("histories {:.0}%, V-shaped model {:.0}%", part(ours, 0), part(model, 0)),
            Verdict::NotReproducible,
        )
        .noting(DATA),
    )
    .compare(
        Comparison::statement(
            "sites with a changed fraction above 0.9",
            "about 18%",
            format!("histories {:.0}%, V-shaped model {:.0}%", part(ours, 9), part(model, 9)),
            Verdict::NotReproducible,
        )
        .noting(DATA),
    ))
}
