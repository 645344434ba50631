//! Bounded memory: of the answers that are large, only those of a few groups are read and judged at the same time.

use std::sync::Arc;

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

/// An answer up to this length is light: as many as there are jobs are in memory at the same time. A hundred quotes are.
pub const LIGHT: usize = 32 * 1024;

/// So many KiB of heavy answers may be read at the same time, one answer of each group counted. Judging takes many times as much.
const HEAVY_KIB: u32 = 1024;

/// Lets as many groups read heavy answers as fit into memory.
#[derive(Debug)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(HEAVY_KIB as usize)))
    }
}

impl Gate {
    /// The share of one group: to be kept until its answers are judged.
    pub fn share(&self) -> Share {
        Share {
            gate: Some(Arc::clone(&self.0)),
            permit: OnceCell::new(),
        }
    }
}

/// What one group may hold. It passes the gate once, whatever the number of its heavy answers: who waits holds nothing.
#[derive(Debug, Default)]
pub struct Share {
    gate: Option<Arc<Semaphore>>,
    permit: OnceCell<Option<OwnedSemaphorePermit>>,
}

impl Share {
    /// Waits until a heavy answer of that many bytes may be read.
    pub async fn pass(&self, bytes: usize) {
        let weight = u32::try_from(bytes / 1024)
            .unwrap_or(HEAVY_KIB)
            .clamp(1, HEAVY_KIB);
        self.permit
            .get_or_init(|| async {
                match &self.gate {
                    // The semaphore is never closed.
                    Some(gate) => Arc::clone(gate).acquire_many_owned(weight).await.ok(),
                    None => None,
                }
            })
            .await;
    }
}
