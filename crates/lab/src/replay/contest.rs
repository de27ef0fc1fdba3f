//! Contest of policies: runs all contestants several times each, together with the oracles.
//!
//! Runs are independent, so several run at once, each on its own thread. A policy's time is wall-clock time
//! on its thread. To measure it, run one at a time on an idle machine.
//!
//! # Promises
//! - The scores do not depend on the number of threads (the policy time does).
//! - For each form that takes part, its oracles are always run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use freshet_partition::policy::Form;

use super::contestant::{Contestant, Entry};
use super::oracle::Ceiling;
use super::run::{Run, run};
use super::score::Score;
use super::stage::Stage;

/// Settings of a contest: which policies to compare, and how often to run each.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The contestants.
    pub entries: Vec<Entry>,
    /// Number of runs of each, with the seeds from one on.
    pub seeds: u64,
    /// Number of runs at once.
    pub threads: usize,
}

/// Result of a contest.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The scores, in the order of the contestants.
    pub scores: Vec<Score>,
    /// The form in which each contestant was driven.
    pub forms: Vec<Form>,
    /// The oracles of each form that took part.
    pub oracles: Vec<Oracles>,
}

/// Scores of the oracles of one form: upper bounds for its policies.
#[derive(Clone, Debug)]
pub struct Oracles {
    /// The form.
    pub form: Form,
    /// Finds the most changes.
    pub changes: Score,
    /// Keeps copies fresh.
    pub fresh: Score,
}

/// One run to do.
#[derive(Clone, Copy)]
struct Job<'a> {
    contestant: &'a Contestant,
    seed: u64,
}

impl Contest {
    /// Total number of cycles of all runs: how often `done` will be called.
    pub fn work(&self, stage: &Stage<'_>) -> usize {
        self.jobs(&self.all_entries()).len() * stage.cycles()
    }

    /// Runs the contest. Calls `done` after every cycle of every run. Panics without a seed.
    pub fn hold(&self, stage: &Stage<'_>, done: &(dyn Fn() + Sync)) -> Outcome {
        assert!(self.seeds > 0);
        let all = self.all_entries();
        let jobs = self.jobs(&all);
        let mut runs = run_all(stage, &jobs, self.threads, done).into_iter();
        let mut scores: Vec<Score> = all
            .iter()
            .map(|entry| {
                let runs: Vec<Run> = runs.by_ref().take(self.runs_of(&entry.contestant) as usize).collect();
                Score::of(entry.name.clone(), &runs)
            })
            .collect();
        let mut extra = scores.split_off(self.entries.len()).into_iter();
        let oracles = self.forms().into_iter().map(|form| {
            let mut next = || extra.next().expect("both oracles of each form were run");
            Oracles { form, changes: next(), fresh: next() }
        });
        let oracles = oracles.collect();
        Outcome {
            scores,
            forms: self.entries.iter().map(|entry| entry.contestant.ceiling_form()).collect(),
            oracles,
        }
    }

    /// The entries, followed by two oracles for each form.
    fn all_entries(&self) -> Vec<Entry> {
        let oracles = self.forms().into_iter().flat_map(|form| {
            [Ceiling::Changes, Ceiling::Fresh].map(|ceiling| Contestant::Oracle(ceiling, form).into())
        });
        self.entries.iter().cloned().chain(oracles).collect()
    }

    /// The forms that take part.
    fn forms(&self) -> Vec<Form> {
        let takes_part =
            |form: &Form| self.entries.iter().any(|entry| entry.contestant.ceiling_form() == *form);
        [Form::Cycle, Form::Steady].into_iter().filter(takes_part).collect()
    }

    fn runs_of(&self, contestant: &Contestant) -> u64 {
        if contestant.has_chance() { self.seeds } else { 1 }
    }

    fn jobs<'a>(&self, entries: &'a [Entry]) -> Vec<Job<'a>> {
        let jobs = |Entry { contestant, .. }: &'a Entry| {
            (1..=self.runs_of(contestant)).map(move |seed| Job { contestant, seed })
        };
        entries.iter().flat_map(jobs).collect()
    }
}

/// Runs all jobs on `threads` threads. Results come in the order of the jobs.
fn run_all(stage: &Stage<'_>, jobs: &[Job<'_>], threads: usize, done: &(dyn Fn() + Sync)) -> Vec<Run> {
    let next = AtomicUsize::new(0);
    let finished: Mutex<Vec<Option<Run>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(number) else { return };
            let mut policy = job.contestant.build(stage, job.seed);
            let result = run(stage, job.contestant.form(), policy.as_mut(), done);
            finished.lock().expect("no thread has failed")[number] = Some(result);
        }
    };
    // Use own threads: on a pool, a policy that waits for its helpers could be handed another policy's run.
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, jobs.len()) {
            scope.spawn(work);
        }
        work();
    });
    let finished = finished.into_inner().expect("no thread has failed");
    finished.into_iter().map(|run| run.expect("every job was done")).collect()
}
