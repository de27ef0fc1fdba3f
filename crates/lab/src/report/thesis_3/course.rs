//! Coverage and overlap of all processes together, over the course of a crawl (**thesis**, section 3.4).

/// Number of points of a course.
const POINTS: usize = 120;

/// Coverage of `wanted` pages, and overlap, over the course of a crawl. All processes download equally fast.
pub(super) fn coverage_and_overlap(downloads: &[Vec<u32>], wanted: usize) -> Vec<(f64, f64)> {
    let turns = downloads.iter().map(Vec::len).max().unwrap_or(0);
    let pages = downloads.iter().flatten().max().map_or(0, |page| *page as usize + 1);
    let mut is_there = vec![false; pages];
    let (mut all, mut unique) = (0, 0);
    let mut course = vec![(0.0, 0.0)];
    for turn in 0..turns {
        for page in downloads.iter().filter_map(|downloads| downloads.get(turn)) {
            all += 1;
            unique += usize::from(!std::mem::replace(&mut is_there[*page as usize], true));
        }
        if turn % turns.div_ceil(POINTS) == 0 || turn + 1 == turns {
            course.push((unique as f64 / wanted as f64, (all - unique) as f64 / unique as f64));
        }
    }
    course
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_overlap_and_new_pages_coverage() {
        let course = coverage_and_overlap(&[vec![0, 1, 2], vec![1, 3]], 5);
        assert_eq!(course, [(0.0, 0.0), (0.4, 0.0), (0.6, 1.0 / 3.0), (0.8, 0.25)]);
    }
}
