//! Speed and ratio of page compression. `./bench compress_pages [DIRECTORY...]`
//!
//! Compresses generated pages, or the HTML files below the given directories, with our encoder and with the
//! fastest levels of libdeflate, which is what a crawler would use otherwise. Each page is compressed by all
//! of them in several rounds, and the fastest round of a page counts. It would worry us if ours were not the
//! fastest, or its ratio below nine tenths of that of libdeflate's first level.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use freshet_store::collection::deflate::Encoder;
use libdeflater::{CompressionLvl, Compressor};

const ROUNDS: usize = 5;
/// Maximum number of pages of a directory, and the range of their sizes in bytes.
const PAGES_MAX: usize = 3_000;
const BYTES: std::ops::Range<usize> = 500..300_000;

fn main() {
    let named: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    println!("| pages | KB a page | encoder | MB/s | µs a page | ratio |");
    println!("|---|---|---|---|---|---|");
    if named.is_empty() {
        measure("made", &(0..300).map(page).collect::<Vec<_>>());
    }
    for directory in &named {
        let mut pages = Vec::new();
        gather(Path::new(directory), &mut pages);
        measure(directory, &pages);
    }
}

fn measure(name: &str, pages: &[Vec<u8>]) {
    let mut own = Encoder::default();
    let mut libraries: Vec<_> = (1..=3)
        .map(|level| (level, Compressor::new(CompressionLvl::new(level).expect("it has this level"))))
        .collect();
    row(name, "own", pages, &mut |page, output| own.append(page, output));
    for (level, library) in &mut libraries {
        row(name, &format!("libdeflate {level}"), pages, &mut |page, output| {
            output.resize(library.deflate_compress_bound(page.len()), 0);
            let made = library.deflate_compress(page, output).expect("there is room");
            output.truncate(made);
        });
    }
    row(name, "zlib-rs 1", pages, &mut |page, output| {
        let mut encoder = DeflateEncoder::new(output, Compression::fast());
        encoder.write_all(page).and_then(|()| encoder.try_finish()).expect("it is written to memory");
    });
}

fn row(name: &str, encoder: &str, pages: &[Vec<u8>], compress: &mut dyn FnMut(&[u8], &mut Vec<u8>)) {
    let mut fastest = vec![Duration::MAX; pages.len()];
    let (mut output, mut made) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        made = 0;
        for (page, fastest) in pages.iter().zip(&mut fastest) {
            output.clear();
            let start = Instant::now();
            compress(page, &mut output);
            *fastest = start.elapsed().min(*fastest);
            made += output.len();
        }
    }
    let (seconds, bytes) =
        (fastest.iter().sum::<Duration>().as_secs_f64(), pages.iter().map(Vec::len).sum::<usize>());
    let (bytes, count) = (bytes as f64, pages.len() as f64);
    println!(
        "| {name} | {:.1} | {encoder} | {:.0} | {:.1} | {:.2} |",
        bytes / count / 1e3,
        bytes / seconds / 1e6,
        seconds / count * 1e6,
        bytes / made as f64
    );
}

fn gather(directory: &Path, pages: &mut Vec<Vec<u8>>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gather(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "html")
            && let Ok(page) = std::fs::read(&path)
            && BYTES.contains(&page.len())
            && pages.len() < PAGES_MAX
        {
            pages.push(page);
        }
    }
}

/// A page of 10 to 40 KB: navigation, paragraphs with some frequent words, links and a list.
fn page(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut chance = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % below
    };
    let mut page = String::from("<!doctype html><html><head><title>A page</title></head><body><nav>");
    let word = |chance: &mut dyn FnMut(u64) -> u64| {
        // The product makes some words frequent. Its mixed digits select the syllables of a word, out
        // of a hundred.
        let number = chance(70) * chance(70);
        let mut rest = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let mut word = String::new();
        for _ in 0..1 + number % 4 {
            word.push(char::from(b"bcdfghjklmnprstvwxyz"[(rest % 20) as usize]));
            word.push(char::from(b"aeiou"[(rest / 20 % 5) as usize]));
            rest /= 100;
        }
        word
    };
    for section in 0..20 {
        let _ = writeln!(page, "<a class=\"nav-link\" href=\"/section/{section}/\">Section {section}</a>");
    }
    let size = 10_000 + chance(30_000) as usize;
    while page.len() < size {
        page.push_str("<p>");
        for _ in 0..40 + chance(60) {
            page.push_str(&word(&mut chance));
            page.push(' ');
        }
        let _ = writeln!(page, "<a href=\"/page/{}.html\">{}</a>.</p>", chance(10_000), word(&mut chance));
    }
    page.push_str("</body></html>");
    page.into_bytes()
}
