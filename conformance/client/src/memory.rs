//! Bounded memory: of large responses, only as many are read and judged at the same time as fit into a fixed number of bytes.

use std::sync::Arc;

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

/// The longest response body, in bytes, that is read without a permit. A response with a hundred quotes is shorter.
pub const SMALL: usize = 32 * 1024;

/// How many KiB of large responses may be read at the same time, one response of each group counted. Judging a response takes many
/// times its length.
const LARGE_KIB: u32 = 1024;

/// The memory for large responses, which all groups share.
#[derive(Debug)]
pub struct MemoryLimit(Arc<Semaphore>);

impl Default for MemoryLimit {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_KIB as usize)))
    }
}

impl MemoryLimit {
    /// The permit of one group of exchanges. The caller keeps it until the responses of the group are judged.
    pub fn permit(&self) -> MemoryPermit {
        MemoryPermit { limit: Some(Arc::clone(&self.0)), acquired: OnceCell::new() }
    }
}

/// The permit of one group to read large responses. It is acquired once for all responses of the group, before a body is buffered. The
/// default permit is unlimited.
#[derive(Debug, Default)]
pub struct MemoryPermit {
    limit: Option<Arc<Semaphore>>,
    acquired: OnceCell<Option<OwnedSemaphorePermit>>,
}

impl MemoryPermit {
    /// Waits until a response of that many bytes may be read.
    pub async fn acquire(&self, bytes: usize) {
        let weight = u32::try_from(bytes / 1024).unwrap_or(LARGE_KIB).clamp(1, LARGE_KIB);
        // The semaphore is never closed.
        let permit = async { Arc::clone(self.limit.as_ref()?).acquire_many_owned(weight).await.ok() };
        self.acquired.get_or_init(|| permit).await;
    }
}
