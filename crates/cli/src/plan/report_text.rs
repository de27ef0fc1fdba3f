//! The report as text.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::{CellAlignment, Table};
use freshet_theory::plan::curve::{BUDGET_MIN, CurvePoint, Reach};
use freshet_theory::plan::planner::{Outcome, Policy};

use super::history::evidence_sentence;
use super::input::shown;
use super::quantity::{grouped, percent, plural, readable, readable_span, share, visits_a_day};
use super::report::{Report, policy_name};
use super::uncertainty::Uncertainty;
use super::{ObjectiveName, chart};

/// Maximum number of saturated hosts listed, those with most pages first.
const HOSTS_MAX: usize = 10;

/// Maximum length of a host name shown, in characters.
const HOST_LENGTH_MAX: usize = 60;

/// The table shows every n-th point of the curve.
const CURVE_STEP: usize = 2;

/// Line width of running text, in characters.
const TEXT_WIDTH: usize = 100;

impl Report<'_> {
    /// The report as text.
    pub(super) fn text(&self, svg_path: Option<&Path>) -> String {
        let mut parts = vec![self.question_text(), self.outcome_text()];
        parts.extend(self.notes());
        parts.extend(self.saturated_text());
        if let Some(curve) = &self.curve {
            parts.push(curve_text(curve));
            parts.extend(self.figures().iter().map(chart::draw));
        }
        let written = [("plan", self.options.out.as_deref()), ("curve", svg_path)];
        let written: String = written
            .iter()
            .filter_map(|(what, path)| Some(format!("{what} written to {}\n", (*path)?.display())))
            .collect();
        parts.push(written);
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }

    fn question_text(&self) -> String {
        let pages = self.table.len();
        let rates = self.table.change_rates.iter().map(|rate| rate.get());
        let mut text = format!(
            "{}: {} {}, changing {} times a day on average\n",
            shown(&self.options.input),
            grouped(pages),
            plural(pages, "page", "pages"),
            readable(rates.sum::<f64>() / pages as f64)
        );
        if let Some(evidence) = &self.table.evidence {
            writeln!(text, "{}", evidence_sentence(evidence)).expect("a string takes everything");
        }
        writeln!(
            text,
            "budget {}, {} for each page; objective {}",
            visits_a_day(self.visit_budget.get()),
            readable(self.visit_budget.get() / pages as f64),
            self.objective_name()
        )
        .expect("a string takes everything");
        if let (Some(limit), Some(hosts)) = (self.options.host_limit, &self.table.attributes.hosts) {
            let hosts = hosts.names.len();
            let (limit, count) = (visits_a_day(limit.get()), grouped(hosts));
            let noun = plural(hosts, "host", "hosts");
            writeln!(text, "at most {limit} to each of {count} {noun}").expect("a string takes everything");
        }
        if let Some(minimum) = self.options.at_least {
            writeln!(text, "at least {} to each page", visits_a_day(minimum.get()))
                .expect("a string takes everything");
        }
        text
    }

    fn outcome_text(&self) -> String {
        let mut table = calm_table(&["", "freshness", "age", "changes found", "pages given up"]);
        for (policy, outcome) in Policy::ALL.iter().zip(&self.outcomes) {
            table.add_row([
                policy_name(*policy).to_owned(),
                share(outcome.quality.freshness),
                readable_span(outcome.quality.age),
                percent(outcome.changes_found_share),
                grouped(outcome.pages_given_up),
            ]);
        }
        finish_table(&table)
    }

    fn notes(&self) -> Option<String> {
        let notes = [
            self.gain_note(),
            self.given_up_note(),
            self.minimum_note(),
            self.unspent_note(),
            self.uncertainty_note(),
            self.target_note(),
        ];
        let notes: String = notes.into_iter().flatten().map(|note| wrapped(&note)).collect();
        (!notes.is_empty()).then_some(notes)
    }

    /// What the plan gains over the other policies on its own objective.
    fn gain_note(&self) -> Option<String> {
        let [plan, others @ ..] = &self.outcomes;
        let against = |gain: fn(&Outcome, &Outcome) -> String| {
            let gains = others.iter().zip(&Policy::ALL[1..]);
            let gains: Vec<_> = gains
                .map(|(other, policy)| format!("{} {}", gain(plan, other), policy_name(*policy)))
                .collect();
            gains.join(", ")
        };
        match self.options.objective {
            ObjectiveName::Freshness => {
                let gain = |plan: &Outcome, other: &Outcome| {
                    format!("{:+.4} against", plan.quality.freshness - other.quality.freshness)
                };
                Some(format!("Freshness gained by the plan: {}.", against(gain)))
            }
            ObjectiveName::Age => {
                let gain = |plan: &Outcome, other: &Outcome| {
                    format!("{} times that of", readable(plan.quality.age.get() / other.quality.age.get()))
                };
                (plan.quality.age.get() > 0.0).then(|| format!("Age under the plan: {}.", against(gain)))
            }
            ObjectiveName::Changes => {
                let gain = |plan: &Outcome, other: &Outcome| {
                    let tenths = (1_000.0 * (plan.changes_found_share - other.changes_found_share)).round();
                    // Adding zero turns -0.0 into 0.0.
                    format!("{:+.1} % against", tenths / 10.0 + 0.0)
                };
                Some(format!("Changes found more by the plan: {}.", against(gain)))
            }
            ObjectiveName::Harmonic => None,
        }
    }

    fn given_up_note(&self) -> Option<String> {
        let outcome = &self.outcomes[0];
        let count = outcome.pages_given_up;
        (count > 0).then(|| {
            format!(
                "{} {} ({} of the weight) {} given up, since visits gain more elsewhere, and of infinite \
                 age; the mean age of the others is {}. --at-least makes the plan visit every page.",
                grouped(count),
                plural(count, "page", "pages"),
                percent(outcome.weight_given_up_share),
                plural(count, "is", "are"),
                readable_span(outcome.age_of_visited)
            )
        })
    }

    fn minimum_note(&self) -> Option<String> {
        let count = self.outcomes[0].pages_at_minimum;
        let (pages, are) = (plural(count, "page", "pages"), plural(count, "is", "are"));
        (count > 0)
            .then(|| format!("{} {pages} {are} visited only as often as --at-least asks.", grouped(count)))
    }

    fn unspent_note(&self) -> Option<String> {
        let unspent = self.unspent();
        (unspent > 0.0).then(|| {
            format!(
                "Left over of the budget: {}. Within the limits no page would gain by more visits.",
                visits_a_day(unspent)
            )
        })
    }

    fn uncertainty_note(&self) -> Option<String> {
        self.uncertainty.as_ref().map(Uncertainty::sentence)
    }

    fn target_note(&self) -> Option<String> {
        let target = self.target.as_ref()?;
        let times = match target.reach {
            Reach::With(budget) if self.options.budget.is_some() && budget.get() > BUDGET_MIN => {
                format!(", {} times this budget", readable(budget.get() / self.visit_budget.get()))
            }
            _ => String::new(),
        };
        let sentence = target.sentence();
        Some(format!("{}{}{times}.", sentence[..1].to_uppercase(), &sentence[1..]))
    }

    fn saturated_text(&self) -> Option<String> {
        let hosts = self.saturated_hosts();
        self.options.host_limit?;
        if hosts.is_empty() {
            return Some("No host is saturated.\n".to_owned());
        }
        let mut table = calm_table(&["saturated host", "pages", "visits a day"]);
        for host in hosts.iter().take(HOSTS_MAX) {
            table.add_row([printable(host.name), grouped(host.pages), readable(host.visits_per_day)]);
        }
        let more = hosts.len().saturating_sub(HOSTS_MAX);
        let more = if more > 0 { format!("and {} more\n", grouped(more)) } else { String::new() };
        let (count, noun) = (grouped(hosts.len()), plural(hosts.len(), "host is", "hosts are"));
        Some(format!(
            "{count} {noun} saturated: more visits would exceed --host-limit.\n{}{more}",
            finish_table(&table)
        ))
    }
}

/// A name from a file, shortened, and without characters that could disturb a terminal or a table.
fn printable(name: &str) -> String {
    name.chars()
        .take(HOST_LENGTH_MAX)
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect()
}

fn curve_text(curve: &[CurvePoint]) -> String {
    let mut header = vec!["visits a day".to_owned()];
    header.extend(Policy::ALL.iter().map(|policy| format!("freshness\n{}", policy_name(*policy))));
    header.extend(Policy::ALL.iter().map(|policy| format!("age\n{}", policy_name(*policy))));
    let mut table = calm_table(&header);
    for point in curve.iter().step_by(CURVE_STEP) {
        let mut row = vec![readable(point.visit_budget.get())];
        row.extend(point.qualities.map(|quality| share(quality.freshness)));
        row.extend(point.qualities.map(|quality| readable_span(quality.age)));
        table.add_row(row);
    }
    finish_table(&table)
}

/// Wraps a paragraph.
fn wrapped(paragraph: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > TEXT_WIDTH {
            text.push('\n');
            width = 0;
        }
        if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    text + "\n"
}

/// A table without borders, with numbers aligned to the right.
fn calm_table(header: &[impl ToString]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header.iter().map(ToString::to_string));
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn finish_table(table: &Table) -> String {
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}
