//! Records on disk, which may be damaged, Parquet files of other programs, and the encoder that packs pages.

use std::fs::File;
use std::io::Write as _;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use freshet_fetch::change::ephemeral::{PageEphemera, TemplateEphemera};
use freshet_protocol::codec::{Malformed, Record};
use freshet_store::all_urls::UrlRecord;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::gzip::{MemberWriter, unfold};
use freshet_store::collection::segment::SegmentRecord;
use freshet_store::counters::Counters;
use freshet_store::foreign_parquet::contained::Unreadable;
use freshet_store::foreign_parquet::table::ForeignTable;
use freshet_store::history::VisitRow;
use freshet_store::links;
use freshet_store::sites::SiteRecord;
use freshet_store::versions::VersionRecord;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};

use crate::{Parser, fingerprint, size};

/// Records of the state, as they stand on the disk; what is read is written the same way.
pub fn records(bytes: &[u8]) -> u64 {
    fn fault<R: Record>(bytes: &[u8]) -> Option<Discriminant<Malformed>> {
        match R::decode(bytes) {
            Err(fault) => Some(discriminant(&fault)),
            Ok(record) => {
                let encoded = record.encode();
                let again = R::decode(&encoded).expect("what was written is read");
                assert_eq!(again.encode(), encoded, "what is written is read back the same");
                None
            }
        }
    }
    let faults = [
        fault::<UrlRecord>(bytes),
        fault::<PageRecord>(bytes),
        fault::<SiteRecord>(bytes),
        fault::<VisitRow>(bytes),
        fault::<VersionRecord>(bytes),
        fault::<SegmentRecord>(bytes),
        fault::<Counters>(bytes),
    ];
    let learned = [
        PageEphemera::decode(bytes) == PageEphemera::default(),
        TemplateEphemera::decode(bytes) == TemplateEphemera::default(),
    ];
    fingerprint((faults, links::decode(bytes).err().map(|fault| discriminant(&fault)), learned))
}

/// A table of another program, all columns.
pub fn parquet(bytes: &[u8]) -> u64 {
    let read = |mut file: File| -> Result<usize, Unreadable> {
        file.write_all(bytes).expect("a temporary file takes the bytes");
        let table = ForeignTable::open(file)?;
        let columns = 0..table.schema().fields().len();
        table.batches(columns, 16)?.map(|batch| Ok(batch?.num_rows())).sum()
    };
    let rows = read(tempfile::tempfile().expect("a temporary file is made"));
    fingerprint(rows.map(size).map_err(|fault| fault.to_string()))
}

/// Bytes packed with every sort of effort; they come out as they went in.
pub fn compression(bytes: &[u8]) -> u64 {
    let sizes = [0, 1, 6].map(|level| {
        let (mut writer, mut packed) = (MemberWriter::new(level), Vec::new());
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let lengths =
            [&[first, second][..], &[second]].map(|parts| writer.append(parts, &mut packed) as usize);
        let unpacked = [0..lengths[0], lengths[0]..packed.len()].map(|member| unfold(&packed[member]).ok());
        assert_eq!(unpacked, [Some(bytes.to_vec()), Some(second.to_vec())], "packed at level {level}");
        size(packed.len())
    });
    fingerprint(sizes)
}

pub(crate) fn parsers() -> Vec<Parser> {
    let repeated = b"<li><a href=/news/1>One</a></li>\n<li><a href=/news/2>Two</a></li>\n".repeat(20);
    vec![
        Parser {
            name: "records",
            seeds: vec![vec![1; 40], vec![1, 0, 5, 3, 200, 1, 7], links::encode(vec![])],
            words: &["\u{1}", "\u{7f}\u{7f}\u{7f}\u{7f}", "\0\0\0\0"],
            read: records,
        },
        Parser {
            name: "compression",
            seeds: vec![repeated, (0..=255).collect(), vec![0; 1000], b"a".to_vec()],
            words: &["<li><a href=", "\0\0\0\0\0\0\0\0", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
            read: compression,
        },
        Parser {
            name: "parquet",
            seeds: tables(),
            words: &["PAR1", "\u{15}\u{4}", "\0\0\0\0", "\u{7f}"],
            read: parquet,
        },
    ]
}

/// A table as programs write them: with dictionaries and without, compressed and not, of either version.
fn tables() -> Vec<Vec<u8>> {
    let plain = WriterProperties::builder();
    let zstd = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    let differences = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_dictionary_enabled(false)
        .set_column_encoding("url".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
        .set_column_encoding("count".into(), Encoding::DELTA_BINARY_PACKED)
        .set_compression(Compression::SNAPPY);
    [plain, zstd, differences].map(|properties| table(properties.build())).to_vec()
}

fn table(properties: WriterProperties) -> Vec<u8> {
    let urls = StringArray::from_iter_values((0..40).map(|row| format!("http://a.example/{}", row % 9)));
    let counts = Int64Array::from_iter((0..40).map(|row| (row % 7 != 0).then_some(row % 5)));
    let rates = Float64Array::from_iter_values((0..40).map(|row| f64::from(row) / 3.0));
    let columns: [(&str, ArrayRef); 3] =
        [("url", Arc::new(urls)), ("count", Arc::new(counts)), ("rate", Arc::new(rates))];
    let columns = columns.map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("the columns are of one length");
    let mut writer =
        ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("memory takes it");
    writer.write(&batch).expect("memory takes it");
    writer.into_inner().expect("memory takes it")
}
