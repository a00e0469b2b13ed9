import type { Duration } from '../../kernel/duration.ts'
import type { Log } from '../../kernel/log.ts'
import type { PaymentStatus } from '../../payments/payment.ts'

/** Watches the status of many payments at once. */
export interface StatusWatcher {
  /**
   * Calls back whenever the status changes; with `lost` if it cannot be read, and then the watch is
   * over. Returns a function that ends the watch.
   */
  watch(
    paymentId: string,
    from: PaymentStatus,
    tell: (status: PaymentStatus | 'lost') => void,
  ): () => void
}

/** The statuses of payments; unknown ones are left out. */
export type LookUp = (ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, PaymentStatus>>

interface Watch {
  readonly paymentId: string
  last: PaymentStatus
  readonly tell: (status: PaymentStatus | 'lost') => void
}

/** One round of queries serves all watches; the next begins `every` after it has ended. */
export function statusWatcher(
  lookUp: LookUp,
  { every, log }: { readonly every: Duration; readonly log: Log },
): StatusWatcher {
  const watches = new Set<Watch>()
  let isRunning = false
  const schedule = () => {
    isRunning = watches.size > 0
    if (isRunning) setTimeout(() => void round(), every).unref()
  }
  const round = async () => {
    await look(watches, lookUp, log)
    schedule()
  }
  return {
    watch(paymentId, from, tell) {
      const watch = { paymentId, last: from, tell }
      watches.add(watch)
      if (!isRunning) schedule()
      return () => watches.delete(watch)
    },
  }
}

async function look(watches: Set<Watch>, lookUp: LookUp, log: Log): Promise<void> {
  if (watches.size === 0) return
  try {
    const statuses = await lookUp(new Set([...watches].map(({ paymentId }) => paymentId)))
    for (const watch of watches) {
      const status = statuses.get(watch.paymentId)
      if (status === undefined || status === watch.last) continue
      watch.last = status
      watch.tell(status)
    }
  } catch (error) {
    log.warn({ err: error }, 'the pages of waiting payers look for themselves')
    for (const { tell } of watches) tell('lost')
    watches.clear()
  }
}
