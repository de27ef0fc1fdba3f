//! The counter: where others ask a crawl that runs. A Unix socket in the crawl's directory, one question and one answer a line,
//! as JSON. Only who may write the directory can reach it.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use crate::crawler::{Crawler, Message};
use crate::desk::{Answer, Question, answer, site_named};
use crate::page::Canonical;

/// The longest question, in bytes.
const QUESTION_MAX: u64 = 64 * 1024;
/// How long an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// Answers questions until the crawl ends.
pub async fn serve(crawler: Arc<Crawler>) -> io::Result<()> {
    let path = socket(crawler.reader().directory());
    // What a killed crawl left behind; the lock says that none runs.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(short(&path)?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let crawler = Arc::clone(&crawler);
        tokio::spawn(async move {
            let (reader, mut writer) = stream.into_split();
            let mut lines = tokio::io::BufReader::new(reader.take(QUESTION_MAX)).lines();
            if let Ok(Some(line)) = lines.next_line().await {
                let answer = match serde_json::from_str(&line) {
                    Ok(question) => respond(crawler, question).await,
                    Err(error) => Answer::Unknown(format!("the question cannot be read: {error}")),
                };
                if let Ok(mut text) = serde_json::to_vec(&answer) {
                    text.push(b'\n');
                    // Who asked may have gone away.
                    let _ = writer.write_all(&text).await;
                }
            }
        });
    }
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
    BufReader::new(stream).read_line(&mut line)?;
    if line.is_empty() {
        // It ended while it was asked.
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
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
