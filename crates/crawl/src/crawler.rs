//! The incremental crawler: the main loop that connects the modules (**thesis**, Figure 7.4).
//!
//! > while true: url ← the page that is due; page ← crawl(url); save or update it; add its links to AllUrls
//!
//! Many turns of the loop run at once, each written as if it were alone. The modules communicate through the
//! stores: the writer commits what a turn found, and only then does the UpdateModule learn of it.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use freshet_fetch::change::Definition;
use freshet_fetch::page::PageUrl;
use freshet_fetch::web::politeness::Turn;
use freshet_fetch::web::robots::Chase;
use freshet_fetch::web::{Experience, Fetch};
use freshet_partition::policy::visit::Explanation;
use freshet_protocol::containment::{contained, words_of};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};
use freshet_store::all_urls::Standing;
use freshet_store::collection::Folding;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;
use freshet_store::sites::PolitenessState;
use freshet_store::synced::Synced;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::archived;
use crate::audit::{self, Audit, AuditReport, Belief, CopyBelief, Drawn};
use crate::clock::Clock;
use crate::containment::{Defects, FatalDefect, contained_task};
use crate::crawl_module::CrawlModule;
use crate::event::Event;
use crate::last_run;
use crate::published::{Forecast, Published};
use crate::queries::{Insight, verdict};
use crate::status::Status;
use crate::update::{Assignment, Next, UpdateModule};
use crate::visit::{Order, Visit};
use crate::writer::{Message, Writer};

/// Maximum number of visits that wait for the writer. Beyond it fetching waits too.
const VISITS_MAX: usize = 256;
/// Maximum number of messages in one commit.
const COMMIT_MAX: usize = 512;
/// Number of waiting messages that are committed without waiting for more.
const COMMIT_SOON: usize = 64;
/// Maximum wait for a fuller commit batch. A commit, and waking the committing thread, cost about the same
/// for one visit as for many.
const GATHER_FOR: Duration = Duration::from_millis(4);
/// Number of events that the UpdateModule handles per lock.
const HEARD_AT_ONCE: usize = 1_000;
/// Interval of syncs, which make commits survive a loss of power.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Interval of checks that the directory of the crawl still exists.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Interval of checks whether a full disk has room again.
const ROOM_AGAIN: Duration = Duration::from_secs(1);
/// Maximum number of consecutive attempts to reopen the key-value store for one commit. Beyond it the error
/// is returned: the cause is not a lack of room.
const REOPENED_MAX: u32 = 8;
/// Interval of forecasts of freshness. A forecast reads many pages.
const FORECAST_EVERY: Duration = Duration::from_secs(60);
/// Hours from now that a forecast covers.
const FORECAST_HOURS: [i64; 8] = [0, 1, 6, 24, 3 * 24, 7 * 24, 30 * 24, 180 * 24];
/// Milliseconds of one hour.
const HOUR: i64 = 3_600_000;
/// Minimum sleep of a fetch task.
const NAP: Duration = Duration::from_millis(1);
/// Maximum sleep of a fetch task before it asks for an order again.
const SLEEP_MAX: Duration = Duration::from_millis(500);
/// Maximum sleep of a task that waits for a turn at a host.
const TURN_NAP: Duration = Duration::from_millis(100);
/// Window over which rates are measured.
const RATE_OVER: Duration = Duration::from_secs(10);
/// Maximum time for visits in progress to end after a stop was requested.
const STOP_WITHIN: Duration = Duration::from_millis(1200);

/// The modules, shared by all turns.
pub struct Crawler {
    update_module: Mutex<UpdateModule>,
    crawl_module: CrawlModule,
    /// Builds the WARC records of visits.
    folding: Arc<Folding>,
    writer: mpsc::Sender<Message>,
    clock: Arc<Clock>,
    status: Mutex<Status>,
    /// Time, visits and changes of recent samples, for rates.
    samples: Mutex<VecDeque<(Instant, u64, u64)>>,
    /// Notified when something may have become due.
    event: Notify,
    stopping: AtomicBool,
    stop: Notify,
    once: bool,
    /// The audit in progress.
    audit: Mutex<Option<Audit>>,
    /// Defects of this program in this run.
    defects: Mutex<Defects>,
    /// What the last sync made durable.
    synced: Mutex<Option<Synced>>,
    forecast: Mutex<Forecasts>,
    /// Whether the status is being published.
    publishing: AtomicBool,
}

/// The last forecast of freshness, and when it was made.
#[derive(Default)]
struct Forecasts {
    made: Option<Instant>,
    forecasts: Vec<Forecast>,
}

impl Crawler {
    /// Connects the modules. Returns the receiving end of the writer's messages too.
    pub fn new(
        update_module: UpdateModule,
        crawl_module: CrawlModule,
        folding: Arc<Folding>,
        clock: Arc<Clock>,
        once: bool,
    ) -> (Arc<Self>, mpsc::Receiver<Message>) {
        let (writer, messages) = mpsc::channel(VISITS_MAX);
        let started_ms = clock.now().millis();
        let crawler = Self {
            update_module: Mutex::new(update_module),
            crawl_module,
            folding,
            writer,
            clock,
            status: Mutex::new(Status { running: true, started_ms, ..Status::default() }),
            samples: Mutex::new(VecDeque::new()),
            event: Notify::new(),
            stopping: AtomicBool::new(false),
            stop: Notify::new(),
            once,
            audit: Mutex::new(None),
            defects: Mutex::default(),
            synced: Mutex::default(),
            forecast: Mutex::default(),
            publishing: AtomicBool::new(false),
        };
        (Arc::new(crawler), messages)
    }

    /// Runs this many fetch tasks until the crawl is stopped.
    pub async fn run(self: &Arc<Self>, connections: usize) -> Result<(), StoreError> {
        let mut tasks = JoinSet::new();
        for _ in 0..connections {
            let crawler = Arc::clone(self);
            tasks.spawn(async move {
                while crawler.turn().await? {}
                Ok::<(), StoreError>(())
            });
        }
        let mut result = Ok(());
        let mut until = None;
        let mut pulse = tokio::time::interval(SYNC_EVERY);
        loop {
            let deadline = until.unwrap_or_else(|| tokio::time::Instant::now() + Duration::from_secs(3600));
            tokio::select! {
                ended = tasks.join_next() => match ended {
                    None => break,
                    Some(Ok(Ok(()))) => {}
                    Some(Ok(Err(error))) => {
                        result = result.and(Err(error));
                        self.ask_to_stop();
                    }
                    // Tasks that are aborted at the end are cancelled, not panicked.
                    Some(Err(ended)) => {
                        if let Ok(panic) = ended.try_into_panic() {
                            let said = words_of(panic.as_ref());
                            self.fail("deciding what to visit next", FatalDefect::Panic(said));
                        }
                    }
                },
                _ = pulse.tick() => {
                    // A full queue is fine: a busy writer needs no reminder.
                    let _ = self.writer.try_send(Message::Pulse);
                    self.sample_rates();
                    self.publish_aside();
                }
                () = self.stop.notified() => {
                    // Do not wait for visits in progress if the writer has ended or a defect has ended the
                    // crawl: nobody would record them.
                    let is_over = self.writer.is_closed() || self.fatal_defect().is_some();
                    let within = if is_over { Duration::ZERO } else { STOP_WITHIN };
                    until = Some(tokio::time::Instant::now() + within);
                }
                () = tokio::time::sleep_until(deadline) => {
                    if until.is_some() {
                        // Orders in progress are simply due again at the next start.
                        tasks.abort_all();
                    }
                }
            }
        }
        result
    }

    /// One turn: visits the page that is due and hands the result to the writer. Returns whether there may be
    /// another turn.
    async fn turn(self: &Arc<Self>) -> Result<bool, StoreError> {
        let Some(assignment) = self.next_assignment().await else { return Ok(false) };
        let (order, time) = (assignment.order.clone(), self.clock.now());
        let site = order.site();
        let mut visit = match contained_task(self.crawl_module.visit(&assignment)).await {
            Ok(visit) => visit?,
            Err(said) => self.visit_failed(&order, time, &said)?,
        };
        let politeness = self.let_go(assignment, &visit);
        if let Visit::Robots { site, time, fetches, onward: Some(chase) } = visit {
            let crawler = Arc::clone(self);
            tokio::spawn(async move {
                let chased =
                    contained_task(Arc::clone(&crawler).chase_rules(site, time, fetches, chase)).await;
                chased.unwrap_or_else(|said| {
                    crawler.fail("going after the rules of a site", FatalDefect::Panic(said));
                });
            });
            return Ok(!self.is_stopping());
        }
        if let Err(said) = contained(|| archived::fold(&mut visit, &self.folding)) {
            visit = self.visit_failed(&order, time, &said)?;
        }
        let kept = self.writer.send(Message::Visit(Box::new(visit), site, politeness)).await;
        Ok(kept.is_ok() && !self.is_stopping())
    }

    /// Handles a defect in the execution of an order: reports it, and returns a failed visit for the order.
    fn visit_failed(&self, order: &Order, time: Timestamp, said: &str) -> Result<Visit, StoreError> {
        let said = format!("internal error: {said}");
        let visit = self.crawl_module.visit_failed(order, time, &said)?;
        let doing = match &visit {
            Visit::Page(visit) => format!("visiting {}", visit.url),
            Visit::Listing { url, .. } => format!("reading the list {url}"),
            Visit::Robots { .. } | Visit::SecondLooks { .. } => "asking for the rules of a site".to_owned(),
        };
        self.survive(&doing, said);
        Ok(visit)
    }

    /// Waits for the next order. None when the crawl ends.
    async fn next_assignment(&self) -> Option<Assignment> {
        loop {
            if self.is_stopping() {
                return None;
            }
            let event = self.event.notified();
            let now = self.clock.now();
            let next = self.update_module().next(now);
            let wait = match next {
                Next::Order(assignment) => return Some(assignment),
                Next::Resolve(site, host) => {
                    let found = contained_task(self.crawl_module.web.address_of(&host)).await;
                    let address = found.unwrap_or_else(|said| {
                        self.survive(&format!("looking up {host}"), format!("internal error: {said}"));
                        None
                    });
                    self.update_module().resolved(site, address, self.clock.now());
                    self.event.notify_waiters();
                    continue;
                }
                Next::Wait(moment) => self.clock.wall_time_until(moment).clamp(NAP, SLEEP_MAX),
                Next::Idle => SLEEP_MAX,
            };
            tokio::select! {
                () = event => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Ends the turn of an order at its site. When the site may be visited next depends on how it answered.
    fn let_go(&self, assignment: Assignment, visit: &Visit) -> PolitenessState {
        let (experience, bytes) = visit.ending();
        let now = self.clock.now();
        let politeness = self.update_module().returned(assignment, experience, now, bytes, visit.address());
        self.event.notify_one();
        politeness
    }

    /// Follows the redirects of a site's robots.txt. Each host on the way is visited in a turn of its own,
    /// which may take long to come; visits to other sites do not wait for it.
    async fn chase_rules(
        self: Arc<Self>,
        site: SiteNumber,
        time: Timestamp,
        mut fetches: Vec<Fetch>,
        chase: Chase,
    ) {
        let mut next = Some(chase);
        while let Some(chase) = next {
            let host = chase.host().to_owned();
            let address = self.crawl_module.web.address_of(&host).await;
            let Some(turn) = self.borrow_turn(&host, address, None).await else { return };
            let started = self.clock.now();
            next = match contained_task(self.crawl_module.follow(chase, &mut fetches)).await {
                Ok(next) => next,
                Err(said) => {
                    let said = format!("internal error: {said}");
                    self.survive("going after the rules of a site", said.clone());
                    fetches.push(Fetch::defect(started, said));
                    None
                }
            };
            let last = fetches.last();
            let experience = last.map_or(Experience::NotAsked, Experience::of);
            self.take_back(&host, turn, experience, last.map_or(0, |fetch| fetch.bytes_received));
        }
        let politeness = self.update_module().politeness_of(site);
        let visit = Visit::Robots { site, time, fetches, onward: None };
        self.tell_writer(Message::Visit(Box::new(visit), site, politeness)).await;
    }

    /// Waits for a turn at any host. None if it does not come before `until`, or if the crawl ends.
    pub(crate) async fn borrow_turn(
        &self,
        host: &str,
        address: Option<IpAddr>,
        until: Option<Instant>,
    ) -> Option<Turn> {
        loop {
            let lent = self.update_module().lend(host, address, self.clock.now());
            let wait = match lent {
                Ok(turn) => return Some(turn),
                Err(opens) => opens.map_or(TURN_NAP, |opens| self.clock.wall_time_until(opens)),
            };
            if self.is_stopping() || until.is_some_and(|until| until <= Instant::now()) {
                self.update_module().lend_no_more(host, self.clock.now());
                return None;
            }
            tokio::time::sleep(wait.clamp(NAP, TURN_NAP)).await;
        }
    }

    /// Ends a turn that was lent.
    pub(crate) fn take_back(&self, host: &str, turn: Turn, experience: Experience, bytes: u64) {
        self.update_module().take_back(host, turn, experience, bytes, self.clock.now());
        self.event.notify_one();
    }

    /// Reports a defect that the crawl survives.
    pub(crate) fn survive(&self, doing: &str, said: String) {
        self.defects().survive(doing, said);
    }

    /// A defect that the crawl does not survive: it stops, with an error.
    pub(crate) fn fail(&self, doing: &str, defect: FatalDefect) {
        self.defects().end(doing, defect);
        self.ask_to_stop();
    }

    /// The defect that ended the crawl: what was being done, and the message.
    pub(crate) fn fatal_defect(&self) -> Option<(String, String)> {
        self.defects().fatal()
    }

    fn defects(&self) -> MutexGuard<'_, Defects> {
        self.defects.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The writer's thread: applies messages, commits them in batches, and passes on the resulting events.
    pub fn keep(
        &self,
        mut writer: Writer,
        mut messages: mpsc::Receiver<Message>,
    ) -> Result<Writer, StoreError> {
        let (mut synced, mut looked) = (Instant::now(), Instant::now());
        let event = self.commit(&mut writer)?;
        self.spread(event);
        self.make_durable(&mut writer)?;
        let mut has_ended = false;
        while let Some(first) = messages.blocking_recv() {
            if messages.len() < COMMIT_SOON {
                std::thread::sleep(GATHER_FOR);
            }
            let rest = std::iter::from_fn(|| messages.try_recv().ok()).take(COMMIT_MAX - 1);
            let mut visits = 0;
            for message in std::iter::once(first).chain(rest) {
                has_ended |= matches!(message, Message::End);
                visits += usize::from(writer.take(message, self.clock.now())?);
            }
            let event = self.commit(&mut writer)?;
            self.update_module().committed(visits);
            self.spread(event);
            if looked.elapsed() >= LOOK_EVERY {
                writer.is_still_there()?;
                looked = Instant::now();
            }
            if synced.elapsed() >= SYNC_EVERY {
                let moment = self.update_module().swap(self.clock.now());
                if moment.is_some() {
                    writer.write_note(last_run::see_until(moment));
                }
                self.make_durable(&mut writer)?;
                synced = Instant::now();
            }
            if has_ended {
                break;
            }
        }
        self.make_durable(&mut writer)?;
        Ok(writer)
    }

    /// Syncs what was committed, and only then shows it in the status: what the status counts is on the disk.
    fn make_durable(&self, writer: &mut Writer) -> Result<(), StoreError> {
        match writer.sync(self.clock.now()) {
            // It is tried again. The next commit reports if there is still no room.
            Err(StoreError::DiskFull { .. } | StoreError::Poisoned { .. }) => return Ok(()),
            done => done?,
        }
        let mut board = self.board();
        writer.show(&mut board);
        board.disk = writer.disk();
        drop(board);
        *self.synced.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
            Some(writer.synced().clone());
        Ok(())
    }

    /// Publishes the status on a blocking thread.
    fn publish_aside(self: &Arc<Self>) {
        if self.publishing.swap(true, Ordering::Relaxed) {
            return;
        }
        let crawler = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            let published = contained(|| crawler.publish(FORECAST_EVERY));
            published.unwrap_or_else(|said| {
                crawler.survive("publishing the status", format!("internal error: {said}"));
            });
            crawler.publishing.store(false, Ordering::Relaxed);
        });
    }

    /// Publishes the status, with a forecast that is not older than this.
    fn publish(&self, forecast_age: Duration) {
        let synced = self.synced.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let Some(synced) = synced else { return };
        let mut forecast = self.forecast.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if forecast.made.is_none_or(|made| made.elapsed() >= forecast_age) {
            *forecast = Forecasts { made: Some(Instant::now()), forecasts: self.forecast_now() };
        }
        let forecasts = forecast.forecasts.clone();
        drop(forecast);
        let published = Published::new(&synced, self.clock.speed(), self.status_now(), forecasts);
        // If it cannot be written, as on a full disk, the last one stays. It says when it was published.
        let _ = published.write(self.reader().directory());
    }

    /// Publishes the status of the closed crawl.
    pub(crate) fn publish_end(&self, synced: &Synced) {
        *self.synced.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(synced.clone());
        self.publish(Duration::ZERO);
    }

    /// Forecasts the freshness and age of the copies if nothing is visited.
    fn forecast_now(&self) -> Vec<Forecast> {
        let now = self.clock.now();
        let audits = audit::past(self.reader()).unwrap_or_default();
        let forecast = |hours: &i64| {
            let at = now.plus_millis(hours * HOUR);
            let estimate = self.look(|update_module| update_module.refresh().copy_estimate(at))??;
            let freshness = audit::calibrated((estimate.freshness, estimate.freshness_error), &audits, at);
            let age_days = (estimate.age.get(), estimate.age_error.get());
            Some(Forecast { at_ms: at.millis(), freshness, age_days })
        };
        FORECAST_HOURS.iter().filter_map(forecast).collect()
    }

    /// Commits. While the disk is full it waits for room, and so do the visits behind it. A key-value store
    /// that takes no more writes, as after one of its own writes found no room, is reopened by the next
    /// attempt.
    fn commit(&self, writer: &mut Writer) -> Result<Vec<Event>, StoreError> {
        let mut reopened = 0;
        loop {
            match writer.commit() {
                Err(StoreError::Poisoned { .. }) if reopened < REOPENED_MAX => reopened += 1,
                Err(StoreError::DiskFull { path, .. }) if !self.is_stopping() => {
                    self.board().no_room = path.display().to_string();
                }
                done => {
                    self.board().no_room.clear();
                    return done;
                }
            }
            std::thread::sleep(ROOM_AGAIN);
            writer.is_still_there()?;
        }
    }

    fn spread(&self, event: Vec<Event>) {
        let now = self.clock.now();
        let mut event = event.into_iter().peekable();
        while event.peek().is_some() {
            // The lock is released between batches, so that fetch tasks do not have to wait for all of them.
            let mut update_module = self.update_module();
            event.by_ref().take(HEARD_AT_ONCE).for_each(|event| update_module.hear(event, now));
        }
        let is_done = self.once && self.update_module().has_seen_everything();
        self.event.notify_waiters();
        if is_done {
            self.ask_to_stop();
        }
    }

    /// Asks the crawl to stop: no new visit begins, and those in progress have a moment to end.
    pub fn ask_to_stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.stop.notify_waiters();
        self.stop.notify_one();
        self.event.notify_waiters();
    }

    /// Whether the crawl is stopping.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Sends a message to the writer from a thread that may block.
    pub fn tell_writer_blocking(&self, message: Message) -> bool {
        self.writer.blocking_send(message).is_ok()
    }

    /// Sends a message to the writer. It is applied with the next commit.
    pub async fn tell_writer(&self, message: Message) -> bool {
        self.writer.send(message).await.is_ok()
    }

    /// The current status of the crawl.
    pub fn status_now(&self) -> Status {
        let now = self.clock.now();
        let mut status = self.board().clone();
        status.now_ms = now.millis();
        self.look(|update_module| update_module.show(&mut status, now));
        status.troubles.splice(0..0, self.defects().troubles());
        audit::calibrate(&mut status, self.reader(), now);
        self.measure_rates(&mut status);
        status.limit = status.limiting();
        status
    }

    /// Starts an audit of this many pages, drawn at random. An audit in progress is abandoned.
    pub fn begin_audit(&self, sample: usize) -> Result<AuditReport, StoreError> {
        let audit = self.draw_audit(sample)?;
        let report = audit.report(self.reader())?;
        *self.audit.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(audit);
        Ok(report)
    }

    /// Draws an audit of this many pages at random, and orders their visits.
    pub(crate) fn draw_audit(&self, sample: usize) -> Result<Audit, StoreError> {
        let now = self.clock.now();
        let mut audit = Audit::draw(self.reader(), sample, now)?;
        let status = self.status_now();
        audit.believed = Belief {
            freshness: status.freshness.map(|(freshness, _)| freshness),
            age_days: status.age_days.map(|(age, _)| age),
        };
        for some in std::mem::take(&mut audit.pages).chunks(HEARD_AT_ONCE) {
            // The lock is released between batches, so that fetch tasks do not have to wait for all of them.
            let mut update_module = self.update_module();
            let asked = self.clock.now();
            for drawn in some {
                if !update_module.visit_for_audit(drawn.page, drawn.site, asked) {
                    continue;
                }
                let fresh_at = |moment: Timestamp| {
                    let explanation = update_module.refresh().explain(drawn.page, moment)?;
                    Some(1.0 - explanation.changed_probability)
                };
                let in_a_day = fresh_at(asked.plus_millis(MILLIS_PER_DAY));
                let believed = fresh_at(asked).zip(in_a_day).map(|(now, later)| CopyBelief::new(now, later));
                audit.pages.push(Drawn { asked, believed, ..*drawn });
            }
        }
        self.event.notify_waiters();
        Ok(audit)
    }

    /// The result of the audit so far. None if none is in progress. When all pages are visited, or
    /// `is_enough`, the audit ends and its result is stored.
    pub async fn audit_so_far(&self, is_enough: bool) -> Result<Option<AuditReport>, StoreError> {
        let audit = self.audit.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let Some(report) = audit.map(|audit| audit.report(self.reader())).transpose()? else {
            return Ok(None);
        };
        if report.done || is_enough {
            let (name, note) = audit::note(&report);
            self.tell_writer(Message::Note(name, note)).await;
            *self.audit.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
        }
        Ok(Some(report))
    }

    /// Sets the recent visits and changes per second of system time.
    fn measure_rates(&self, status: &mut Status) {
        let samples = self.samples.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        if let Some((at, visits, changes)) = samples.front() {
            let seconds = (now - *at).as_secs_f64().max(0.1);
            status.visits_per_second = status.visits.saturating_sub(*visits) as f64 / seconds;
            status.changes_per_second = status.changes.saturating_sub(*changes) as f64 / seconds;
        }
    }

    /// Samples the number of visits and changes.
    fn sample_rates(&self) {
        if self.synced.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_none() {
            // The number before this run is not known yet.
            return;
        }
        let (visits, changes) = {
            let board = self.board();
            (board.visits, board.changes)
        };
        let mut samples = self.samples.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        while samples.front().is_some_and(|(at, ..)| now - *at > RATE_OVER) {
            samples.pop_front();
        }
        samples.push_back((now, visits, changes));
    }

    /// The stores, for reading.
    pub fn reader(&self) -> &Reader {
        &self.crawl_module.reader
    }

    /// The crawl's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Locks the module that decides what is visited next. If a panic has left it half changed, the crawl
    /// stops.
    pub fn update_module(&self) -> MutexGuard<'_, UpdateModule> {
        self.update_module.lock().unwrap_or_else(|poisoned| {
            self.fail("deciding what to visit next", FatalDefect::HalfDone);
            poisoned.into_inner()
        })
    }

    /// Reads that module without changing it. None if it is half changed, or if reading it panics.
    fn look<T>(&self, look: impl FnOnce(&UpdateModule) -> T) -> Option<T> {
        let update_module = self.update_module.lock().ok()?;
        let seen = contained(|| look(&update_module));
        seen.map_err(|said| self.survive("explaining", format!("internal error: {said}"))).ok()
    }

    /// Whether a URL belongs to a kept page.
    pub fn is_kept(&self, url: &PageUrl) -> bool {
        let id = self.reader().url_id(url.as_str()).ok().flatten();
        let record = id.and_then(|id| self.reader().url(id).ok().flatten());
        record.is_some_and(|record| matches!(record.standing, Standing::Kept(_)))
    }

    /// Locks the status that the writer fills.
    pub(crate) fn board(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Insight for Crawler {
    fn status(&self) -> Status {
        self.status_now()
    }

    fn explain(&self, page: PageNumber) -> Option<Explanation> {
        self.look(|update_module| update_module.refresh().explain(page, self.clock.now()))?
    }

    fn definition(&self, url: &PageUrl) -> Definition {
        self.crawl_module.definitions.of(url).clone()
    }

    fn robots(&self, url: &PageUrl) -> String {
        let site = self.reader().site_number(url.site()).ok().flatten();
        verdict(site.and_then(|site| self.update_module().rules(site)).as_deref(), url)
    }
}
