//! Gives mutated inputs to every parser of foreign bytes, and prints any that makes one panic or take too
//! long.
//!
//!     cargo run --manifest-path fuzz/Cargo.toml -- [--seconds 20] [--seed 1] [--only html]
//!     cargo run --manifest-path fuzz/Cargo.toml -- --write-seeds fuzz/corpus
//!
//! An input is a seed with one to eight mutations: bits flipped, bytes replaced, pieces removed, doubled,
//! exchanged with those of another seed, words put in. An input that was read in a way not seen before
//! becomes a seed. With `--write-seeds` the first seeds of each parser are written to a folder, from which
//! `cargo fuzz` can begin.
//!
//! What would worry us: any panic, and any input of a few kilobytes that takes longer than a second.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use freshet_fuzz::{Parser, parsers};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// The longest that one input may take.
const TIME_MAX: Duration = Duration::from_secs(1);

/// An input counts as slow if it takes longer this many times in a row: once may be the fault of the machine.
const SLOW_READS: usize = 3;

/// The longest input, in bytes.
const INPUT_BYTES_MAX: usize = 16 << 10;

/// Seeds that a parser may gather.
const SEEDS_MAX: usize = 2000;

/// How long a parser is given inputs before it is the next one's turn.
const TURN: Duration = Duration::from_millis(50);

/// What the command line says.
struct Options {
    seconds: u64,
    seed: u64,
    only: Option<String>,
    write_seeds: Option<String>,
}

/// A parser under test.
struct Test {
    parser: Parser,
    /// Its own, so that its inputs do not depend on how fast the others are.
    chance: ChaCha8Rng,
    /// Fingerprints of the outcomes so far.
    seen: HashSet<u64>,
    inputs: u64,
    panics: u64,
    slow: u64,
}

fn main() -> ExitCode {
    let options = match options(env::args().skip(1)) {
        Ok(options) => options,
        Err(fault) => return fail(&fault),
    };
    let mut parsers = parsers();
    parsers.retain(|parser| options.only.as_ref().is_none_or(|only| parser.name == only));
    if parsers.is_empty() {
        return fail("there is no parser of this name");
    }
    if let Some(directory) = &options.write_seeds {
        return match write_seeds(&parsers, Path::new(directory)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&format!("cannot write seeds to {directory}: {error}")),
        };
    }
    panic::set_hook(Box::new(|_| {}));
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let mut tests: Vec<Test> = parsers.into_iter().map(|parser| Test::new(parser, options.seed)).collect();
    while Instant::now() < until {
        for test in &mut tests {
            let begun = Instant::now();
            while begun.elapsed() < TURN {
                test.try_one();
            }
        }
    }
    report(&tests)
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { seconds: 20, seed: 1, only: None, write_seeds: None };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a whole number, not {value}"));
        match name.as_str() {
            "--seconds" => options.seconds = number()?,
            "--seed" => options.seed = number()?,
            "--only" => options.only = Some(value),
            "--write-seeds" => options.write_seeds = Some(value),
            _ => {
                return Err(format!(
                    "unknown option {name}; there are --seconds, --seed, --only, --write-seeds"
                ));
            }
        }
    }
    Ok(options)
}

fn fail(fault: &str) -> ExitCode {
    let _ = writeln!(io::stderr().lock(), "freshet-fuzz: {fault}");
    ExitCode::FAILURE
}

fn write_seeds(parsers: &[Parser], directory: &Path) -> io::Result<()> {
    for parser in parsers {
        let directory = directory.join(parser.name);
        fs::create_dir_all(&directory)?;
        for (number, seed) in parser.seeds.iter().enumerate() {
            fs::write(directory.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

impl Test {
    fn new(parser: Parser, seed: u64) -> Self {
        let chance = ChaCha8Rng::seed_from_u64(seed);
        Self { parser, chance, seen: HashSet::new(), inputs: 0, panics: 0, slow: 0 }
    }

    fn try_one(&mut self) {
        let input = mutated(&self.parser, &mut self.chance);
        self.inputs += 1;
        let begun = Instant::now();
        match panic::catch_unwind(|| (self.parser.read)(&input)) {
            Ok(fingerprint) if begun.elapsed() > TIME_MAX && self.is_slow(&input) => {
                self.slow += 1;
                self.show("takes longer than a second", &input);
                self.seen.insert(fingerprint);
            }
            Ok(fingerprint) => {
                if self.seen.insert(fingerprint) && self.parser.seeds.len() < SEEDS_MAX {
                    self.parser.seeds.push(input);
                }
            }
            Err(reason) => {
                self.panics += 1;
                let text = reason.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| reason.downcast_ref::<&str>().copied()).unwrap_or("no reason");
                self.show(&format!("panics ({text})"), &input);
            }
        }
    }

    /// Whether an input that took long takes long every time.
    fn is_slow(&self, input: &[u8]) -> bool {
        (1..SLOW_READS).all(|_| {
            let begun = Instant::now();
            (self.parser.read)(input);
            begun.elapsed() > TIME_MAX
        })
    }

    fn show(&self, what: &str, input: &[u8]) {
        let line = format!("{} {what}: b\"{}\"", self.parser.name, input.escape_ascii());
        let _ = writeln!(io::stdout().lock(), "{line}");
    }
}

fn report(tests: &[Test]) -> ExitCode {
    let mut output = io::stdout().lock();
    for Test { parser, inputs, panics, slow, .. } in tests {
        let (name, seeds) = (parser.name, parser.seeds.len());
        let _ =
            writeln!(output, "{name:12} {inputs:>10} inputs, {seeds} seeds, {panics} panics, {slow} slow");
    }
    let _ = writeln!(output, "{:12} {:>10} inputs", "all", tests.iter().map(|test| test.inputs).sum::<u64>());
    if tests.iter().any(|test| test.panics + test.slow > 0) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn mutated(parser: &Parser, chance: &mut ChaCha8Rng) -> Vec<u8> {
    let any_seed = |chance: &mut ChaCha8Rng| parser.seeds[chance.random_range(0..parser.seeds.len())].clone();
    let mut input = any_seed(chance);
    for _ in 0..chance.random_range(1..=8) {
        let length = input.len();
        let at = chance.random_range(0..=length);
        let end = (at + chance.random_range(0..=16)).min(length);
        match chance.random_range(0..9) {
            0 if at < length => input[at] ^= 1 << chance.random_range(0..8),
            1 if at < length => input[at] = chance.random(),
            2 => drop(input.drain(at..end)),
            3 => {
                let piece = input[at..end].repeat(chance.random_range(1..=8));
                input.splice(at..at, piece);
            }
            4 | 5 if !parser.words.is_empty() => {
                let word = parser.words[chance.random_range(0..parser.words.len())];
                input.splice(at..at, word.bytes());
            }
            6 => {
                let other = any_seed(chance);
                let cut = chance.random_range(0..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[cut..]);
            }
            7 => {
                let number: u64 = chance.random::<u64>() >> chance.random_range(0..64);
                input.splice(at..end, number.to_string().into_bytes());
            }
            8 => input.truncate(at),
            _ => input.insert(at, chance.random()),
        }
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}
