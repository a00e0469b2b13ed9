import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { BillingCore, BrowserEventType } from '../../billing/types.ts'
import type { Clock } from '../../kernel/clock.ts'
import { hours, minutes, type Duration } from '../../kernel/duration.ts'
import type { Log } from '../../kernel/log.ts'
import type { Payment } from '../../payments/payment.ts'
import { tally } from '../../kernel/tally.ts'

/** Dispatches what a payer's browser did; no page waits for it or fails because of it. */
export type SendSignal = (type: BrowserEventType, payment: Payment) => void

/** How many are remembered; beyond that the oldest is forgotten, and costs a query. */
const mostRemembered = 10_000
const mostWaiting = 1_000
const firstPause = minutes(1)
const longestPause = hours(1)

interface Sent {
  /** None is sent before this time. */
  readonly until: number
  readonly failures: number
}

/**
 * Visitors decide how often a page is opened, but must not decide how often listeners run: what was
 * dispatched is remembered, and what failed rests for a minute, then for twice as long each time.
 */
export function browserSignals(
  core: BillingCore,
  { log, now }: { readonly log: Log; readonly now: Clock },
): SendSignal {
  const sent = new Map<string, Sent>()
  const remember = (key: string, one: Sent) => {
    sent.delete(key)
    sent.set(key, one)
    const [oldest] = sent.keys()
    if (sent.size > mostRemembered && oldest !== undefined) sent.delete(oldest)
  }
  const send = async (type: BrowserEventType, payment: Payment): Promise<boolean> => {
    try {
      return await core.payments.signal(type, payment)
    } catch (error) {
      log.warn({ err: error, payment: payment.id }, `${type} was lost`)
      return false
    }
  }
  const dropped = tally(({ count, names }) =>
    log.warn(
      { dropped: count, signals: names },
      'what browsers did is not dispatched for now: too many pages are opened for the listeners',
    ),
  )
  const lanes = { CheckoutReturned: lane(), PaymentLinkOpened: lane() }
  return (type, payment) => {
    const key = `${type} ${payment.id}`
    const { until = 0, failures = 0 } = sent.get(key) ?? {}
    if (now().getTime() < until) return
    if (!lanes[type].hasRoom()) return dropped.add(type)
    remember(key, { until: Infinity, failures })
    void lanes[type].run(async () => {
      if (await send(type, payment)) return true
      const pause = Math.min(longestPause, firstPause * 2 ** failures)
      remember(key, { until: now().getTime() + pause, failures: failures + 1 })
      return false
    })
  }
}

interface Lane {
  hasRoom(): boolean
  run(job: () => Promise<boolean>): Promise<void>
}

/**
 * One after another; after a failure there is a pause of ten times as long as it took. So a
 * listener that hangs holds up the database for a tenth of the time, whatever pages are opened.
 */
function lane(): Lane {
  const limit = pLimit(1)
  return {
    hasRoom: () => limit.pendingCount < mostWaiting,
    run: (job) =>
      limit(async () => {
        const begin = performance.now()
        if (await job()) return
        const pause: Duration = Math.min(minutes(1), 10 * (performance.now() - begin))
        await delay(pause, undefined, { ref: false })
      }),
  }
}
