//! What the policy keeps of every page: 26 bytes, column by column.

/// Fixed-point steps of a residual average: one is 2^14.
const RESIDUAL_ONE: f32 = 16_384.0;

/// The columns.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The group of the page.
    pub(super) group: Vec<u32>,
    /// Tick of the last visit.
    pub(super) last: Vec<u32>,
    /// Discounted changes (n).
    pub(super) changes: Vec<f32>,
    /// Discounted clock time observed (e).
    pub(super) exposure: Vec<f32>,
    /// Importance.
    pub(super) importance: Vec<f32>,
    residual_fast: Vec<i16>,
    residual_slow: Vec<i16>,
    visits: Vec<u8>,
    last_changed: Vec<bool>,
}

impl Columns {
    /// Adds a page that was copied at the tick `last`.
    pub(super) fn push(&mut self, group: u32, last: u32, importance: f32) {
        self.group.push(group);
        self.last.push(last);
        self.changes.push(0.0);
        self.exposure.push(0.0);
        self.importance.push(importance);
        self.residual_fast.push(0);
        self.residual_slow.push(0);
        self.visits.push(0);
        self.last_changed.push(false);
    }

    /// Number of pages.
    pub(super) fn len(&self) -> usize {
        self.group.len()
    }

    /// Visits, as far as they are counted.
    pub(super) fn visits(&self, page: usize) -> u8 {
        self.visits[page]
    }

    /// Whether the last visit found a change; nothing before the first visit.
    pub(super) fn last_changed(&self, page: usize) -> Option<bool> {
        (self.visits[page] > 0).then_some(self.last_changed[page])
    }

    /// Averages of what the last visits found beyond what was predicted: one of few visits, one of many.
    pub(super) fn residuals(&self, page: usize) -> (f32, f32) {
        (
            f32::from(self.residual_fast[page]) / RESIDUAL_ONE,
            f32::from(self.residual_slow[page]) / RESIDUAL_ONE,
        )
    }

    /// A visit found a change or none where a change had this probability.
    pub(super) fn visit(&mut self, page: usize, changed: bool, predicted: f32) {
        let residual = f32::from(u8::from(changed)) - predicted;
        let (fast, slow) = self.residuals(page);
        self.residual_fast[page] = ((0.6 * fast + 0.4 * residual) * RESIDUAL_ONE).round() as i16;
        self.residual_slow[page] = ((0.9 * slow + 0.1 * residual) * RESIDUAL_ONE).round() as i16;
        self.visits[page] = self.visits[page].saturating_add(1);
        self.last_changed[page] = changed;
    }
}
