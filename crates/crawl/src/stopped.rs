//! Queries about a crawl without its process: answered from its files, which are only read.
//!
//! # Promises
//! - No byte of the directory is changed.
//! - Queries are answered as the crawl's last run would have answered them.

use std::path::Path;

use freshet_fetch::change::{Definition, Definitions};
use freshet_fetch::page::PageUrl;
use freshet_partition::policy::visit::Explanation;
use freshet_protocol::ids::PageNumber;
use freshet_store::directory::lock::Lock;
use freshet_store::error::StoreError;
use freshet_store::reader::{Reader, beyond};
use freshet_store::synced;

use crate::audit;
use crate::clock::{Clock, Pace};
use crate::last_run::LastRun;
use crate::opening::{CrawlError, replay, update_module};
use crate::published::Published;
use crate::queries::{Answer, Insight, Question, answer, verdict};
use crate::query_socket::{Progress, frozen_holder};
use crate::settings::Settings;
use crate::status::{Process, Status};
use crate::update::UpdateModule;
use crate::writer::{Admission, Memory};

/// Answers a query about the crawl in a directory by reading its files. `settings` are those that it would
/// run with.
pub fn ask(settings: Settings, question: &Question) -> Result<Answer, CrawlError> {
    let directory = settings.directory.clone();
    if *question == Question::Status
        && let Some(status) = published(&directory)?
    {
        return Ok(Answer::Status(Box::new(status)));
    }
    let reader = Reader::open(&directory)?;
    Ok(match question {
        Question::Status | Question::Pages { .. } | Question::Explain { .. } => {
            answer(&reader, &Remembered::of(settings, &reader)?, question)
        }
        // These queries do not need the policy.
        _ => answer(&reader, &Nothing, question),
    })
}

/// The last status that the crawl in a directory published. None if there is no valid one.
fn published(directory: &Path) -> Result<Option<Status>, StoreError> {
    let synced = freshet_store::reader::glance(directory)?;
    let mut process = process(directory, synced.is_clean());
    if matches!(process, Process::Running | Process::Frozen) {
        return Ok(
            Published::read(directory, &synced).map(|published| published.status_now(process, &synced))
        );
    }
    let beyond = beyond(directory, &synced)?;
    if !beyond.is_nothing() {
        // A SYNCED that says otherwise is older than the log.
        process = Process::Killed;
    }
    if beyond.is_torn {
        // Only the state may know of the last step.
        return Ok(None);
    }
    let mut status =
        Published::read(directory, &synced).map(|published| published.status_now(process, &synced));
    if let (Some(status), Some(counters)) = (&mut status, &beyond.counters) {
        status.count(counters);
    }
    Ok(status)
}

/// The state of a crawl's process that does not answer.
fn process(directory: &Path, is_clean: bool) -> Process {
    match Lock::holder(directory) {
        Some(_) if frozen_holder(directory).is_some() => Process::Frozen,
        Some(_) => Process::Running,
        None if is_clean => Process::Ended,
        None => Process::Killed,
    }
}

/// A crawl restored from its files, read-only.
struct Remembered {
    reader: Reader,
    memory: Memory,
    update_module: UpdateModule,
    definitions: Definitions,
    clock: Clock,
    process: Process,
}

impl Remembered {
    fn of(mut settings: Settings, reader: &Reader) -> Result<Self, CrawlError> {
        let run = LastRun::read(reader)?;
        if let Some(run) = &run {
            run.restore(&mut settings);
        }
        let mut memory = Memory::of(reader, Admission::new(&settings)?)?;
        let last_visit = reader.latest_moment()?;
        let clock = Clock::new(run.map_or(Pace::WALL, |run| run.pace(last_visit)));
        let mut update_module = update_module(&settings, reader, &clock)?;
        replay(&mut update_module, reader, &mut memory, clock.now(), &Progress::default())?;
        let is_clean = synced::read(reader.directory())?.is_clean();
        let process = process(reader.directory(), is_clean);
        let definitions = settings.change.clone();
        Ok(Self { reader: reader.clone(), memory, update_module, definitions, clock, process })
    }
}

impl Insight for Remembered {
    fn status(&self) -> Status {
        let now = self.clock.now();
        let (now_ms, process) = (now.millis(), self.process);
        let mut status = Status { now_ms, started_ms: now_ms, process, ..Status::default() };
        status.running = process == Process::Running;
        self.memory.show(&self.reader.counters().unwrap_or_default(), &mut status);
        // A crawling process may have committed more than is on the disk.
        status.visits = status.visits.min(self.reader.durable_visits());
        let used = self.reader.disk_use().unwrap_or_default();
        status.disk = (used.state, used.collection, used.history);
        self.update_module.show(&mut status, now);
        audit::calibrate(&mut status, &self.reader, now);
        status
    }

    fn explain(&self, page: PageNumber) -> Option<Explanation> {
        self.update_module.refresh().explain(page, self.clock.now())
    }

    fn robots(&self, url: &PageUrl) -> String {
        let site = self.reader.site_number(url.site()).ok().flatten();
        verdict(site.and_then(|site| self.update_module.rules(site)).as_deref(), url)
    }

    fn definition(&self, url: &PageUrl) -> Definition {
        self.definitions.of(url).clone()
    }
}

/// For queries that the stores alone can answer.
struct Nothing;

impl Insight for Nothing {
    fn status(&self) -> Status {
        Status::default()
    }

    fn explain(&self, _page: PageNumber) -> Option<Explanation> {
        None
    }

    fn robots(&self, _url: &PageUrl) -> String {
        String::new()
    }

    fn definition(&self, _url: &PageUrl) -> Definition {
        Definition::default()
    }
}
