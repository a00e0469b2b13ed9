import type { Kysely } from 'kysely'
import { readCreation } from '../database/subscription-creations.ts'
import { sqlStateOf } from '../database/failure.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { insist } from '../queue/insist.ts'
import { beginSubscription } from '../subscriptions/begin-subscription.ts'
import type { NewSubscription } from '../subscriptions/change.ts'
import type { Subscription, WantedQuotas } from '../subscriptions/subscription.ts'
import type { MoneyContext } from './context.ts'
import { writeDecided } from './decide-subscription.ts'
import { giveQuotas } from './give-quotas.ts'
import { handOverPeriod } from './hand-over-period.ts'
import { readMoment } from './subscription-moment.ts'

/** A subscription as it is now, and the payment of its first period, if that is owed at once. */
export interface CreatedSubscription {
  readonly subscription: Subscription
  readonly payment: Payment | null
}

/**
 * Makes a subscription and hands over the payment of its first period, once, however often it is
 * called with the same id: `content` is what the caller gave, and a repeated call must give the
 * same. Errors: `subscription_exists`, those of `handOverPeriod` and `draftPeriodPayment`.
 */
export async function createSubscription(
  input: NewSubscription,
  content: string,
  context: Omit<Creator, 'token'>,
): Promise<CreatedSubscription> {
  const { processing } = context
  const creating = { ...context, token: processing.newId() }
  const written = await insist(() => write(input, content, creating), processing.random)
  processing.wake('subscription_events')
  const { payment, isNew } = written
  const handed = isNew && payment !== null ? await handOverPeriod(payment, context) : payment
  const { db } = processing.database
  return { subscription: await required(db, input.id), payment: handed }
}

interface Creator extends MoneyContext {
  readonly token: string
  /** Where the payer can go on to from the page of the first payment. */
  readonly returnUrl?: string | undefined
  /** What it may use. */
  readonly quotas?: WantedQuotas | undefined
}

async function write(
  input: NewSubscription,
  content: string,
  context: Creator,
): Promise<{ readonly payment: Payment | null; readonly isNew: boolean }> {
  const { database } = context.processing
  const known = await readCreation(database.db, input.id)
  if (known !== undefined) return repeated(known, content, context)
  try {
    return { payment: await insert(input, content, context), isNew: true }
  } catch (error) {
    // unique_violation: another call was faster.
    const other =
      sqlStateOf(error) === '23505' ? await readCreation(database.db, input.id) : undefined
    if (other === undefined) throw error
    return repeated(other, content, context)
  }
}

/** This very call may have written it: its commit succeeded, and the answer was lost. */
function repeated(
  known: NonNullable<Awaited<ReturnType<typeof readCreation>>>,
  content: string,
  { token }: Creator,
) {
  if (known.content !== content) {
    throw new QuittanceError(
      'subscription_exists',
      `subscription ${known.id} exists already with other content`,
    )
  }
  return { payment: known.firstPayment, isNew: known.writtenBy === token }
}

function insert(
  input: NewSubscription,
  content: string,
  context: Creator,
): Promise<Payment | null> {
  const { database, newId } = context.processing
  return database.transaction(async ({ db }) => {
    const moment = await readMoment(db, input, context)
    const change = beginSubscription(input, moment)
    const payment = await writeDecided(
      db,
      {
        change,
        moment,
        writing: {
          newId,
          cause: 'operator',
          callId: null,
          queue: context.queue,
          creation: { content, writtenBy: context.token },
        },
      },
      context,
    )
    const { quotas: wanted = {} } = context
    if (Object.keys(wanted).length > 0) {
      const given = { subscription: change.subscription, wanted, now: moment.now }
      await giveQuotas(db, given, { cause: 'operator', newId, queue: context.queue })
    }
    return payment ?? null
  })
}

async function required(db: Kysely<Tables>, id: string): Promise<Subscription> {
  const subscription = await findSubscription(db, id)
  if (subscription === undefined) throw new Error(`subscription ${id} was not written`)
  return subscription
}
