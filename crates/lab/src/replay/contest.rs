//! All contestants, several times each, beside the oracles.
//!
//! Runs are independent, so that several go at once, each on a thread of its own: a policy's time is the time that passes on
//! its thread. To measure it, run one at a time on a quiet machine.
//!
//! # Promises
//! - The scores do not depend on the number of threads (the policy time does).
//! - An oracle of each form that takes part is always run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use freshet_partition::policy::Form;

use super::contestant::{Contestant, Entry};
use super::oracle::Ceiling;
use super::run::{Run, run};
use super::score::Score;
use super::stage::Stage;

/// Who is to be compared, and how often each runs.
#[derive(Clone, Debug)]
pub struct Contest {
    /// Who takes part.
    pub entries: Vec<Entry>,
    /// Runs of each, with the seeds from one on.
    pub seeds: u64,
    /// Runs that go at once.
    pub threads: usize,
}

/// What came of a contest.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The scores, in the order of the contestants.
    pub scores: Vec<Score>,
    /// How each contestant was driven.
    pub forms: Vec<Form>,
    /// The oracles of each form that took part.
    pub oracles: Vec<Oracles>,
}

/// The ceilings of policies of one form.
#[derive(Clone, Debug)]
pub struct Oracles {
    /// The form.
    pub form: Form,
    /// Finds the most changes.
    pub changes: Score,
    /// Keeps copies fresh.
    pub fresh: Score,
}

/// One run to be done.
#[derive(Clone, Copy)]
struct Job<'a> {
    contestant: &'a Contestant,
    seed: u64,
}

impl Contest {
    /// Cycles of all runs together: what `done` will count.
    pub fn work(&self, stage: &Stage<'_>) -> usize {
        self.jobs(&self.all_entries()).len() * stage.cycles()
    }

    /// Holds the contest; `done` is called after every cycle of every run. Panics without a seed.
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

    /// The entries, and behind them two oracles for each form.
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

/// Does all jobs on some threads; the runs come in the order of the jobs.
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
    // Threads of our own: on a pool, a policy that waits for its helpers could be handed another policy's run.
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, jobs.len()) {
            scope.spawn(work);
        }
        work();
    });
    let finished = finished.into_inner().expect("no thread has failed");
    finished.into_iter().map(|run| run.expect("every job was done")).collect()
}
