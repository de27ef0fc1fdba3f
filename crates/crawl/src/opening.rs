//! Opening, running and closing the crawl of a directory.
//!
//! The state of the UpdateModule is a fold over the stores: the sites, the waiting pages, and the visits of
//! the History, replayed in order as the policy learned of them when they were made.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use freshet_fetch::change::Kinds;
use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::scope::BadPattern;
use freshet_fetch::page::{Canonical, PageUrl};
use freshet_fetch::web::politeness::Politeness;
use freshet_fetch::web::{Web, WebError};
use freshet_partition::budget::Budget;
use freshet_partition::policy::{Form, Outcome, Setting};
use freshet_partition::topic::Topic;
use freshet_protocol::containment::contained;
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitOutcome, VisitQuery};
use freshet_store::reader::Reader;
use freshet_store::store::Store;
use freshet_theory::units::{Days, MILLIS_PER_DAY};
use tokio::sync::mpsc;

use crate::clock::{Clock, wall_now};
use crate::containment::FatalDefect;
use crate::crawl_module::CrawlModule;
use crate::crawler::Crawler;
use crate::event::Event;
use crate::last_run::{self, LastRun};
use crate::queries::{Answer, Question, site_named};
use crate::query_socket::{Progress, QuerySocket, paused_or_not, pinned};
use crate::ranking_module::rank;
use crate::self_audit;
use crate::settings::{Mode, Publication, Settings};
use crate::update::intervals::Intervals;
use crate::update::refresh::Refresh;
use crate::update::shadow::Shadow;
use crate::update::{Overrides, UpdateModule, UpdateSettings};
use crate::visit::Reason;
use crate::writer::readings::ListReading;
use crate::writer::rhythm::Rhythms;
use crate::writer::{Admission, Memory, Message, Writer};

/// Downloads per page in one policy cycle: sets the default length of a cycle.
const SHARE: f64 = 0.1;
/// Minimum length of a policy cycle, in days: an hour.
const CYCLE_MIN: f64 = 1.0 / 24.0;
/// Maximum length of a policy cycle, in days.
const CYCLE_MAX: f64 = 14.0;
/// Number of ticks in a cycle, for policies that visit steadily.
const STEADY_STEPS: i64 = 28;
/// Days in which the budget of a new crawl is expected to visit every page once.
const DAYS_EXPECTED: f64 = 7.0;
/// Visits per page from which on the known pages are assumed to be all there are.
const VISITS_TO_KNOW: u64 = 2;
/// Visits per day that stand for an unlimited budget.
const UNLIMITED_PER_DAY: f64 = 10_000_000.0;
/// Orders that are kept ready per connection.
const READY_PER_CONNECTION: usize = 4;
/// Maximum amount of budget that may accumulate unspent, in milliseconds.
const BURST: f64 = 60_000.0;
/// The same in system time, for a crawl whose time runs faster: about the duration of a visit.
const BURST_WALL: f64 = 2_000.0;
/// Minimum pause of the RankingModule between two rankings.
const RANK_EVERY: Duration = if cfg!(test) { Duration::from_secs(1) } else { Duration::from_secs(20) };
/// The pause is at least this many times as long as the last ranking took.
const RANK_REST: u32 = 20;
/// Number of pages with new importance per message to the writer: a few milliseconds of work.
const RANKED_AT_ONCE: usize = 1_000;
/// Pause between two such messages, in which the writer can apply visits.
const BETWEEN_PIECES: Duration = Duration::from_millis(5);

/// Progress of the opening, from 0 to 1, when the store is open.
const STORE_OPEN: f64 = 0.1;
/// Progress when the writer is ready: all URLs and pages were read.
const WRITER_READY: f64 = 0.5;
/// Number of replayed visits between two updates of the progress.
const VISITS_BETWEEN: usize = 4096;

/// Why a crawl cannot run.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The stores refused an operation.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The HTTP client cannot be created with these settings.
    #[error(transparent)]
    Web(#[from] WebError),
    /// A rule of a site is not a valid pattern.
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    /// A seed cannot be crawled.
    #[error("the seed {url} cannot be crawled: {why}")]
    Seed {
        /// The seed.
        url: String,
        /// The reason.
        why: String,
    },
    /// A seed is on a public host, and no contact address is set for its owner.
    #[error(
        "{host} is not a private host: say whom its owner may write to, with --contact or in the \
         configuration"
    )]
    NoContact {
        /// The host.
        host: String,
    },
    /// A defect of this program.
    #[error(
        "internal error while {doing}: {said}; what was committed is kept, and the same command goes on from \
         there: please report this"
    )]
    Defect {
        /// What was being done.
        doing: String,
        /// The message of the panic.
        said: String,
    },
}

/// A crawl that is ready to run.
///
/// # Examples
///
/// Begins a crawl of one site without running it, and asks what it knows:
///
/// ```
/// use std::sync::Arc;
///
/// use freshet_crawl::clock::{Clock, Pace};
/// use freshet_crawl::opening::Crawl;
/// use freshet_crawl::queries::{Answer, PageOrder, Question};
/// use freshet_crawl::settings::{Mode, Publication, Settings};
/// use freshet_crawl::stopped;
/// use freshet_fetch::web::{PrivateAddresses, WebSettings};
///
/// let directory = tempfile::tempdir()?;
/// let settings = Settings {
///     directory: directory.path().to_owned(),
///     seeds: vec!["http://localhost/".to_owned()],
///     web: WebSettings { private: PrivateAddresses::Allowed, ..WebSettings::default() },
///     visits_per_day: Some(20_000.0),
///     pages_max: 1_000,
///     policy: "freshet".parse()?,
///     // ...
/// #     sites: Vec::new(),
/// #     follow_other_sites: false,
/// #     bytes_per_day: None,
/// #     discovery_share: 0.8,
/// #     audit_share: 0.0,
/// #     connections: 4,
/// #     importance_weight: 0.0,
/// #     topic: Vec::new(),
/// #     pins: Vec::new(),
/// #     change: Default::default(),
/// #     clean_urls: true,
/// #     trap_defence: true,
/// #     politeness: Default::default(),
/// #     keep: Default::default(),
/// #     intervals: Vec::new(),
/// #     mode: Mode::Steady,
/// #     publication: Publication::InPlace,
/// #     cycle: None,
/// #     once: false,
/// #     seed: 1,
/// };
/// # let runtime = tokio::runtime::Runtime::new()?;
/// # let _guard = runtime.enter();
/// let crawl = Crawl::open(settings.clone(), Arc::new(Clock::new(Pace::WALL)))?;
/// crawl.close()?; // or `crawl.run().await?`
///
/// let question = Question::Pages { site: None, sort: PageOrder::Due, limit: 10 };
/// let Answer::Pages(pages) = stopped::ask(settings, &question)? else { panic!("another answer") };
/// assert_eq!(pages.len(), 1);
/// assert_eq!((pages[0].url.as_str(), pages[0].note.as_str()), ("http://localhost/", "waiting"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Crawl {
    crawler: Arc<Crawler>,
    writer: Writer,
    messages: mpsc::Receiver<Message>,
    settings: Settings,
    bound: Option<QuerySocket>,
}

impl Crawl {
    /// Opens the directory of a crawl, or creates one.
    pub fn open(settings: Settings, clock: Arc<Clock>) -> Result<Self, CrawlError> {
        // Report mistakes in the settings before anything is written.
        let web = Web::new(settings.web.clone())?;
        let admission = Admission::new(&settings)?;
        Intervals::new(&settings.intervals)?;
        let canonical = settings.canonical();
        let checked = |url: &String| checked_seed(&web, &canonical, url);
        let seeds = settings.seeds.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
        let pins = settings
            .pins
            .iter()
            .map(|pin| Ok((checked(&pin.url)?, pin.every)))
            .collect::<Result<Vec<_>, CrawlError>>()?;
        let lock = Store::lock(&settings.directory)?;
        let progress = Arc::new(Progress::default());
        let bound = QuerySocket::new(&settings.directory, Arc::clone(&progress));
        let store = Store::open_locked(lock, &settings.directory, settings.store())?;
        progress.reach(STORE_OPEN);
        if let Some(latest) = store.reader().latest_moment()? {
            clock.not_before(latest);
        }
        let now = clock.now();
        let mut writer = Writer::new(store, admission)?;
        progress.reach(WRITER_READY);
        writer.write_note(LastRun::of(&settings, &clock).note());
        let visible = last_run::visible_until(&writer.reader())?;
        writer.write_note(last_run::see_until(match settings.publication {
            Publication::InPlace => None,
            Publication::Shadow => Some(visible.unwrap_or_default()),
        }));
        for url in seeds.iter().chain(pins.iter().map(|(url, _)| url)) {
            writer.add_seed(url, now).map_err(|why| CrawlError::Seed { url: url.to_string(), why })?;
        }
        for (url, every) in pins {
            writer.take(Message::Pin(url, (every.get() * MILLIS_PER_DAY) as u64), now)?;
        }
        writer.commit()?;
        let mut crawl = Self::join(settings, clock, web, writer, &progress)?;
        match bound {
            Ok(mut bound) => {
                bound.opened();
                crawl.bound = Some(bound);
            }
            // The crawl can run without its socket.
            Err(error) => crawl.crawler.survive("binding the socket for questions", error.to_string()),
        }
        Ok(crawl)
    }

    /// Connects the modules.
    fn join(
        settings: Settings,
        clock: Arc<Clock>,
        web: Web,
        mut writer: Writer,
        progress: &Progress,
    ) -> Result<Self, CrawlError> {
        let reader = writer.reader();
        let mut update_module = update_module(&settings, &reader, &clock)?;
        replay(&mut update_module, &reader, writer.memory(), clock.now(), progress)?;
        if reader.counters()?.visits > 0 || !writer.ended_cleanly() {
            update_module.begin(clock.now());
        }
        let (canonical, limits, definitions) =
            (settings.canonical(), Limits::default(), settings.change.clone());
        let clock_of_visits = Arc::clone(&clock);
        let crawl_module = CrawlModule::new(web, reader, canonical, clock_of_visits, limits, definitions);
        let (crawler, messages) =
            Crawler::new(update_module, crawl_module, writer.folding(), clock, settings.once);
        // Queries are answered before the first commit, which may wait for room on the disk.
        writer.show(&mut crawler.board());
        Ok(Self { crawler, writer, messages, settings, bound: None })
    }

    /// The running modules, to watch them and to ask them to stop.
    pub fn crawler(&self) -> Arc<Crawler> {
        Arc::clone(&self.crawler)
    }

    /// Takes the query socket, for [`crate::query_socket::serve`].
    pub fn take_socket(&mut self) -> Option<QuerySocket> {
        self.bound.take()
    }

    /// The writer, while the crawl does not run.
    pub fn writer_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Closes the files without running.
    pub fn close(self) -> Result<(), CrawlError> {
        let now = self.crawler.clock().now();
        let Self { crawler, writer, .. } = self;
        crawler.publish_end(&writer.close(now)?);
        Ok(())
    }

    /// Runs until the crawl is asked to stop, then closes its files.
    pub async fn run(self) -> Result<(), CrawlError> {
        let Self { crawler, writer, messages, settings, bound: _bound } = self;
        let keeping = {
            let crawler = Arc::clone(&crawler);
            std::thread::spawn(move || {
                // After a panic nothing more is written. The next start recovers what was committed.
                let kept = contained(|| crawler.keep(writer, messages));
                crawler.ask_to_stop();
                kept.map_err(|said| crawler.fail("taking in what visits found", FatalDefect::Panic(said)))
            })
        };
        let ranking = {
            let crawler = Arc::clone(&crawler);
            let pages_max = settings.pages_max;
            let topic = Topic::new(&settings.topic);
            std::thread::spawn(move || refine(&crawler, pages_max, topic.as_ref()))
        };
        let auditing = {
            let crawler = Arc::clone(&crawler);
            let share = if settings.once { 0.0 } else { settings.audit_share };
            std::thread::spawn(move || self_audit::audit_until_the_end(&crawler, share))
        };
        let ran = crawler.run(settings.connections).await;
        crawler.tell_writer(Message::End).await;
        let clock_now = crawler.clock().now();
        let joined = tokio::task::spawn_blocking(move || {
            let aside = [ranking.join(), auditing.join()];
            (keeping.join(), aside)
        });
        let defect =
            |doing: &str, said: &str| CrawlError::Defect { doing: doing.to_owned(), said: said.to_owned() };
        let unexpected = |_| defect("ending", "a thread of the crawl ended unexpectedly");
        let (kept, aside) = joined.await.map_err(|_| unexpected(()))?;
        let kept = kept.map_err(|_| unexpected(()))?;
        let closed = kept.map(|kept| kept?.close(clock_now));
        if let Some((doing, said)) = crawler.fatal_defect() {
            return Err(defect(&doing, &said));
        }
        crawler.publish_end(&closed.map_err(unexpected)??);
        for ended in aside {
            ended.map_err(|_| unexpected(()))?;
        }
        Ok(ran?)
    }
}

/// Carries out a command of a user in a crawl that does not run.
pub fn change(settings: &Settings, question: &Question) -> Result<Answer, CrawlError> {
    let admission = Admission::new(settings)?;
    let store = Store::open(&settings.directory, settings.store())?;
    let latest = store.reader().latest_moment()?;
    let now = wall_now().max(latest.unwrap_or_default());
    let mut writer = Writer::new(store, admission)?;
    let done = match question {
        Question::Pin { url, every_ms } => match Canonical::default().of(url) {
            Ok(url) if writer.memory().keeps(&url)? => {
                writer.take(Message::Pin(url.clone(), *every_ms), now)?;
                Answer::Done(pinned(url.as_str(), *every_ms))
            }
            _ => Answer::Unknown(format!("{url} is not kept: it cannot be pinned")),
        },
        Question::Pause { site, paused } => match site_named(&writer.reader(), site)? {
            Some((number, name)) => {
                writer.take(Message::Pause(number, *paused), now)?;
                Answer::Done(paused_or_not(&name, *paused))
            }
            None => Answer::Unknown(format!("{site} is not a site of this crawl")),
        },
        _ => Answer::Unknown("the crawl does not run".to_owned()),
    };
    writer.close(now)?;
    Ok(done)
}

/// The RankingModule's thread: ranks and rests in turn, until the crawl stops.
fn refine(crawler: &Crawler, pages_max: usize, topic: Option<&Topic>) {
    let mut rest = RANK_EVERY;
    let mut ranked = None;
    loop {
        let begun = Instant::now();
        while begun.elapsed() < rest {
            if crawler.is_stopping() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let known = crawler.reader().counters().map(|counters| (counters.urls, counters.visits)).ok();
        if known.is_none() || known == ranked {
            continue;
        }
        ranked = known;
        let begun = Instant::now();
        let pieces = contained(|| {
            #[cfg(test)]
            crate::tripwire::trip_at("panic-in-ranking", crawler.reader().directory());
            Ok::<_, StoreError>(
                rank(crawler.reader(), pages_max, topic)?.pieces(RANKED_AT_ONCE).collect::<Vec<_>>(),
            )
        });
        // If a ranking fails, the last one applies until the next.
        let pieces = match pieces {
            Ok(Ok(pieces)) => pieces,
            Ok(Err(error)) => {
                crawler.survive("ranking the pages", error.to_string());
                Vec::new()
            }
            Err(said) => {
                crawler.survive("ranking the pages", format!("internal error: {said}"));
                Vec::new()
            }
        };
        for piece in pieces {
            if crawler.is_stopping() || !crawler.tell_writer_blocking(Message::Ranking(piece)) {
                return;
            }
            // Visits have priority: a piece of the ranking is applied between them now and then.
            std::thread::sleep(BETWEEN_PIECES);
        }
        rest = RANK_EVERY.max(begun.elapsed() * RANK_REST);
    }
}

/// Returns the canonical form of a seed, if it can be crawled.
fn checked_seed(web: &Web, canonical: &Canonical, seed: &str) -> Result<PageUrl, CrawlError> {
    let bad = |why: String| CrawlError::Seed { url: seed.to_owned(), why };
    let url = canonical.of(seed).map_err(|refused| bad(refused.to_string()))?;
    if web.needs_contact(url.host()) {
        return Err(CrawlError::NoContact { host: url.host().to_owned() });
    }
    Ok(url)
}

pub(crate) fn update_module(
    settings: &Settings,
    reader: &Reader,
    clock: &Clock,
) -> Result<UpdateModule, CrawlError> {
    let now = clock.now();
    let counters = reader.counters()?;
    let per_day = settings.visits_per_day.unwrap_or(UNLIMITED_PER_DAY);
    let pages = pages_expected(counters.kept, counters.visits, settings.visits_per_day, settings.pages_max);
    let cycle = match settings.cycle {
        Some(cycle) => cycle.get(),
        None => (SHARE * pages / per_day.max(1e-9)).clamp(CYCLE_MIN, CYCLE_MAX),
    };
    let share = (per_day * cycle / pages).clamp(1e-6, 1.0);
    let setting = Setting { cycle: Days::new(cycle), budget_share: share, seed: settings.seed };
    let form = if settings.mode == Mode::Batch { Form::Cycle } else { Form::Steady };
    let policy = settings.policy.clone().settled(form);
    let is_steady = policy.form() == Form::Steady && settings.mode == Mode::Steady;
    let policy = policy.build(&setting);
    let steps = if is_steady { STEADY_STEPS } else { 1 };
    let cycle_millis = ((cycle * MILLIS_PER_DAY) as i64).max(1);
    let seen = reader.sites().map(|entry| Ok(entry?.1.first_seen)).collect::<Result<Vec<_>, StoreError>>()?;
    let start = seen.into_iter().min().unwrap_or(now);
    let refresh = Refresh::new(policy, start, (cycle_millis / steps).max(1));
    let burst_millis = BURST.max(BURST_WALL * clock.speed());
    let burst = |per_day: Option<f64>, least: f64| {
        per_day.map_or(0.0, |rate| (rate * burst_millis / MILLIS_PER_DAY).max(least))
    };
    let visits = match (settings.mode, settings.visits_per_day) {
        (Mode::Batch, Some(per_day)) => {
            let begun = now.millis_since(start).div_euclid(cycle_millis) * cycle_millis;
            let used = reader.visits(&VisitQuery::since(start.plus_millis(begun)))?.len();
            Budget::in_lumps(per_day, start, cycle_millis, used as f64, now)
        }
        (_, per_day) => Budget::new(per_day, burst(per_day, 1.0), now),
    };
    let shadow = match settings.publication {
        Publication::InPlace => None,
        Publication::Shadow => Some(Shadow {
            start,
            cycle: cycle_millis,
            waits_for_the_end: settings.mode == Mode::Batch,
            published: last_run::visible_until(reader)?.unwrap_or_default(),
        }),
    };
    let update = UpdateSettings {
        discovery_share: settings.discovery_share,
        ready: READY_PER_CONNECTION * settings.connections,
        importance_weight: settings.importance_weight as f32,
        refresh: !settings.once,
        prices_bytes: settings.bytes_per_day.is_some(),
        has_delay: settings.politeness.delay > Duration::ZERO,
    };
    Ok(UpdateModule::new(
        update,
        refresh,
        Politeness::new(settings.politeness),
        visits,
        Budget::new(settings.bytes_per_day, burst(settings.bytes_per_day, 1e6), now),
        Overrides {
            intervals: Intervals::new(&settings.intervals)?,
            site_rules: settings.sites.clone(),
            kinds: settings.change.weights,
            shadow,
        },
    ))
}

/// Number of pages that the policy's cycle is made for. A new crawl knows only its seeds. A cycle made for
/// these would end within the hour, and all that was learned would be forgotten within days. Without a budget
/// only the kept pages count.
fn pages_expected(kept: u64, visits: u64, per_day: Option<f64>, pages_max: usize) -> f64 {
    let per_day = per_day.filter(|_| visits < VISITS_TO_KNOW * kept).unwrap_or(0.0);
    (DAYS_EXPECTED * per_day).min(pages_max as f64).max(kept as f64).max(1.0)
}

/// Replays all that the stores hold to the module, as it learned it when it happened.
pub(crate) fn replay(
    module: &mut UpdateModule,
    reader: &Reader,
    memory: &mut Memory,
    now: Timestamp,
    progress: &Progress,
) -> Result<(), StoreError> {
    let (copies, readings) = memory.tell_all(now, |event| module.hear(event, now))?;
    let mut readings = readings.into_iter().peekable();
    let mut visits = Vec::new();
    reader.for_each_outcome(|visit| visits.extend(PastVisit::of(&visit)))?;
    visits.sort_unstable_by_key(|visit| (visit.time, visit.number));
    let mut rhythms = Rhythms::default();
    let count = visits.len();
    for (at, visit) in visits.into_iter().enumerate() {
        if at % VISITS_BETWEEN == 0 {
            progress.reach(WRITER_READY + (1.0 - WRITER_READY) * at as f64 / count as f64);
        }
        let PastVisit { time, page, kind, prompted, date, bytes_expected, kinds, .. } = visit;
        while let Some(reading) = readings.next_if(|(_, reading)| reading.time() < time) {
            replay_reading(module, memory, &reading, now);
        }
        module.let_pass(time);
        rhythms.hear(page, time, kind == VisitKind::Changed, date);
        let outcome = match kind {
            VisitKind::New | VisitKind::Back => {
                copies.copied(page, time).into_iter().for_each(|event| module.hear(event, now));
                continue;
            }
            VisitKind::Unchanged | VisitKind::NotModified => Outcome::Unchanged,
            VisitKind::Changed => Outcome::Changed,
            VisitKind::Gone => Outcome::Gone,
            VisitKind::Failed | VisitKind::Moved | VisitKind::Refused => Outcome::Failed,
        };
        if !matches!(kind, VisitKind::Failed | VisitKind::Refused) {
            memory.recall_judgement(page);
        }
        // Only the last reading of each sitemap is stored. Without the earlier ones a page seems to have
        // waited for far longer than it had, which would mislead the policy about all pages that no sitemap
        // dates. So visits before the last reading count as prompted.
        let prompted = prompted || copies.was_told(page, time);
        module.hear(Event::Visited { page, time, outcome, prompted, date, bytes_expected, kinds }, now);
    }
    for reading in readings {
        replay_reading(module, memory, &reading, now);
    }
    for (page, change) in rhythms.expected() {
        if let Some(site) = copies.site(page) {
            module.hear(Event::Expected { page, site, change }, now);
        }
    }
    memory.recall_signals(&copies).into_iter().for_each(|event| module.hear(event, now));
    Ok(())
}

/// Replays the last reading of a list to the module.
fn replay_reading(
    module: &mut UpdateModule,
    memory: &mut Memory,
    (list, reading): &(Box<str>, ListReading),
    now: Timestamp,
) {
    module.let_pass(reading.time());
    memory.recall_reading(list, reading).into_iter().for_each(|event| module.hear(event, now));
}

/// What the policy learns of a past visit. Millions of them are held at once, to be sorted.
struct PastVisit {
    time: Timestamp,
    number: u64,
    page: PageNumber,
    bytes_expected: f32,
    kind: VisitKind,
    kinds: Option<Kinds>,
    prompted: bool,
    date: Option<Timestamp>,
}

impl PastVisit {
    fn of(visit: &VisitOutcome<'_>) -> Option<Self> {
        Some(Self {
            time: visit.time,
            number: visit.number,
            page: visit.page?,
            bytes_expected: visit.bytes as f32,
            kind: visit.kind,
            kinds: visit.change_kinds.map(Kinds::of_words),
            date: visit.last_modified,
            prompted: Reason::PROMPTED.iter().any(|reason| visit.reason == Some(reason.word())),
        })
    }
}

/// Whether a directory contains a crawl.
pub fn is_crawl(directory: &Path) -> bool {
    // A damaged crawl counts too.
    ["state", "SYNCED", "log"].iter().any(|part| directory.join(part).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_of_a_crawl_that_begins_are_not_all_of_its_pages() {
        let (unlimited, budget) = (usize::MAX, Some(1_000.0));
        assert_eq!(pages_expected(200, 0, budget, unlimited), 7_000.0);
        assert_eq!(pages_expected(200, 0, budget, 500), 500.0);
        assert_eq!(pages_expected(1, 0, Some(0.0), unlimited), 1.0);
        assert_eq!(pages_expected(200, 0, None, unlimited), 200.0);
        // Still growing, and fully grown.
        assert_eq!(pages_expected(5_000, 6_000, budget, unlimited), 7_000.0);
        assert_eq!(pages_expected(9_000, 6_000, budget, unlimited), 9_000.0);
        assert_eq!(pages_expected(5_000, 10_000, budget, unlimited), 5_000.0);
    }
}
