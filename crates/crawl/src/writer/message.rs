//! What the writer is told.

use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::SiteNumber;
use freshet_store::sites::PolitenessState;

use crate::ranking_module::Ranking;
use crate::visit::Visit;

/// What the writer is told.
pub enum Message {
    /// What came of an order, and how its site is to be treated from now on.
    Visit(Box<Visit>, SiteNumber, PolitenessState),
    /// What the RankingModule decided.
    Ranking(Ranking),
    /// A page is visited this often from now on, in milliseconds; as the policy says, if zero.
    Pin(PageUrl, u64),
    /// A site is visited no longer, or again.
    Pause(SiteNumber, bool),
    /// A moment has passed: what is due by the clock alone is done.
    Pulse,
    /// Something is kept under a name.
    Note(String, Vec<u8>),
    /// The crawl ends: nothing comes after this.
    End,
}
