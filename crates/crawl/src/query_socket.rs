//! The query socket: a Unix socket in the crawl's directory on which a running crawl answers queries.
//!
//! A query and its answer are one line of JSON each. Only users who may write the directory can connect;
//! others read the files. The socket is bound before the crawl is opened, and answers meanwhile with the
//! progress of the opening.
//!
//! Another program that visits hosts while the crawl runs borrows the crawl's turns at them. So a host is
//! visited by one program at a time, with the crawl's delays, and the visits are paid from the crawl's
//! budget. A loan lasts as long as its connection: a process that is killed has given its turn back.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::IpAddr;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use freshet_fetch::page::Canonical;
use freshet_fetch::web::Experience;
use freshet_store::directory::lock::Lock;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, Lines, Take};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::containment::contained_task;
use crate::crawler::Crawler;
use crate::queries::{Answer, Question, answer, site_named};
use crate::writer::Message;

/// Maximum length of a query, in bytes.
const QUESTION_MAX: u64 = 64 * 1024;
/// Maximum time for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);
/// Interval at which a waiting client checks whether the crawling process was stopped by a signal.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Interval at which a crawl that is being opened checks for connections.
const OPENING_EVERY: Duration = Duration::from_millis(20);
/// Maximum length of a socket path that is used directly, in bytes.
const PATH_MAX: usize = 100;

/// Maximum wait for a turn. Then the client is told to ask again.
const TURN_WITHIN: Duration = Duration::from_secs(30);
/// Maximum duration of a turn: longer than any visit.
const TURN_MAX: Duration = Duration::from_secs(300);

/// The bound query socket of a crawl. While the crawl is being opened, a thread answers on it; that thread
/// ends with this value.
#[derive(Debug)]
pub struct QuerySocket {
    listener: UnixListener,
    path: PathBuf,
    opening: Option<Opening>,
}

/// The thread that answers while a crawl is being opened.
#[derive(Debug)]
struct Opening {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl QuerySocket {
    /// Binds the socket of a directory that this process has locked. `progress` is the progress of the
    /// opening.
    pub(crate) fn new(directory: &Path, progress: Arc<Progress>) -> io::Result<Self> {
        let path = socket(directory);
        // Left behind by a killed crawl: the lock proves that none runs.
        let _ = std::fs::remove_file(&path);
        let near = Near::of(&path)?;
        let listener = UnixListener::bind(near.path())?;
        listener.set_nonblocking(true)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let thread = {
            let (listener, is_over) = (listener.try_clone()?, Arc::clone(&is_over));
            std::thread::spawn(move || answer_until(&listener, &is_over, &progress))
        };
        Ok(Self { listener, path, opening: Some(Opening { is_over, thread }) })
    }

    /// Marks the crawl as open: from now on queries wait until [`serve`] answers them.
    pub(crate) fn opened(&mut self) {
        if let Some(opening) = self.opening.take() {
            opening.is_over.store(true, Ordering::Relaxed);
            let _ = opening.thread.join();
        }
    }
}

impl Drop for QuerySocket {
    fn drop(&mut self) {
        self.opened();
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Progress of the opening, in thousandths.
#[derive(Debug, Default)]
pub(crate) struct Progress(AtomicU32);

impl Progress {
    /// Sets the progress, from 0 to 1.
    pub(crate) fn reach(&self, part: f64) {
        self.0.store((1000.0 * part) as u32, Ordering::Relaxed);
    }

    fn part(&self) -> f64 {
        f64::from(self.0.load(Ordering::Relaxed)) / 1000.0
    }
}

/// Answers every query with the progress of the opening, until it is over.
fn answer_until(listener: &UnixListener, is_over: &AtomicBool, progress: &Progress) {
    while !is_over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                let mut text = serde_json::to_vec(&Answer::Opening(progress.part())).unwrap_or_default();
                text.push(b'\n');
                // The client may have disconnected.
                let _ = stream.set_write_timeout(Some(LOOK_EVERY)).and_then(|()| (&stream).write_all(&text));
            }
            Err(_) => std::thread::sleep(OPENING_EVERY),
        }
    }
}

/// Answers queries until the crawl ends.
pub async fn serve(bound: QuerySocket, crawler: Arc<Crawler>) -> io::Result<()> {
    let listener = tokio::net::UnixListener::from_std(bound.listener.try_clone()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let crawler = Arc::clone(&crawler);
        let asked = Arc::clone(&crawler);
        let answering = async move {
            let (reader, mut writer) = stream.into_split();
            let mut lines = tokio::io::BufReader::new(reader.take(QUESTION_MAX)).lines();
            if let Ok(Some(line)) = lines.next_line().await {
                let answer = match serde_json::from_str(&line) {
                    Ok(Question::Turn { host, address }) => {
                        return lend(&crawler, &host, address, lines, writer).await;
                    }
                    Ok(question) => respond(crawler, question).await,
                    Err(error) => Answer::Unknown(format!("the question cannot be read: {error}")),
                };
                // The client may have disconnected.
                let _ = tell(&mut writer, &answer).await;
            }
        };
        tokio::spawn(async move {
            let answered = contained_task(answering).await;
            answered.unwrap_or_else(|said| {
                asked.survive("answering a question", format!("internal error: {said}"));
            });
        });
    }
}

async fn tell(writer: &mut OwnedWriteHalf, answer: &Answer) -> io::Result<()> {
    let mut text = serde_json::to_vec(answer)?;
    text.push(b'\n');
    writer.write_all(&text).await
}

/// Lends the crawl's turn at a host for as long as the connection lasts.
async fn lend(
    crawler: &Crawler,
    host: &str,
    address: Option<IpAddr>,
    mut lines: Lines<tokio::io::BufReader<Take<OwnedReadHalf>>>,
    mut writer: OwnedWriteHalf,
) {
    let until = Instant::now() + TURN_WITHIN;
    let Some(turn) = crawler.borrow_turn(host, address, Some(until)).await else {
        let _ = tell(&mut writer, &Answer::NoTurn).await;
        return;
    };
    let experience = match tell(&mut writer, &Answer::Turn).await {
        Ok(()) => {
            let said =
                tokio::time::timeout(TURN_MAX, lines.next_line()).await.ok().and_then(Result::ok).flatten();
            let said = said.and_then(|line| serde_json::from_str::<Behaviour>(&line).ok());
            // A client that was killed may have visited the host a moment ago.
            said.map_or(Experience::Served, Behaviour::experience)
        }
        Err(_) => Experience::NotAsked,
    };
    // The other program counts its own bytes.
    crawler.take_back(host, turn, experience, 0);
}

/// A turn at a host that was borrowed from a crawl. It ends when it is dropped.
#[derive(Debug)]
pub struct Borrowed {
    stream: UnixStream,
}

/// How a host behaved in a borrowed turn, as reported to the crawl.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Behaviour {
    Served,
    Overloaded { pause_ms: Option<u64> },
    Failed,
    NotAsked,
}

impl Behaviour {
    fn of(experience: Experience) -> Self {
        match experience {
            Experience::Served => Self::Served,
            Experience::Overloaded(pause) => {
                Self::Overloaded { pause_ms: pause.map(|pause| pause.as_millis() as u64) }
            }
            Experience::Failed => Self::Failed,
            Experience::NotAsked => Self::NotAsked,
        }
    }

    fn experience(self) -> Experience {
        match self {
            Self::Served => Experience::Served,
            Self::Overloaded { pause_ms } => Experience::Overloaded(pause_ms.map(Duration::from_millis)),
            Self::Failed => Experience::Failed,
            Self::NotAsked => Experience::NotAsked,
        }
    }
}

impl Borrowed {
    /// Returns the turn and reports how the host behaved.
    pub fn give_back(self, experience: Experience) {
        if let Ok(mut text) = serde_json::to_vec(&Behaviour::of(experience)) {
            text.push(b'\n');
            // A crawl that has ended does not need it back.
            let _ = (&self.stream).write_all(&text);
        }
    }
}

/// The result of asking for a turn.
#[derive(Debug)]
pub enum Loan {
    /// The host may be visited once.
    Turn(Borrowed),
    /// It may not be visited yet: ask again.
    NotYet,
    /// No crawl runs: no turn is needed.
    NoCrawl,
}

/// Borrows a turn at a host from the crawl that runs in a directory. Waits up to half a minute for it.
pub fn borrow_turn(directory: &Path, host: &str, address: Option<IpAddr>) -> io::Result<Loan> {
    let question = Question::Turn { host: host.to_owned(), address };
    Ok(match ask_over(directory, &question)? {
        (Reply::Nobody, _) => Loan::NoCrawl,
        (Reply::Answer(Answer::Turn), Some(stream)) => Loan::Turn(Borrowed { stream }),
        (Reply::Answer(Answer::NoTurn) | Reply::Opening(_) | Reply::Frozen(_), _) => Loan::NotYet,
        (Reply::Answer(Answer::Unknown(why)), _) => return Err(io::Error::other(why)),
        (Reply::Forbidden, _) => return Err(io::ErrorKind::PermissionDenied.into()),
        _ => return Err(io::Error::other("the crawl answers another question")),
    })
}

async fn respond(crawler: Arc<Crawler>, question: Question) -> Answer {
    match question {
        Question::Pin { url, every_ms } => match Canonical::default().of(&url) {
            Ok(url) if crawler.is_kept(&url) => {
                crawler.tell_writer(Message::Pin(url.clone(), every_ms)).await;
                Answer::Done(pinned(url.as_str(), every_ms))
            }
            Ok(url) => Answer::Unknown(format!("{url} is not kept: it cannot be pinned")),
            Err(refused) => Answer::Unknown(format!("{url}: {refused}")),
        },
        Question::Pause { site, paused } => match site_named(crawler.reader(), &site) {
            Ok(Some((number, name))) => {
                crawler.tell_writer(Message::Pause(number, paused)).await;
                Answer::Done(paused_or_not(&name, paused))
            }
            Ok(None) => Answer::Unknown(format!("{site} is not a site of this crawl")),
            Err(error) => Answer::Unknown(error.to_string()),
        },
        Question::Audit { sample } => {
            let begun = tokio::task::spawn_blocking(move || crawler.begin_audit(sample)).await;
            match begun {
                Ok(Ok(report)) => Answer::Audit(report),
                Ok(Err(error)) => Answer::Unknown(error.to_string()),
                Err(_) => Answer::Unknown("the audit could not begin".to_owned()),
            }
        }
        Question::Audited { enough } => match crawler.audit_so_far(enough).await {
            Ok(Some(report)) => Answer::Audit(report),
            Ok(None) => Answer::Unknown("no audit is under way".to_owned()),
            Err(error) => Answer::Unknown(error.to_string()),
        },
        question => {
            let answered =
                tokio::task::spawn_blocking(move || answer(crawler.reader(), crawler.as_ref(), &question));
            answered.await.unwrap_or_else(|_| Answer::Unknown("the answer could not be found".to_owned()))
        }
    }
}

/// The message when a site was paused or resumed.
pub(crate) fn paused_or_not(site: &str, paused: bool) -> String {
    if paused { format!("{site} is paused") } else { format!("{site} is visited again") }
}

/// The message when a page was pinned or unpinned.
pub(crate) fn pinned(url: &str, every_ms: u64) -> String {
    match every_ms {
        0 => format!("{url} is visited as the policy says"),
        every => {
            let (length, unit) = match every {
                0..60_000 => (1_000.0, "seconds"),
                60_000..3_600_000 => (60_000.0, "minutes"),
                _ => (3_600_000.0, "hours"),
            };
            format!("{url} is visited every {:.1} {unit}", every as f64 / length)
        }
    }
}

/// The reply of the process of a crawl.
#[derive(Debug)]
pub enum Reply {
    /// Its answer.
    Answer(Answer),
    /// No process has the crawl open, or the one that had it has ended.
    Nobody,
    /// It is opening the crawl. Its progress, from 0 to 1.
    Opening(f64),
    /// It was stopped by a signal: its process ID.
    Frozen(u32),
    /// This user may not connect.
    Forbidden,
}

impl Reply {
    /// The answer, for a command that needs one: states why there is none. None if no process has the crawl
    /// open.
    pub fn required(self) -> io::Result<Option<Answer>> {
        Ok(match self {
            Self::Answer(answer) => Some(answer),
            Self::Nobody => None,
            Self::Opening(part) => Some(Answer::Unknown(format!(
                "the crawl is being opened ({:.0}%): try again when it runs",
                100.0 * part
            ))),
            Self::Frozen(process) => Some(Answer::Unknown(format!(
                "process {process}, which crawls, was stopped by a signal and did not answer: nothing was \
                 asked of it, or it does what was asked when it goes on; continue it with `kill -CONT \
                 {process}`"
            ))),
            Self::Forbidden => return Err(io::ErrorKind::PermissionDenied.into()),
        })
    }
}

/// Asks the process that has the crawl in a directory open.
pub fn ask(directory: &Path, question: &Question) -> io::Result<Reply> {
    Ok(ask_over(directory, question)?.0)
}

/// Like [`ask`], but also returns the connection.
fn ask_over(directory: &Path, question: &Question) -> io::Result<(Reply, Option<UnixStream>)> {
    let path = socket(directory);
    let near = match Near::of(&path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok((Reply::Forbidden, None)),
        near => near?,
    };
    let stream = match UnixStream::connect(near.path()) {
        Ok(stream) => stream,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => return Ok((Reply::Nobody, None)),
            io::ErrorKind::PermissionDenied => return Ok((Reply::Forbidden, None)),
            // The backlog of the socket is full: the process does not accept connections.
            io::ErrorKind::WouldBlock => {
                let reply = frozen_holder(directory).map_or(Reply::Nobody, Reply::Frozen);
                return Ok((reply, None));
            }
            _ => return Err(error),
        },
    };
    stream.set_read_timeout(Some(LOOK_EVERY))?;
    let mut text = serde_json::to_vec(question)?;
    text.push(b'\n');
    match (&stream).write_all(&text) {
        // A crawl that is being opened answers without reading the query.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
        _ => {}
    }
    let Some(line) = read_line(&stream, directory)? else {
        let reply = frozen_holder(directory).map_or(Reply::Nobody, Reply::Frozen);
        return Ok((reply, None));
    };
    Ok(match serde_json::from_str(&line)? {
        Answer::Opening(part) => (Reply::Opening(part), None),
        answer => (Reply::Answer(answer), Some(stream)),
    })
}

/// Reads the line of the answer. None if the process ends or is stopped.
fn read_line(stream: &UnixStream, directory: &Path) -> io::Result<Option<String>> {
    let mut reader = BufReader::new(stream);
    let (mut line, begun) = (Vec::new(), Instant::now());
    loop {
        match reader.read_until(b'\n', &mut line) {
            Ok(_) if line.is_empty() => return Ok(None),
            Ok(_) => return String::from_utf8(line).map(Some).map_err(io::Error::other),
            Err(error) if is_timeout(&error) && begun.elapsed() < ANSWER_WITHIN => {
                if frozen_holder(directory).is_some() {
                    return Ok(None);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// The process that has a directory open, if it was stopped by a signal.
pub(crate) fn frozen_holder(directory: &Path) -> Option<u32> {
    let process = Lock::holder(directory)?.parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program name is in parentheses, and may contain parentheses itself.
    let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
    matches!(state, 'T' | 't').then_some(process)
}

fn socket(directory: &Path) -> PathBuf {
    directory.join("socket")
}

/// A path to a socket that is short enough for the system, which allows 107 bytes.
struct Near {
    path: PathBuf,
    /// The folder of the socket, open as long as the path leads through it.
    _folder: Option<File>,
}

impl Near {
    fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() <= PATH_MAX {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let folder = File::open(path.parent().unwrap_or(path))?;
        let name = path.file_name().unwrap_or_default();
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
