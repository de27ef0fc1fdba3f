//! WARC records of whole responses, compressed in advance on any thread.
//!
//! Compressing a page costs more than all other work of a commit on it. The records do not depend on where
//! they will be written, so the task that fetched the page makes them, and the single committing thread only
//! appends them.
//!
//! # Promises
//! - A commit appends the same records, whichever thread made them.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::collection::exchange::Exchange;
use crate::collection::gzip::unfold;
use crate::collection::warc::{WarcRecord, WarcWriter, Written};

/// The compressed records of a whole response, ready to be appended.
#[derive(Clone, Debug)]
pub struct Folded {
    records: Bytes,
    written: Written,
}

impl Folded {
    /// Appends the records, and returns where they are.
    pub(crate) fn append_to(&self, output: &mut Vec<u8>) -> Written {
        let start = output.len();
        output.extend_from_slice(&self.records);
        Written { start, ..self.written.clone() }
    }

    /// The length of the records in bytes.
    pub(crate) fn length(&self) -> usize {
        self.records.len()
    }

    /// The body of the response.
    pub(crate) fn body(&self) -> Option<Vec<u8>> {
        let bytes = unfold(&self.records).ok()?;
        WarcRecord::parse(&bytes).ok().map(|record| record.http().1.to_vec())
    }
}

/// Makes compressed records ([`Folded`]), on many threads at once.
pub struct Folding {
    store: [u8; 16],
    software: String,
    gzip_level: u32,
    /// Idle writers: as many as threads ever ran at once.
    idle: Mutex<Vec<WarcWriter>>,
}

impl std::fmt::Debug for Folding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Folding").field("gzip_level", &self.gzip_level).finish_non_exhaustive()
    }
}

impl Folding {
    pub(crate) fn new(store: [u8; 16], software: &str, gzip_level: u32) -> Self {
        Self { store, software: software.to_owned(), gzip_level, idle: Mutex::new(Vec::new()) }
    }

    /// A writer of the store's records.
    pub(crate) fn writer(&self) -> WarcWriter {
        WarcWriter::new(self.store, &self.software, self.gzip_level)
    }

    /// Makes the records of the exchange as a whole response.
    pub fn fold(&self, exchange: &Exchange) -> Folded {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let writer = idle().pop();
        let mut writer = writer.unwrap_or_else(|| self.writer());
        let mut records = Vec::with_capacity(exchange.body.len() / 2 + 1024);
        let written = writer.append_exchange(exchange, None, &mut records);
        idle().push(writer);
        Folded { records: records.into(), written }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::warc::tests::exchange;

    #[test]
    fn folded_records_are_those_that_the_writer_makes() {
        let folding = Folding::new([5; 16], "freshet", 1);
        let exchange = exchange(1, "http://a.example/", 5, b"<p>hello");
        let (mut ours, mut theirs) = (b"before".to_vec(), b"before".to_vec());
        let folded = folding.fold(&exchange);
        let written = folded.append_to(&mut ours);
        assert_eq!(folded.body().as_deref(), Some(b"<p>hello".as_slice()));
        assert_eq!(written, folding.writer().append_exchange(&exchange, None, &mut theirs));
        assert_eq!(ours, theirs);
        assert_eq!(written.start, 6);
    }
}
