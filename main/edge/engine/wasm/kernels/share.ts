/**
 * One job at a time, shared by threads that take chunks of it until none is left.
 *
 * The ticket is (generation, next chunk) in one number, so a thread that claims a chunk knows whose it is: while a job
 * is written, its ticket is closed, and a claim with an older one fails. Nobody waits for a thread that does not come.
 * Threads look for work a while, then sleep until `wake` changes.
 */
import { dispatch } from './dispatch'

@unmanaged
class Control {
  ticket: i64
  /** Counts jobs; sleepers wait for it to change. */
  wake: i32
  sleepers: i32
  /** Chunks of this job that are done. */
  finished: i32
  /** Not 0: threads are to end. */
  quit: i32
  chunks: i32
  units: i32
  grain: i32
  kernel: i32
  /** Not 0: a thread that helped is gone. */
  lost: i32
}

const TICKET: usize = 0
const WAKE: usize = 8
const SLEEPERS: usize = 12
const FINISHED: usize = 16
const QUIT: usize = 20
const LOST: usize = 40
/** Arguments of the kernel, f64 each. */
const GIVEN: usize = 64

const closed: i64 = 0x7fffffff
/** Looks for work before a thread sleeps: some 30 µs. */
const patience: i32 = 10000

/**
 * Run units of a kernel in chunks of a grain, with whoever helps. Its arguments lie in the control block.
 *
 * @param patienceMs - how long to wait for chunks of others while none of them is done
 * @returns 1 when all is done; 0 when a chunk never will be, since the thread that took it is gone
 */
export function share(control: usize, kernel: i32, units: i32, grain: i32, patienceMs: i32): i32 {
  const job = changetype<Control>(control)
  const generation = ((atomic.load<i64>(control, TICKET) >> 32) + 1) << 32
  const chunks = (units + grain - 1) / grain
  job.kernel = kernel
  job.units = units
  job.grain = grain
  job.chunks = chunks
  atomic.store<i32>(control, 0, FINISHED)
  atomic.store<i64>(control, generation, TICKET)
  atomic.add<i32>(control, 1, WAKE)
  if (atomic.load<i32>(control, SLEEPERS) > 0) atomic.notify(control + WAKE, -1)
  while (takeChunk(control)) {}
  return waitForOthers(control, chunks, patienceMs) ? 1 : 0
}

/** Before arguments are written: no thread may claim a chunk with what it saw before. */
export function closeTicket(control: usize): void {
  const generation = ((atomic.load<i64>(control, TICKET) >> 32) + 1) << 32
  atomic.store<i64>(control, generation | closed, TICKET)
}

/** @returns whether there was one */
function takeChunk(control: usize): boolean {
  const job = changetype<Control>(control)
  const ticket = atomic.load<i64>(control, TICKET)
  const chunk = <i32>(ticket & closed)
  if (chunk >= atomic.load<i32>(control, offsetof<Control>('chunks'))) return false
  if (atomic.cmpxchg<i64>(control, ticket, ticket + 1, TICKET) != ticket) return true
  const from = chunk * job.grain
  dispatch(job.kernel, from, min(job.units, from + job.grain), control + GIVEN)
  atomic.add<i32>(control, 1, FINISHED)
  return true
}

/** A thread that throws says that it is lost; one that is ended says nothing, and patience runs out. */
function waitForOthers(control: usize, chunks: i32, patienceMs: i32): boolean {
  let looks = 0
  let naps = 0
  let seen = 0
  while (true) {
    const finished = atomic.load<i32>(control, FINISHED)
    if (finished >= chunks) return true
    if (atomic.load<i32>(control, LOST) != 0) return false
    if (finished != seen) naps = 0
    seen = finished
    if (++looks <= patience) continue
    // A thread that lost its core has a chunk: let it have ours. A nap is 50 µs or more.
    if (++naps > patienceMs * 20) return false
    atomic.wait<i32>(control + QUIT, 0, 50000)
  }
}

/** A helping thread's life: chunks while there are any, else sleep; ends when asked to. */
export function help(control: usize): void {
  while (atomic.load<i32>(control, QUIT) == 0) {
    const seen = atomic.load<i32>(control, WAKE)
    let looks = 0
    while (looks < patience) looks = takeChunk(control) ? 0 : looks + 1
    atomic.add<i32>(control, 1, SLEEPERS)
    if (atomic.load<i32>(control, QUIT) == 0) atomic.wait<i32>(control + WAKE, seen, -1)
    atomic.sub<i32>(control, 1, SLEEPERS)
  }
}
