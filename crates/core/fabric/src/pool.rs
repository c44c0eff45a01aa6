//! A buffer that all queues of a switch share, with dynamic thresholds.

use base::cast::{real, whole};

use crate::watch::DropReason;

/// The buffer that the queues of a switch share (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
/// packet switches", 1998).
///
/// A queue may hold its own reserve, and beyond it at most `alpha` times what the pool has free. Only arrivals are tested: a
/// queue above a threshold that has fallen keeps its packets.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolConfig {
    /// Bytes that queues share; reserves and headroom are not part of them.
    pub bytes: u64,
    /// The factor of each priority class, 0 first; later classes have the last one. At least one.
    pub alphas: Vec<f64>,
    /// Bytes that every queue, one for each port and class, has for itself.
    pub reserve: u64,
}

/// The bytes that the queues of a switch have taken of its pool.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    config: PoolConfig,
    /// Shared bytes in use.
    used: u64,
    most: u64,
}

impl Pool {
    /// An empty one.
    pub(crate) const fn new(config: PoolConfig) -> Self {
        Self {
            config,
            used: 0,
            most: 0,
        }
    }

    /// Whether a queue of this class that holds `length` bytes may take `size` more.
    pub(crate) fn admits(&self, class: usize, length: u64, size: u64) -> Result<(), DropReason> {
        let (before, after) = (self.shared(length), self.shared(length + size));
        if after == 0 {
            return Ok(());
        }
        if self.used + (after - before) > self.config.bytes {
            return Err(DropReason::Pool);
        }
        if after > self.threshold(class) {
            return Err(DropReason::Threshold);
        }
        Ok(())
    }

    /// A queue that held `before` bytes holds `after`.
    pub(crate) fn change(&mut self, before: u64, after: u64) {
        self.used = self.used + self.shared(after) - self.shared(before);
        self.most = self.most.max(self.used);
    }

    /// How many shared bytes a queue of this class may hold now.
    pub(crate) fn threshold(&self, class: usize) -> u64 {
        let alphas = &self.config.alphas;
        whole(alphas[class.min(alphas.len() - 1)] * real(self.free()))
    }

    /// Whether a queue that holds `length` bytes finds `size` more, whatever its share.
    pub(crate) const fn has_room(&self, length: u64, size: u64) -> bool {
        self.used + (self.shared(length + size) - self.shared(length)) <= self.config.bytes
    }

    /// Bytes that are shared.
    pub(crate) const fn bytes(&self) -> u64 {
        self.config.bytes
    }

    /// Shared bytes that are free.
    pub(crate) const fn free(&self) -> u64 {
        self.config.bytes.saturating_sub(self.used)
    }

    /// Bytes that every queue has for itself.
    pub(crate) const fn reserve(&self) -> u64 {
        self.config.reserve
    }

    /// The most shared bytes that were in use at a time.
    pub(crate) const fn most(&self) -> u64 {
        self.most
    }

    /// The part of a queue's length that is not in its reserve.
    const fn shared(&self, length: u64) -> u64 {
        length.saturating_sub(self.config.reserve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues of a pool that fill and drain byte by byte, or in other units.
    struct Queues {
        pool: Pool,
        classes: Vec<usize>,
        lengths: Vec<u64>,
    }

    impl Queues {
        fn new(bytes: u64, alphas: &[f64], classes: &[usize]) -> Self {
            let config = PoolConfig {
                bytes,
                alphas: alphas.to_vec(),
                reserve: 0,
            };
            Self {
                pool: Pool::new(config),
                classes: classes.to_vec(),
                lengths: vec![0; classes.len()],
            }
        }

        fn arrive(&mut self, queue: usize, size: u64) -> bool {
            let length = self.lengths[queue];
            let fits = self.pool.admits(self.classes[queue], length, size).is_ok();
            if fits {
                self.lengths[queue] += size;
                self.pool.change(length, length + size);
            }
            fits
        }

        fn depart(&mut self, queue: usize, size: u64) {
            let length = self.lengths[queue];
            self.lengths[queue] -= size.min(length);
            self.pool.change(length, self.lengths[queue]);
        }

        /// Twice as much arrives at every queue as leaves, until the lengths are those of the steady state.
        fn fill(&mut self, size: u64) {
            let queues = self.lengths.len();
            for queue in (0..20_000).flat_map(|_| 0..queues) {
                self.depart(queue, size);
                self.arrive(queue, size);
                self.arrive(queue, size);
            }
        }
    }

    fn near(found: u64, expected: f64, within: f64) {
        assert!(
            (real(found) - expected).abs() <= within,
            "{found} {expected}"
        );
    }

    // With n equal congested queues each may hold T = alpha B / (1 + n alpha).
    #[test]
    fn equal_queues_share_the_pool_by_the_closed_form() {
        let size = 1000;
        for (alpha, queues, expected) in [
            (1.0, 1, 6e6),
            (1.0, 2, 4e6),
            (1.0, 8, 12e6 / 9.0),
            (8.0, 1, 96e6 / 9.0),
            (8.0, 2, 96e6 / 17.0),
            (8.0, 8, 96e6 / 65.0),
            (0.21, 1, 12e6 * 0.21 / 1.21),
        ] {
            let mut all = Queues::new(12_000_000, &[alpha], &vec![0; queues]);
            all.fill(size);
            // The last packet of each is all or nothing.
            for length in all.lengths {
                near(length, expected, 1000.0 * (1.0 + alpha));
            }
        }
    }

    // T_i = alpha_i B / (1 + sum of alpha_j).
    #[test]
    fn classes_share_the_pool_by_their_factors() {
        let mut all = Queues::new(10_000_000, &[8.0, 1.0], &[0, 1, 1]);
        all.fill(1000);
        let [high, low] = [8.0, 1.0].map(|alpha| alpha * 10e6 / 11.0);
        for (length, expected) in all.lengths.into_iter().zip([high, low, low]) {
            near(length, expected, 10_000.0);
        }
    }

    // A burst at r times the line rate meets a pool in which n queues are in steady state: its first drop, g = r - 1, comes at
    // alpha B / (1 + (n + 1) alpha) if alpha g <= 1 + n alpha, else at g Q0 / (g (1 + alpha) - n alpha), Q0 = alpha B / (1 + n
    // alpha): before the old queues have made room.
    #[test]
    fn a_burst_is_dropped_first_where_the_closed_form_says() {
        for (alpha, old, rate, expected) in [
            (1.0, 1, 10, 0.2647),
            (0.5, 4, 40, 0.1150),
            (8.0, 4, 10, 0.0445),
            // alpha g = 0.5 is below 1 + n alpha = 2: the fair share.
            (0.5, 2, 2, 0.2),
        ] {
            let total = 10_000_000_u64;
            let mut all = Queues::new(total, &[alpha], &vec![0; old + 1]);
            let mut grows = old > 0;
            while grows {
                let taken: Vec<bool> = (0..old).map(|queue| all.arrive(queue, 10)).collect();
                grows = taken.contains(&true);
            }
            // In each step every link sends 10 bytes; old queues that are below their threshold are kept full.
            let burst = 'burst: loop {
                for _ in 0..rate {
                    if !all.arrive(old, 10) {
                        break 'burst all.lengths[old];
                    }
                }
                for queue in 0..=old {
                    all.depart(queue, 10);
                }
                for queue in 0..old {
                    all.arrive(queue, 10);
                }
            };
            near(burst, expected * real(total), 0.002 * real(total));
        }
    }

    #[test]
    fn a_queue_has_its_reserve_whatever_the_pool_holds() {
        let config = PoolConfig {
            bytes: 1000,
            alphas: vec![1.0],
            reserve: 300,
        };
        let mut pool = Pool::new(config);
        // Another queue has all of the pool and its own reserve.
        pool.change(0, 1300);
        assert_eq!(pool.admits(0, 0, 300), Ok(()));
        assert_eq!(pool.admits(0, 200, 101), Err(DropReason::Pool));
        // Shared bytes are given back first.
        pool.change(1300, 800);
        assert_eq!((pool.threshold(0), pool.most()), (500, 1000));
        assert_eq!(pool.admits(0, 200, 600), Ok(()));
        assert_eq!(pool.admits(0, 200, 601), Err(DropReason::Pool));
        pool.change(800, 700);
        pool.change(0, 500);
        assert_eq!(pool.admits(0, 500, 300), Err(DropReason::Threshold));
    }
}
