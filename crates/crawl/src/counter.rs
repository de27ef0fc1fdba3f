//! The counter: where others ask a crawl that runs. A Unix socket in the crawl's directory, one question and one answer a line,
//! as JSON. Only who may write the directory can reach it.
//!
//! A program that asks hosts of its own while the crawl runs borrows the crawl's turns at them: so a host is asked by one at a time, with the
//! pause that the crawl keeps, and what is asked is paid from the crawl's budget. The connection is the loan: who is killed has given it back.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, Lines, Take};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::containment::contained_task;
use crate::crawler::{Crawler, Message};
use crate::desk::{Answer, Question, answer, site_named};
use crate::page::Canonical;
use crate::web::Experience;

/// The longest question, in bytes.
const QUESTION_MAX: u64 = 64 * 1024;
/// How long an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// How long a turn is waited for before whoever wants it is told to ask again.
const TURN_WITHIN: Duration = Duration::from_secs(30);
/// How long a turn may last: longer than any visit.
const TURN_MAX: Duration = Duration::from_secs(300);

/// Answers questions until the crawl ends.
pub async fn serve(crawler: Arc<Crawler>) -> io::Result<()> {
    let path = socket(crawler.reader().directory());
    // What a killed crawl left behind; the lock says that none runs.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(short(&path)?)?;
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
                // Who asked may have gone away.
                let _ = tell(&mut writer, &answer).await;
            }
        };
        tokio::spawn(async move {
            let answered = contained_task(answering).await;
            answered.unwrap_or_else(|said| {
                asked.survive("answering a question", format!("internal error: {said}"))
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
            // Who was killed may have asked the host a moment ago.
            said.map_or(Experience::Served, Behaviour::experience)
        }
        Err(_) => Experience::NotAsked,
    };
    // Another program counts its own bytes.
    crawler.take_back(host, turn, experience, 0);
}

/// A turn at a host that was borrowed from a crawl. It ends when it is dropped.
#[derive(Debug)]
pub struct Borrowed {
    stream: UnixStream,
}

/// How a host behaved in a turn that was borrowed, as it is told to the crawl.
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
    /// Gives the turn back and says how the host behaved.
    pub fn give_back(self, experience: Experience) {
        if let Ok(mut text) = serde_json::to_vec(&Behaviour::of(experience)) {
            text.push(b'\n');
            // A crawl that has ended wants nothing back.
            let _ = (&self.stream).write_all(&text);
        }
    }
}

/// What came of asking for a turn.
#[derive(Debug)]
pub enum Loan {
    /// The host may be asked once.
    Turn(Borrowed),
    /// It may not be asked yet: ask again.
    NotYet,
    /// No crawl runs: nobody's turns are in the way.
    NoCrawl,
}

/// Borrows a turn at a host from the crawl that runs in a directory. Waits for it for up to half a minute.
pub fn borrow_turn(directory: &Path, host: &str, address: Option<IpAddr>) -> io::Result<Loan> {
    let question = Question::Turn { host: host.to_owned(), address };
    Ok(match ask_over(directory, &question)? {
        None => Loan::NoCrawl,
        Some((Answer::Turn, stream)) => Loan::Turn(Borrowed { stream }),
        Some((Answer::NoTurn, _)) => Loan::NotYet,
        Some((Answer::Unknown(why), _)) => return Err(io::Error::other(why)),
        Some(_) => return Err(io::Error::other("the crawl answers another question")),
    })
}

async fn respond(crawler: Arc<Crawler>, question: Question) -> Answer {
    match question {
        Question::Pin { url, every_ms } => match Canonical::default().of(&url) {
            Ok(url) if crawler.is_kept(&url) => {
                crawler.tell_keeper(Message::Pin(url.clone(), every_ms)).await;
                Answer::Done(pinned(url.as_str(), every_ms))
            }
            Ok(url) => Answer::Unknown(format!("{url} is not kept: it cannot be pinned")),
            Err(refused) => Answer::Unknown(format!("{url}: {refused}")),
        },
        Question::Pause { site, paused } => match site_named(crawler.reader(), &site) {
            Ok(Some((number, name))) => {
                crawler.tell_keeper(Message::Pause(number, paused)).await;
                Answer::Done(if paused {
                    format!("{name} is paused")
                } else {
                    format!("{name} is visited again")
                })
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

/// What is said when a page was pinned.
pub fn pinned(url: &str, every_ms: u64) -> String {
    match every_ms {
        0 => format!("{url} is visited as the policy says"),
        every => format!("{url} is visited every {:.1} hours", every as f64 / 3_600_000.0),
    }
}

/// Asks the crawl that runs in a directory; nothing if none does.
pub fn ask(directory: &Path, question: &Question) -> io::Result<Option<Answer>> {
    Ok(ask_over(directory, question)?.map(|(answer, _)| answer))
}

/// The same, with the connection over which it was asked.
fn ask_over(directory: &Path, question: &Question) -> io::Result<Option<(Answer, UnixStream)>> {
    let path = socket(directory);
    let stream = match UnixStream::connect(short(&path)?) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    let mut text = serde_json::to_vec(question)?;
    text.push(b'\n');
    (&stream).write_all(&text)?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    if line.is_empty() {
        // It ended while it was asked.
        return Ok(None);
    }
    Ok(Some((serde_json::from_str(&line)?, stream)))
}

fn socket(directory: &Path) -> PathBuf {
    directory.join("socket")
}

/// A path to the same socket that is short enough for the system, which takes 107 bytes.
fn short(path: &Path) -> io::Result<PathBuf> {
    if path.as_os_str().len() < 100 {
        return Ok(path.to_owned());
    }
    let link = std::env::temp_dir()
        .join(format!("freshet-{:016x}", xxhash_rust::xxh3::xxh3_64(path.as_os_str().as_encoded_bytes())));
    if std::fs::read_link(&link).ok().as_deref() != path.parent() {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(path.parent().unwrap_or(path), &link)?;
    }
    Ok(link.join("socket"))
}
