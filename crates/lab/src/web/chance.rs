//! Random numbers as a pure function of the question, independent of the order of questions.
//!
//! Every question about the web ("when does page 12 change?") has its own random stream, seeded by the global
//! seed, the subject and the numbers in the question. The generator is SplitMix64: it takes only a few
//! multiplications to start a stream. That matters because a request starts dozens.
//!
//! # Promises
//! - The same question has the same answer, whatever was asked before.
//! - Different subjects and different numbers do not share streams.

use std::convert::Infallible;

use rand::TryRng;

/// Subject of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    Sites = 1,
    Directories,
    Form,
    Slug,
    Birth,
    Age,
    Move,
    Death,
    Process,
    Changes,
    Sweeps,
    TakesPart,
    Templates,
    Edit,
    Title,
    Shape,
    Paragraph,
    Figures,
    Links,
    TemplateText,
    Noise,
    Noisy,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// The stream of a subject about one thing, or about a pair such as a page and one of its versions.
    pub(super) fn of(seed: u64, subject: Subject, which: u64, part: u64) -> Self {
        let mut state = mix(seed ^ 0x6c69_7669_6e67_2077);
        for word in [subject as u64, which, part] {
            state = mix(state.wrapping_add(STEP) ^ word.wrapping_mul(0xd6e8_feb8_6659_fd93));
        }
        Self(state)
    }

    /// Random 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A random number from 0 inclusive to 1 exclusive.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A random integer below `count`. Zero if `count` is zero.
    pub(super) fn below(&mut self, count: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(count)) >> 32) as u32
    }

    /// True with this probability.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Days until the next event of a Poisson process with this rate per day. Infinite at rate zero.
    pub(super) fn wait(&mut self, rate: f64) -> f64 {
        if rate == 0.0 {
            return f64::INFINITY;
        }
        -(1.0 - self.unit()).ln() / rate
    }
}

impl TryRng for Chance {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, target: &mut [u8]) -> Result<(), Infallible> {
        for chunk in target.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Position of a site, from 0 to 1, in a trait that a share of the sites has. Positions fill the interval
/// evenly even with few sites, because they are consecutive multiples of an irrational number.
pub(super) fn even_share(seed: u64, trait_number: usize, site: u32) -> f64 {
    /// Fractional parts of square roots of primes: one irrational number per trait.
    const STEPS: [f64; 8] = [
        0.414_213_562_373,
        0.732_050_807_569,
        0.236_067_977_500,
        0.645_751_311_065,
        0.316_624_790_355,
        0.605_551_275_464,
        0.123_105_625_618,
        0.358_898_943_541,
    ];
    let offset = Chance::of(seed, Subject::Sites, trait_number as u64, 0).unit();
    (offset + STEPS[trait_number % STEPS.len()] * f64::from(site + 1)).fract()
}

/// Difference between consecutive states of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_one_answer_and_others_have_others() {
        let first = |subject, which, part| Chance::of(7, subject, which, part).bits();
        assert_eq!(first(Subject::Birth, 3, 4), first(Subject::Birth, 3, 4));
        let others = [
            first(Subject::Birth, 3, 4),
            first(Subject::Death, 3, 4),
            first(Subject::Birth, 4, 3),
            first(Subject::Birth, 3, 5),
            Chance::of(8, Subject::Birth, 3, 4).bits(),
        ];
        let different: std::collections::HashSet<_> = others.iter().collect();
        assert_eq!(different.len(), others.len());
    }

    #[test]
    fn numbers_have_the_means_they_should() {
        let mut chance = Chance::of(1, Subject::Changes, 0, 0);
        let mean = |draw: &mut dyn FnMut() -> f64| (0..20_000).map(|_| draw()).sum::<f64>() / 20_000.0;
        assert!((mean(&mut || chance.unit()) - 0.5).abs() < 0.01);
        assert!((mean(&mut || chance.wait(4.0)) - 0.25).abs() < 0.01);
        assert!((mean(&mut || f64::from(chance.below(11))) - 5.0).abs() < 0.1);
        assert_eq!(chance.below(0), 0);
        assert_eq!(chance.wait(0.0), f64::INFINITY);
    }

    #[test]
    fn shares_hold_among_a_few_sites() {
        for trait_number in 0..8 {
            let low = (0..20).filter(|site| even_share(7, trait_number, *site) < 0.3).count();
            assert!((4..=8).contains(&low), "{low} of 20 in trait {trait_number}");
        }
    }
}
