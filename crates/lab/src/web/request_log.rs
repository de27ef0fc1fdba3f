//! Log of every request: as JSON lines in a file, or in memory for a test.
//!
//! Only the server of a site can testify whether a crawler is polite. A line says when a request came (in
//! simulated time and wall-clock time), for what, over which connection, and what was served.
//!
//! # Promises
//! - A request reaches the file as soon as no other waits to be written, and all of them do before the log is
//!   closed.
//! - A request never waits for the disk.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result};
use serde::Serialize;

/// Where requests are logged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LogTarget {
    /// Nowhere.
    Nowhere,
    /// In memory, until asked for.
    Memory,
    /// In this file, which is created or overwritten.
    File(PathBuf),
}

/// One request.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct RequestLine {
    /// Its number, from zero.
    pub number: u64,
    /// Arrival, in simulated milliseconds since 1970.
    pub time_ms: i64,
    /// Arrival, in wall-clock milliseconds since 1970.
    pub wall_ms: i64,
    /// Number of its connection.
    pub connection: u64,
    /// HTTP method.
    pub method: String,
    /// Host of the site.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// Whether it had conditional headers.
    pub conditional: bool,
    /// Its User-Agent.
    pub user_agent: Option<String>,
    /// Status of the answer.
    pub status: u16,
    /// Size of the body in bytes.
    pub bytes: u64,
    /// Number of the page that was served or found unchanged.
    pub page: Option<u32>,
    /// Version of its main text.
    pub version: Option<u32>,
    /// Version of its template.
    pub template: Option<u32>,
}

/// A log of requests.
#[derive(Debug)]
pub struct RequestLog(Sink);

#[derive(Debug)]
enum Sink {
    Nowhere,
    Memory(Mutex<Vec<RequestLine>>),
    /// Written by a thread, until the log is closed.
    File(Mutex<Option<Writer>>),
}

/// A thread that writes lines to a file.
#[derive(Debug)]
struct Writer {
    /// Filled by the server, emptied by the thread. Unbounded: lines are small and the disk is faster than
    /// HTTP.
    lines: Sender<RequestLine>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl RequestLog {
    /// Opens a log.
    pub fn open(target: &LogTarget) -> Result<Self> {
        Ok(Self(match target {
            LogTarget::Nowhere => Sink::Nowhere,
            LogTarget::Memory => Sink::Memory(Mutex::default()),
            LogTarget::File(path) => {
                let file =
                    File::create(path).with_context(|| format!("cannot write the log {}", path.display()))?;
                let (lines, received) = mpsc::channel();
                let builder = thread::Builder::new().name("request-log".to_owned());
                let thread =
                    builder.spawn(move || write_all(&received, file)).context("cannot start a thread")?;
                Sink::File(Mutex::new(Some(Writer { lines, thread })))
            }
        }))
    }

    /// Logs a request.
    pub fn add(&self, line: RequestLine) {
        match &self.0 {
            Sink::Nowhere => {}
            Sink::Memory(lines) => lines.lock().unwrap_or_else(PoisonError::into_inner).push(line),
            Sink::File(file) => {
                if let Some(writer) = &*file.lock().unwrap_or_else(PoisonError::into_inner) {
                    // A failed writer has disconnected; closing the log returns its error.
                    let _ = writer.lines.send(line);
                }
            }
        }
    }

    /// The requests so far, if they are kept in memory.
    pub fn lines(&self) -> Vec<RequestLine> {
        match &self.0 {
            Sink::Memory(lines) => lines.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            Sink::Nowhere | Sink::File(_) => Vec::new(),
        }
    }

    /// Waits until everything is in the file, and returns whether it could be written. Later requests are not
    /// logged.
    pub fn close(&self) -> Result<()> {
        let Sink::File(file) = &self.0 else {
            return Ok(());
        };
        let Some(Writer { lines, thread }) = file.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return Ok(());
        };
        drop(lines);
        let written = thread.join().expect("the writer does not panic");
        written.context("cannot write the log of requests")
    }
}

fn write_all(lines: &Receiver<RequestLine>, file: File) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    while let Ok(first) = lines.recv() {
        write_line(&mut file, &first)?;
        for line in lines.try_iter() {
            write_line(&mut file, &line)?;
        }
        file.flush()?;
    }
    file.flush()
}

fn write_line(file: &mut BufWriter<File>, line: &RequestLine) -> std::io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64) -> RequestLine {
        RequestLine {
            number,
            time_ms: 1,
            wall_ms: 2,
            connection: 3,
            method: "GET".to_owned(),
            host: "127.1.0.1".to_owned(),
            path: "/\"".to_owned(),
            conditional: false,
            user_agent: None,
            status: 200,
            bytes: 10,
            page: Some(4),
            version: Some(0),
            template: Some(0),
        }
    }

    #[test]
    fn every_request_is_in_the_file_once_the_log_is_closed() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("requests.jsonl");
        let log = RequestLog::open(&LogTarget::File(path.clone())).expect("it opens");
        (0..100).for_each(|number| log.add(line(number)));
        log.close().expect("it is written");
        log.add(line(100));
        log.close().expect("closing twice is nothing");
        let text = std::fs::read_to_string(path).expect("it is there");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 100);
        assert!(
            lines.iter().enumerate().all(|(number, line)| line["number"] == number && line["path"] == "/\"")
        );
    }

    #[test]
    fn a_log_that_cannot_be_written_is_refused() {
        let error = RequestLog::open(&LogTarget::File("/nowhere/at/all".into())).expect_err("refused");
        assert!(error.to_string().contains("/nowhere/at/all"));
    }
}
