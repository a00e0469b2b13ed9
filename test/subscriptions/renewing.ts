import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { releaseCharges } from '../../src/database/charge-holds.ts'
import { decideSubscription } from '../../src/money/decide-subscription.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { applyReport } from '../../src/processing/apply-report.ts'
import type { NewSubscription } from '../../src/subscriptions/change.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import type { Subscription } from '../../src/subscriptions/subscription.ts'
import { useCard } from '../../src/subscriptions/use-card.ts'
import type { TestEngine } from '../support/databases.ts'
import { openSubscribing, takesMoney, type Subscribing } from './subscribing.ts'

interface Named {
  readonly id: string
}

/** Subscriptions whose first period is paid, and what befalls their renewals. */
export interface Renewing extends Subscribing {
  /** Nothing is due any more, nothing rests, and the provider takes money. */
  reset(): Promise<void>
  renewable(fields?: Partial<NewSubscription>): Promise<Subscription>
  /** Passes the time until the next attempt, and makes it. */
  retry(of: Named): Promise<void>
  statuses(of: Named): Promise<readonly string[]>
  /** Types of the events after that of the first period. */
  told(of: Named): Promise<readonly string[]>
  lastPeriod(of: Named): Promise<SubscriptionPeriod>
  report(...outcomes: readonly Outcome[]): Promise<void>
  giveCard(of: Named, paymentMethodId: string): Promise<void>
}

export async function openRenewing(engine: TestEngine): Promise<Renewing> {
  const at = await openSubscribing(engine)
  const { db } = at.billing.database
  const lastPeriod = async (of: Named) => {
    const period = (await at.periods(of)).at(-1)
    assert.ok(period)
    return period
  }
  return {
    ...at,
    reset: async () => {
      await releaseCharges(db)
      await sql`update billing.subscriptions set next_action_at = null`.execute(db)
      takesMoney(at.script, at.till)
      delete at.script.closeCheckout
      at.till.asked.length = 0
    },
    renewable: async (fields = {}) => {
      const { subscription } = await at.subscribe({ paymentMethodId: await at.card(), ...fields })
      assert.equal(subscription.status, 'active')
      at.till.asked.length = 0
      return subscription
    },
    retry: async (of) => {
      const { nextAttemptAt } = await lastPeriod(of)
      assert.ok(nextAttemptAt)
      at.clock.now = nextAttemptAt
      await at.run()
    },
    statuses: async (of) => (await at.payments(of)).map(({ status }) => status),
    told: async (of) => (await at.events(of)).slice(1),
    lastPeriod,
    report: async (...outcomes) => {
      const said = { gateway: 'scripted', cause: 'poll', queue: 'default', outcomes } as const
      await applyReport(said, at.context.processing)
    },
    giveCard: async ({ id }, paymentMethodId) => {
      const decided = await decideSubscription(
        id,
        (state, moment) => ({ kind: 'changed', change: useCard(state, paymentMethodId, moment) }),
        at.context,
      )
      assert.equal(decided.kind, 'changed')
    },
  }
}
