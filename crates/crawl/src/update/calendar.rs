//! Calendar: orders that are due at a given time, whatever the policy says: pins, retries, lists and rules of
//! sites.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use freshet_protocol::time::Timestamp;

use crate::visit::Order;

/// A queue of orders by due time.
#[derive(Debug, Default)]
pub struct Calendar {
    entries: BinaryHeap<Reverse<Entry>>,
    /// Number of orders added so far. Orders that are due at the same time are taken in the order they were
    /// added.
    count: u64,
}

#[derive(Debug)]
struct Entry {
    due: Timestamp,
    count: u64,
    order: Order,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.count).cmp(&(other.due, other.count))
    }
}

impl Calendar {
    /// Adds an order.
    pub fn add(&mut self, due: Timestamp, order: Order) {
        self.count += 1;
        self.entries.push(Reverse(Entry { due, count: self.count, order }));
    }

    /// Takes the next order, if it is due.
    pub fn take_due(&mut self, now: Timestamp) -> Option<Order> {
        let due = self.entries.peek().is_some_and(|Reverse(entry)| entry.due <= now);
        due.then(|| self.entries.pop()).flatten().map(|Reverse(entry)| entry.order)
    }

    /// Due time of the next order.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.entries.peek().map(|Reverse(entry)| entry.due)
    }
}

#[cfg(test)]
mod tests {
    use freshet_protocol::ids::SiteNumber;

    use super::*;

    #[test]
    fn orders_come_when_they_are_due() {
        let at = Timestamp::from_millis;
        let robots = |site| Order::Robots { site: SiteNumber(site) };
        let mut calendar = Calendar::default();
        calendar.add(at(20), robots(2));
        calendar.add(at(10), robots(1));
        calendar.add(at(10), robots(3));
        assert_eq!(calendar.next_due(), Some(at(10)));
        assert_eq!(calendar.take_due(at(9)), None);
        assert_eq!(calendar.take_due(at(15)), Some(robots(1)));
        assert_eq!(calendar.take_due(at(15)), Some(robots(3)));
        assert_eq!(calendar.take_due(at(15)), None);
        assert_eq!(calendar.take_due(at(20)), Some(robots(2)));
    }
}
