import type { Database } from '../database/connect.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { LeasedCall } from '../queue/lease.ts'
import type { Applied } from './apply-outcomes.ts'
import { requeueSettleableCalls } from './awaiting.ts'
import type { Dispatched } from './dispatch-events.ts'
import { within } from './within.ts'

interface Surroundings {
  readonly database: Database
  readonly log: Log
  /** Work after commits that has not ended yet. */
  readonly underWay: Set<Promise<void>>
  onCalls(): void
  onDeliveries(): void
}

const workLimit: Duration = seconds(20)

export interface Committed {
  readonly applied: readonly Applied[]
  readonly dispatched: Dispatched & { readonly kind: 'dispatched' }
}

/** What follows once a call is committed; nothing of it can undo the call, or hold up its lane. */
export async function afterCommit(
  call: LeasedCall,
  surroundings: Surroundings,
  { applied, dispatched }: Committed,
): Promise<void> {
  const { log, database, underWay } = surroundings
  logIgnored(call, applied, log)
  logDispatched(call, { applied, dispatched }, log)
  if (dispatched.deliveries > 0) surroundings.onDeliveries()
  if (dispatched.afterCommit.length > 0) {
    const work = runWork(call, dispatched.afterCommit, log).finally(() => underWay.delete(work))
    underWay.add(work)
  }
  if (applied.some((one) => one.kind === 'ignored' && one.awaiting !== undefined)) {
    // The payment may have been created between our look and our commit.
    const look = requeueSettleableCalls(database.db, call.id)
    const back = await look.catch((error: unknown) => {
      log.warn({ err: error, call: call.id }, 'could not look again; the sweeper will')
      return []
    })
    if (back.length > 0) surroundings.onCalls()
  }
}

/** In the order in which the listeners asked for it; never rejects. */
async function runWork(
  call: LeasedCall,
  works: Committed['dispatched']['afterCommit'],
  log: Log,
): Promise<void> {
  for (const work of works) {
    try {
      await within(workLimit, late, async () => work())
    } catch (error) {
      log.error({ err: error, call: call.id }, 'work after the commit failed')
    }
  }
}

const late = () => new Error(`work after the commit took over ${workLimit / 1000} s`)

function logDispatched(call: LeasedCall, { applied, dispatched }: Committed, log: Log): void {
  for (const one of applied) {
    if (one.kind !== 'claim' || !dispatched.won.has(one.claim.dedupKey)) continue
    const { type, payment } = one.claim
    const { gateway, amount, currency } = payment
    const entry = { call: call.id, gateway, payment: payment.id, amount: `${amount}`, currency }
    log.info(entry, type)
  }
}

/** Reasons that mean somebody sent what he should not, or money that nobody booked. */
function logIgnored(call: LeasedCall, applied: readonly Applied[], log: Log): void {
  for (const one of applied) {
    if (one.kind !== 'ignored') continue
    const { reason, detail } = one.result
    const entry = { call: call.id, gateway: call.gateway, payment: one.payment?.id, reason, detail }
    if (reason === 'amount_mismatch') log.warn(entry, 'paid webhook amount/currency mismatch')
    else if (one.review) log.warn(entry, 'callback ignored; it needs a review')
    else log.info(entry, 'callback ignored')
  }
}
