//! Benchmark: links per second of one PageRank iteration, compared with a plain loop and with SciPy.
//!
//! Wanted: at least 250 million links per second and core, on a web of 10 million pages and 160 million links
//! and on a real one. Less would worry us, and so would a plain loop or SciPy that comes near.
//!
//! The generated web resembles real ones: most links lead to pages nearby (of the same site), the others to
//! pages whose popularity follows a power law. A second web has the same number of links to pages chosen at
//! random. No real web looks like that; it is the worst case for memory, and is labelled so.
//!
//! Options: `--graph FILE` adds a real web, a Parquet file with the integer columns `src` and `dst`; `--nodes
//! N` and `--links N` set the size of the generated webs; `--runs N`.
#![expect(clippy::print_stderr, reason = "progress of a benchmark that runs for minutes")]

mod table;

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use freshet_theory::rank::Graph;
use freshet_theory::rank::pagerank::propagate::Propagation;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::prelude::*;

use table::{Table, best_of};

type Failure = Box<dyn Error>;

/// Wanted speed, in millions of links per second and core.
const WANTED: f64 = 250.0;

fn main() -> Result<(), Failure> {
    let options = Options::read()?;
    let columns = ["one iteration", "M links/s", "per core", "ratio", "error"];
    if let Some(file) = &options.graph {
        let graph = read_graph(file)?;
        compare(&title(&file.display().to_string(), &graph), &columns, graph, options.runs)?;
    }
    for (name, nearby) in [("generated, as webs are", 0.78), ("generated, links at random", 0.0)] {
        eprintln!("generating a web");
        let graph = generate(options.nodes, options.links, nearby);
        compare(&title(name, &graph), &columns, graph, options.runs)?;
    }
    Ok(())
}

fn title(name: &str, graph: &Graph) -> String {
    format!("{name}: {} pages, {} links (wanted: {WANTED} M links/s per core)", graph.pages(), graph.links())
}

/// The command-line options.
struct Options {
    graph: Option<PathBuf>,
    nodes: usize,
    links: usize,
    runs: usize,
}

impl Options {
    fn read() -> Result<Self, Failure> {
        let mut options = Self { graph: None, nodes: 10_000_000, links: 160_000_000, runs: 5 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            // Cargo passes this option to every benchmark.
            if word == "--bench" {
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--graph" => options.graph = Some(value.into()),
                "--nodes" => options.nodes = value.parse()?,
                "--links" => options.links = value.parse()?,
                "--runs" => options.runs = value.parse()?,
                _ => return Err(format!("unknown option {word}").into()),
            }
        }
        Ok(options)
    }
}

/// Times one iteration in every way and prints a table. The graph is dropped once its links are laid out.
fn compare(title: &str, columns: &[&str], graph: Graph, runs: usize) -> Result<(), Failure> {
    let links = graph.links();
    let table = Table::new(title, columns);
    let ranks = vec![1.0; graph.pages()];
    let mut expected = vec![0.0; graph.pages()];
    let (plain, ()) = best_of(runs, || push(&graph, &ranks, &mut expected));
    let row = |name: &str, time: Duration, threads: usize, error: f64| {
        let rate = links as f64 / time.as_secs_f64() / 1e6;
        let ratio = plain.as_secs_f64() / time.as_secs_f64();
        let cells =
            [name, &format!("{rate:.0}"), &format!("{:.0}", rate / threads as f64), &format!("{ratio:.2}")];
        table.row(&[&cells[..], &[&format!("{error:.1e}")]].concat());
    };
    row("plain loop, 64 bits, along the links", plain, 1, 0.0);

    let backlinks = graph.reversed();
    let link_counts: Vec<u32> =
        (0..graph.pages() as u32).map(|page| graph.links_from(page).len() as u32).collect();
    let mut received = vec![0.0; graph.pages()];
    let (time, ()) = best_of(runs, || pull(&backlinks, &link_counts, &ranks, &mut received));
    row("plain loop, 64 bits, along the backlinks", time, 1, error(&received, &expected));
    let scipy = in_scipy(&backlinks, &link_counts, runs)?;
    drop(backlinks);
    if let Some((time, sum)) = scipy {
        row("SciPy, csr_matrix @ vector", time, 1, (sum / expected.iter().sum::<f64>() - 1.0).abs());
    } else {
        eprintln!("SciPy is left out: there is no Python in target/bench-python, which ./bench prepares");
    }

    let mut propagation = Propagation::new(&graph);
    drop(graph);
    let cores = std::thread::available_parallelism()?.get();
    for threads in if cores > 1 { vec![1, cores] } else { vec![1] } {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let (time, ()) = pool.install(|| best_of(runs, || propagation.receive(&ranks, &mut received)));
        row(
            &format!("Propagation::receive on {threads} of {cores} cores"),
            time,
            threads,
            error(&received, &expected),
        );
    }
    Ok(())
}

/// The plain push loop: each page adds its share to the pages it links to.
fn push(graph: &Graph, ranks: &[f64], received: &mut [f64]) {
    received.fill(0.0);
    for (page, rank) in (0..).zip(ranks) {
        let links = graph.links_from(page);
        let share = rank / links.len() as f64;
        for target in links {
            received[*target as usize] += share;
        }
    }
}

/// The plain pull loop: each page sums the shares of the pages that link to it.
fn pull(backlinks: &Graph, link_counts: &[u32], ranks: &[f64], received: &mut [f64]) {
    let shares: Vec<f64> =
        ranks.iter().zip(link_counts).map(|(rank, links)| rank / f64::from(*links)).collect();
    for (page, received) in (0..).zip(received) {
        *received = backlinks.links_from(page).iter().map(|source| shares[*source as usize]).sum();
    }
}

/// The largest relative error of any page.
fn error(received: &[f64], expected: &[f64]) -> f64 {
    let errors = received.iter().zip(expected).filter(|(_, expected)| **expected > 0.0);
    errors.map(|(received, expected)| (received / expected - 1.0).abs()).fold(0.0, f64::max)
}

/// The same iteration as a sparse matrix product in Python. Returns its time and the sum of its result.
fn in_scipy(backlinks: &Graph, link_counts: &[u32], runs: usize) -> Result<Option<(Duration, f64)>, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/bench-python/bin/python");
    if !python.exists() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let pages = 0..backlinks.pages() as u32;
    let ends = pages.clone().scan(0, |end, page| {
        *end += backlinks.links_from(page).len() as i64;
        Some(*end)
    });
    write(&folder.path().join("starts"), std::iter::once(0).chain(ends).map(i64::to_ne_bytes))?;
    let sources = pages.flat_map(|page| backlinks.links_from(page));
    write(&folder.path().join("sources"), sources.map(|source| source.to_ne_bytes()))?;
    write(&folder.path().join("link_counts"), link_counts.iter().map(|count| count.to_ne_bytes()))?;
    let script = root.join("crates/theory/benches/compare/pagerank_scipy.py");
    let output = Command::new(python).arg(script).arg(folder.path()).arg(runs.to_string()).output()?;
    fs::remove_dir_all(folder.path())?;
    if !output.status.success() {
        return Err(format!("SciPy failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let (seconds, sum) = text.trim().split_once(' ').ok_or("SciPy printed no two numbers")?;
    Ok(Some((Duration::from_secs_f64(seconds.parse()?), sum.parse()?)))
}

fn write<const N: usize>(file: &Path, numbers: impl Iterator<Item = [u8; N]>) -> Result<(), Failure> {
    let mut output = BufWriter::with_capacity(1 << 20, File::create(file)?);
    for number in numbers {
        output.write_all(&number)?;
    }
    Ok(output.flush()?)
}

/// Reads the links of a Parquet file with the columns `src` and `dst`.
fn read_graph(file: &Path) -> Result<Graph, Failure> {
    let mut links = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?.build()? {
        let batch = batch?;
        let column = |name: &str| {
            let column = batch
                .column_by_name(name)
                .ok_or_else(|| format!("{} has no column {name}", file.display()))?;
            let column = column.as_primitive_opt::<Int32Type>();
            column.ok_or_else(|| {
                format!("the column {name} of {} has other numbers than 32 bits", file.display())
            })
        };
        let pages = column("src")?.values().iter().zip(column("dst")?.values());
        links.extend(pages.map(|(source, target)| (source.cast_unsigned(), target.cast_unsigned())));
    }
    let pages = links.iter().map(|(source, target)| source.max(target) + 1).max().unwrap_or(0);
    Ok(Graph::from_links(pages as usize, &links))
}

/// Generates a web in which a fraction `nearby` of the links leads to pages at most 5,000 away, near ones
/// more often than far ones. The other links lead to pages whose popularity follows a power law. If `nearby`
/// is zero, all links are spread evenly.
///
/// A fifth of the pages has no links. The number of links of the others follows a power law too.
fn generate(pages: usize, links: usize, nearby: f64) -> Graph {
    const DISTANCE_MAX: f64 = 5_000.0;
    const WITHOUT_LINKS: f64 = 0.2;
    // Scatters the popular pages over the web. A prime, so that every page is reached.
    const SCATTER: u64 = 2_654_435_761;
    let weight = |page: usize| {
        let place = uniform(page as u64, 1);
        if place < WITHOUT_LINKS { 0.0 } else { (1.0 - place).powf(-0.5).min(1_000.0) }
    };
    let mut starts = vec![0.0];
    starts.extend((0..pages).scan(0.0, |sum, page| {
        *sum += weight(page);
        Some(*sum)
    }));
    let scale = links as f64 / starts[pages];
    let starts: Vec<usize> =
        starts.into_iter().map(|sum| ((sum * scale).round() as usize).min(links)).collect();

    let target = |page: usize, link: usize| {
        let (kind, place) = (uniform(link as u64, 2), uniform(link as u64, 3));
        if nearby == 0.0 {
            (place * pages as f64) as u64
        } else if kind < nearby {
            let distance = DISTANCE_MAX.powf(place) as i64;
            let distance = if kind < 0.5 * nearby { distance } else { -distance };
            (page as i64 + distance).rem_euclid(pages as i64) as u64
        } else {
            (place.powi(3) * pages as f64) as u64 * SCATTER % pages as u64
        }
    };
    let mut targets = vec![0; links];
    let mut rows = Vec::with_capacity(pages);
    let mut rest = targets.as_mut_slice();
    for page in 0..pages {
        let (row, after) = rest.split_at_mut(starts[page + 1] - starts[page]);
        rows.push(row);
        rest = after;
    }
    rows.into_par_iter().enumerate().for_each(|(page, row)| {
        for (link, to) in row.iter_mut().enumerate() {
            *to = target(page, starts[page] + link) as u32;
        }
    });
    Graph::from_rows(starts, targets)
}

/// A number from 0 to 1 that depends only on its arguments (SplitMix64).
fn uniform(index: u64, stream: u64) -> f64 {
    let mut x = (index * 4 + stream).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}
