//! The threads that kernels run on.
//!
//! Work is cut into tasks whose number depends on the sizes alone, never on the number of threads; each task writes
//! what is its own. So results have the same bits with any number of threads.

use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a thread without work spins before it sleeps: to wake one costs 16 µs, and operations of a training step
/// follow each other within a few.
const SPIN: Duration = Duration::from_micros(40);

/// More threads than this never work on one job.
const MAX_THREADS: usize = 256;

/// Shares of one thread need no pool, and others are at most half as many as threads.
const POOLS: usize = MAX_THREADS / 2;

/// Runs `run(0)`, …, `run(tasks - 1)`, each once, in any order and on any thread of the pool and this one; returns
/// when all are done. While the pool is busy with another caller's work, and inside of a task, they run here. Callers
/// that are to compute at once, each on several threads, have a [`Share`] each.
///
/// # Panics
/// If a task panics, when the others are done.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// let sum = AtomicUsize::new(0);
/// burnpy_tensor::parallel::for_each(10, |task| _ = sum.fetch_add(task, Ordering::Relaxed));
/// assert_eq!(sum.into_inner(), 45);
/// ```
pub fn for_each(tasks: usize, run: impl Fn(usize) + Sync) {
    let threads = num_threads().min(tasks);
    if threads > 1
        && let Some(turn) = Pool::get(SHARE.get().map_or(0, |share| share.pool)).try_turn()
    {
        turn.run(threads, tasks, &run);
    } else {
        (0..tasks).for_each(run);
    }
}

/// Runs `run(i, part)` for the parts of `out` of `len` elements each (the last may be shorter); see [`for_each`].
///
/// # Panics
/// If `len` is 0, or a task panics.
///
/// ```
/// let mut out = [0; 5];
/// burnpy_tensor::parallel::chunks_mut(&mut out, 2, |i, part| part.fill(i));
/// assert_eq!(out, [0, 0, 1, 1, 2]);
/// ```
pub fn chunks_mut<T: Send>(out: &mut [T], len: usize, run: impl Fn(usize, &mut [T]) + Sync) {
    let parts = Parts::new(out, len);
    // SAFETY: `for_each` runs every index once.
    for_each(parts.count(), |i| run(i, unsafe { parts.part(i) }));
}

/// [`chunks_mut`] over two outputs at once: part `i` of `a` goes with part `i` of `b`.
///
/// # Panics
/// If the outputs do not have the same number of parts.
pub fn chunks_mut2<T: Send, U: Send>(
    (a, a_len): (&mut [T], usize),
    (b, b_len): (&mut [U], usize),
    run: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    let (a, b) = (Parts::new(a, a_len), Parts::new(b, b_len));
    assert_eq!(a.count(), b.count(), "outputs of {} and {} parts", a.count(), b.count());
    // SAFETY: `for_each` runs every index once.
    for_each(a.count(), |i| run(i, unsafe { a.part(i) }, unsafe { b.part(i) }));
}

/// The results of `run(0)`, …, `run(tasks - 1)`, in that order; see [`for_each`].
pub fn map<R: Send + Default + Clone>(tasks: usize, run: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut results = vec![R::default(); tasks];
    chunks_mut(&mut results, 1, |i, slot| slot[0] = run(i));
    results
}

/// A slice that threads write to in parts.
struct Parts<T> {
    start: *mut T,
    total: usize,
    len: usize,
}

// SAFETY: the parts are disjoint, and `T` may be sent to the thread that gets one.
unsafe impl<T: Send> Sync for Parts<T> {}

impl<T> Parts<T> {
    fn new(out: &mut [T], len: usize) -> Self {
        assert!(len > 0, "parts of no elements");
        Self { start: out.as_mut_ptr(), total: out.len(), len }
    }

    fn count(&self) -> usize {
        self.total.div_ceil(self.len)
    }

    /// # Safety
    /// The slice is still borrowed, and nobody else has part `i`.
    #[allow(clippy::mut_from_ref, reason = "each part is given out once")]
    unsafe fn part(&self, i: usize) -> &mut [T] {
        assert!(i < self.count(), "part {i} of {}", self.count());
        let from = i * self.len;
        // SAFETY: `from < total`, and the end is cut to `total`.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), self.len.min(self.total - from)) }
    }
}

/// 0: as many as the process may use.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARE: Cell<Option<Share>> = const { Cell::new(None) };
}

/// A part of the threads that kernels use, for one of several callers that compute at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    threads: usize,
    pool: usize,
}

impl Share {
    /// `threads` threads, the caller included, between 1 and 256; all but the caller come from the pool of number `pool`,
    /// which serves one caller at a time. Pool 0 is that of callers without a share; there are 128.
    pub fn new(threads: usize, pool: usize) -> Self {
        Self { threads: threads.clamp(1, MAX_THREADS), pool: pool % POOLS }
    }

    /// How many threads, and the number of the pool.
    pub fn parts(self) -> (usize, usize) {
        (self.threads, self.pool)
    }
}

/// Has kernels that this thread calls use its share, or, with `None`, as many threads as the process does. What it had
/// before is returned, to be set again.
///
/// ```
/// use burnpy_tensor::parallel::{Share, num_threads, set_share};
/// let outer = set_share(Some(Share::new(3, 1)));
/// assert_eq!(num_threads(), 3);
/// assert_eq!(set_share(outer), Some(Share::new(3, 1)));
/// ```
pub fn set_share(share: Option<Share>) -> Option<Share> {
    SHARE.replace(share)
}

/// How many threads kernels use that this thread calls, itself included: its share, else `BURNPY_NUM_THREADS`, else the
/// cores that the process may use.
pub fn num_threads() -> usize {
    SHARE.get().map_or_else(threads_of_process, |share| share.threads)
}

fn threads_of_process() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            let asked = std::env::var("BURNPY_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok());
            let cores = || thread::available_parallelism().map_or(1, usize::from);
            let threads = asked.filter(|&threads| threads > 0).unwrap_or_else(cores).min(MAX_THREADS);
            THREADS.store(threads, Ordering::Relaxed);
            threads
        }
        threads => threads,
    }
}

/// Has kernels use this many threads from now on, between 1 and 256; not those of callers with a [`Share`].
pub fn set_num_threads(threads: usize) {
    THREADS.store(threads.clamp(1, MAX_THREADS), Ordering::Relaxed);
}

/// Bits of the gate: how many workers are inside, whether more may enter, and the number of the job above.
const INSIDE: u64 = (1 << 16) - 1;
const OPEN: u64 = 1 << 16;
const NEXT_JOB: u64 = 1 << 17;

type Task<'a> = &'a (dyn Fn(usize) + Sync);

struct Pool {
    /// Whether a caller has its turn.
    busy: AtomicBool,
    gate: AtomicU64,
    /// Written by the caller whose turn it is while the gate is shut and nobody is inside.
    job: UnsafeCell<Option<Job>>,
    next_task: AtomicUsize,
    panicked: AtomicBool,
    /// Grown by the caller whose turn it is.
    workers: UnsafeCell<Vec<&'static Worker>>,
}

// SAFETY: the cells are touched only as their comments say.
unsafe impl Sync for Pool {}

#[derive(Clone, Copy)]
struct Job {
    run: Task<'static>,
    tasks: usize,
    /// Workers from this index on stay outside.
    helpers: usize,
}

struct Worker {
    thread: UnsafeCell<Option<Thread>>,
    asleep: AtomicBool,
}

// SAFETY: `thread` is written before the worker is listed, and only read after.
unsafe impl Sync for Worker {}

/// Each null until first used, and again in a forked child, where the parent's threads do not exist.
static STARTED: [AtomicPtr<Pool>; POOLS] = [const { AtomicPtr::new(null_mut()) }; POOLS];

impl Pool {
    fn get(number: usize) -> &'static Self {
        let known = STARTED[number].load(Ordering::Acquire);
        // SAFETY: a pool is never freed.
        unsafe { known.as_ref() }.unwrap_or_else(|| Self::start(number))
    }

    #[cold]
    fn start(number: usize) -> &'static Self {
        static FORKS_WATCHED: AtomicBool = AtomicBool::new(false);
        extern "C" fn nothing() {}
        extern "C" fn forget() {
            for pool in &STARTED {
                pool.store(null_mut(), Ordering::Release);
            }
        }
        if !FORKS_WATCHED.swap(true, Ordering::Relaxed) {
            burnpy_buffer::on_fork(nothing, nothing, forget);
        }
        let new = Box::into_raw(Box::new(Self {
            busy: AtomicBool::new(false),
            gate: AtomicU64::new(0),
            job: UnsafeCell::new(None),
            next_task: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            workers: UnsafeCell::new(Vec::new()),
        }));
        match STARTED[number].compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it is never freed.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: nobody has seen ours, and a pool that is set is never freed.
                unsafe {
                    drop(Box::from_raw(new));
                    &*other
                }
            }
        }
    }

    /// The right to run a job, if nobody has it.
    fn try_turn(&'static self) -> Option<Turn> {
        let free = self.busy.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
        free.then(|| Turn { pool: self })
    }

    /// Does tasks until none are left.
    fn work(&self, job: Job) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            loop {
                let task = self.next_task.fetch_add(1, Ordering::Relaxed);
                if task >= job.tasks {
                    break;
                }
                (job.run)(task);
            }
        }));
        if done.is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
    }

    /// The life of the worker at `index`.
    fn serve(&'static self, index: usize, worker: &'static Worker) {
        // What a task of its own pool calls runs in place, whether or not another pool is free.
        set_share(Some(Share::new(1, 0)));
        let mut seen = 0;
        loop {
            seen = self.wait_for_job(seen, worker);
            let gate = self.gate.load(Ordering::Relaxed);
            let open = gate & OPEN != 0 && gate / NEXT_JOB == seen;
            if !open
                || self.gate.compare_exchange(gate, gate + 1, Ordering::Acquire, Ordering::Relaxed).is_err()
            {
                // Shut meanwhile, or another worker came through: look again at the same job.
                seen = if open { seen - 1 } else { seen };
                continue;
            }
            // SAFETY: inside, and the gate was open: the caller waits before it touches the job again.
            if let Some(job) = unsafe { *self.job.get() }
                && index < job.helpers
            {
                self.work(job);
            }
            self.gate.fetch_sub(1, Ordering::Release);
        }
    }

    /// The number of the first job after `seen`, once there is one: spins, then sleeps.
    fn wait_for_job(&self, seen: u64, worker: &Worker) -> u64 {
        let current = || self.gate.load(Ordering::Acquire) / NEXT_JOB;
        let start = Instant::now();
        loop {
            for _ in 0..64 {
                if current() != seen {
                    return current();
                }
                std::hint::spin_loop();
            }
            if start.elapsed() > SPIN {
                worker.asleep.store(true, Ordering::Relaxed);
                // Either this thread sees the new job, or the caller sees it asleep.
                fence(Ordering::SeqCst);
                if current() == seen {
                    thread::park();
                }
                worker.asleep.store(false, Ordering::Relaxed);
            }
        }
    }
}

/// The right to run a job; returned on drop.
struct Turn {
    pool: &'static Pool,
}

impl Turn {
    fn run(self, threads: usize, tasks: usize, run: Task<'_>) {
        let pool = self.pool;
        let helpers = self.grow(threads - 1);
        // SAFETY: only the lifetime changes; `Open` waits, also in a panic, until no worker uses it.
        let run = unsafe { std::mem::transmute::<Task<'_>, Task<'static>>(run) };
        let job = Job { run, tasks, helpers };
        // SAFETY: it is our turn, the gate is shut and nobody is inside.
        unsafe { *pool.job.get() = Some(job) };
        pool.next_task.store(0, Ordering::Relaxed);
        pool.panicked.store(false, Ordering::Relaxed);
        let open = Open::new(pool);
        self.wake(helpers);
        pool.work(job);
        drop(open);
        if pool.panicked.load(Ordering::Relaxed) {
            drop(self);
            resume_unwind(Box::new("a task of a parallel loop panicked"));
        }
    }

    /// Starts workers until there are `wanted`, if the system lets us; how many there are to use.
    fn grow(&self, wanted: usize) -> usize {
        // SAFETY: it is our turn.
        let workers = unsafe { &mut *self.pool.workers.get() };
        while workers.len() < wanted {
            let (pool, index) = (self.pool, workers.len());
            let worker: &'static Worker =
                Box::leak(Box::new(Worker { thread: UnsafeCell::new(None), asleep: AtomicBool::new(false) }));
            let name = format!("burnpy-{index}");
            let Ok(handle) = thread::Builder::new().name(name).spawn(move || pool.serve(index, worker))
            else {
                break;
            };
            // SAFETY: the worker is not listed yet, and its own thread does not read the cell.
            unsafe { *worker.thread.get() = Some(handle.thread().clone()) };
            workers.push(worker);
        }
        workers.len().min(wanted)
    }

    fn wake(&self, helpers: usize) {
        fence(Ordering::SeqCst);
        // SAFETY: it is our turn.
        for worker in unsafe { &(&*self.pool.workers.get())[..helpers] } {
            if worker.asleep.load(Ordering::Relaxed) {
                // SAFETY: written before the worker was listed.
                unsafe { (*worker.thread.get()).as_ref() }.inspect(|thread| thread.unpark());
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pool.busy.store(false, Ordering::Release);
    }
}

/// An open gate; shut on drop, after which nobody is inside.
struct Open {
    pool: &'static Pool,
}

impl Open {
    fn new(pool: &'static Pool) -> Self {
        let gate = pool.gate.load(Ordering::Relaxed);
        pool.gate.store(((gate / NEXT_JOB + 1) * NEXT_JOB) | OPEN, Ordering::Release);
        Self { pool }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.pool.gate.fetch_and(!OPEN, Ordering::Relaxed);
        let mut spins = 0u32;
        while self.pool.gate.load(Ordering::Acquire) & INSIDE != 0 {
            spins += 1;
            if spins < 10_000 { std::hint::spin_loop() } else { thread::yield_now() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::{Barrier, Mutex};

    #[test]
    fn every_task_runs_once_with_any_number_of_threads_and_of_callers() {
        set_num_threads(4);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for tasks in (0..200).chain([5000]) {
                        let mut counts = vec![0u8; tasks];
                        chunks_mut(&mut counts, 1, |_, slot| slot[0] += 1);
                        assert!(counts.iter().all(|&count| count == 1), "{tasks}");
                    }
                });
            }
        });
    }

    #[test]
    fn callers_with_shares_compute_at_once() {
        let (meeting, threads) = (Barrier::new(4), Mutex::new(HashSet::new()));
        let met = |_: usize| {
            // Two callers with a helper each: all four tasks have to run at the same time.
            meeting.wait();
            threads.lock().unwrap().insert(thread::current().id());
        };
        thread::scope(|scope| {
            for pool in [5, 6] {
                let met = &met;
                scope.spawn(move || {
                    set_share(Some(Share::new(2, pool)));
                    for_each(2, met);
                });
            }
        });
        assert_eq!(threads.into_inner().unwrap().len(), 4);
    }

    #[test]
    fn a_share_is_that_of_its_thread_alone() {
        let outer = set_share(Some(Share::new(0, POOLS + 3)));
        assert_eq!((num_threads(), outer), (1, None));
        assert_ne!(thread::spawn(|| SHARE.get()).join().unwrap(), SHARE.get());
        assert_eq!(set_share(outer).map(Share::parts), Some((1, 3)));
    }

    #[test]
    fn a_sleeping_worker_is_woken_and_nested_loops_run_in_place() {
        set_num_threads(4);
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(1));
            let sums = map(8, |i| map(8, |j| i * j).iter().sum::<usize>());
            assert_eq!(sums.iter().sum::<usize>(), 28 * 28);
        }
    }

    #[test]
    fn a_panic_in_a_task_reaches_the_caller_and_the_pool_goes_on() {
        set_num_threads(4);
        let run = || for_each(100, |task| assert_ne!(task, 57));
        assert!(catch_unwind(run).is_err());
        assert_eq!(map(3, |i| i), [0, 1, 2]);
    }
}
