import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { days } from '../../src/kernel/duration.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { SubscriptionStatement } from '../../src/subscriptions/statement.ts'
import { shuffled } from '../../src/testing/index.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { quiet, settled } from '../support/settled.ts'
import { statedCall } from '../support/stating-gateway.ts'
import { begins, monthFrom, openManaging, renews, changed, statementOf } from './managing.ts'
import type { Managing } from './managing.ts'
import { diceOf } from './years/dice.ts'

const seeds = Array.from({ length: 24 }, (_, seed) => seed)

/** What happens to a subscription, one after another; then the provider says of it what is here. */
interface Moment {
  readonly statement: SubscriptionStatement
  readonly charged: readonly Outcome[]
}

interface Callback {
  readonly name: string
  /** Index of the moment that it tells of: before that it cannot come. */
  readonly of: number
  readonly outcomes: readonly Outcome[]
}

/** One life, all of which has happened by now: begun, renewed at the second try, canceled. */
interface Life {
  readonly reference: string
  readonly renewal: string
  readonly payment: Payment
  readonly paidUntil: Date
  readonly endedAt: Date
  readonly moments: readonly Moment[]
  readonly callbacks: readonly Callback[]
}

async function lived(at: Managing, seed: number): Promise<Life> {
  const reference = `sub_${seed}`
  const renewal = `ch_2_${seed}`
  const start = new Date(Math.floor(Date.now() / 1000) * 1000 - days(40))
  const payment = await created(at, seed)
  const first = monthFrom(start)
  const second = monthFrom(first.endsAt)
  const endedAt = new Date(start.getTime() + days(39))
  const began = begins(payment, reference, { period: first })
  const failed = renews(reference, renewal, { status: 'failed', period: second })
  const paid = renews(reference, renewal, { period: second })
  const failure = { attempt: 1, nextAttemptAt: null, needs: 'nothing' } as const
  const ended = { status: 'canceled', currentPeriod: null, endedAt } as const
  return {
    reference,
    renewal,
    payment,
    paidUntil: second.endsAt,
    endedAt,
    moments: [
      { statement: statementOf(reference, start), charged: [began] },
      {
        statement: statementOf(reference, first.endsAt, { status: 'past_due', failure }),
        charged: [began, failed],
      },
      { statement: statementOf(reference, first.endsAt), charged: [began, paid] },
      { statement: statementOf(reference, first.endsAt, ended), charged: [began, paid] },
    ],
    callbacks: [
      { name: 'begun', of: 0, outcomes: [began] },
      { name: 'changed', of: 0, outcomes: [changed(reference, payment)] },
      { name: 'failed', of: 1, outcomes: [failed, changed(reference)] },
      { name: 'paid', of: 2, outcomes: [paid] },
      { name: 'paid again', of: 2, outcomes: [paid] },
      { name: 'canceled', of: 3, outcomes: [changed(reference)] },
    ],
  }
}

/** Made here with its subscription, or a payment that begins one at its provider. */
async function created(at: Managing, seed: number): Promise<Payment> {
  const payable = { type: 'account', id: `${seed}` }
  if (seed % 2 === 0) return at.create({ payable })
  const { payment } = await at.billing.core.subscriptions.create({
    gateway: 'managing',
    managedBy: 'provider',
    amount: 4_999,
    currency: 'USD',
    every: 'month',
    payable,
  })
  assert.ok(payment)
  return payment
}

/** Delivers the callbacks in an order of its own; what was done, in words. */
async function deliver(at: Managing, life: Life, seed: number): Promise<string> {
  const { billing, provider } = at
  const dice = diceOf(seed)
  const done: string[] = []
  // Everything is late, or each callback comes as early as it can, some of them as they should.
  let moment = dice.chance(0.5) ? life.moments.length - 1 : 0
  const order = seed % 6 === 0 ? life.callbacks : shuffled(life.callbacks, seed)
  for (const { name, of, outcomes } of order) {
    // At once: while what came before it is still being worked on.
    const isAlone = dice.chance(0.6)
    if (isAlone) await quiet(billing)
    moment = Math.max(moment, of)
    const { statement, charged } = life.moments[moment] ?? assert.fail('there is such a moment')
    provider.stated.set(life.reference, statement)
    provider.charged.set(life.reference, charged)
    // What is only said wakes no worker: its sync is left to `run`.
    const isChange = outcomes.every(({ type }) => type === 'subscription')
    const results = isAlone && isChange && dice.chance(0.5) ? await at.say(...outcomes) : ['unsaid']
    // A call keeps what comes too early until there is something that it is about.
    const isKept = results.some((one) => one === 'unsaid' || one === 'unknown_payment')
    const call = statedCall(
      outcomes.map((one) => ({ ...one })),
      'managing',
    )
    if (isKept) assert.equal((await billing.core.receive(call)).status, 200)
    done.push(`${name}${isKept ? '' : ' (said)'}${isAlone ? '' : ' (at once)'}`)
    if (dice.chance(0.35)) done.push(`${await at.run()} syncs`)
  }
  return done.join(', ')
}

/** What is the same in whatever order a life is told. */
async function endOf(at: Managing, { reference, renewal }: Life) {
  const { id, status, paidUntil, endReason, endedAt } = await at.state(reference)
  const periods = await at.periods(reference)
  const charges = await sql<{ period: string; of: string }>`
    select period.number || ' ' || payment.status as period,
      coalesce(payment.provider_reference, '') as of
    from billing.payments as payment
    left join billing.subscription_periods as period on period.id = payment.period_id
    where payment.subscription_reference = ${reference} or payment.provider_reference = ${renewal}
    order by payment.id`.execute(at.billing.database.db)
  return {
    stands: [status, endReason, paidUntil, endedAt],
    periods: periods.map((one) => [
      one.number,
      one.state,
      one.startsAt,
      one.paidPaymentId !== null,
    ]),
    charges: charges.rows.map(({ period }) => period),
    reviews: (await at.billing.core.reviews.list({ state: 'open' })).data,
    told: at.heard.flatMap((event) =>
      'subscription' in event && event.subscription.id === id ? [event.type] : [],
    ),
  }
}

async function assertEnd(at: Managing, life: Life, text: string): Promise<void> {
  await settled(at.billing, async () => (await at.run()) > 0)
  const end = await endOf(at, life)
  const isFailure = (type: string) => type === 'SubscriptionPaymentFailed'
  const [first, second] = life.moments.map(({ statement }) => statement.currentPeriod?.startsAt)
  assert.deepEqual(
    { ...end, told: end.told.filter((type) => !isFailure(type)) },
    {
      stands: ['canceled', 'provider', life.paidUntil, life.endedAt],
      periods: [
        [1, 'paid', first, true],
        [2, 'paid', second, true],
      ],
      charges: ['1 paid', '2 paid'],
      reviews: [],
      told: [
        'SubscriptionCreated',
        'SubscriptionRenewed',
        'SubscriptionRenewed',
        'SubscriptionCancelled',
      ],
    },
    text,
  )
  // Nobody need have heard of a decline that was over before it was told.
  assert.ok(end.told.filter(isFailure).length <= 1, text)
}

onAnyDatabase((engine) => {
  let at: Managing
  before(async () => {
    at = await openManaging(engine)
  })
  after(() => at.billing.close())
  beforeEach(() => at.reset())

  test('in whatever order a life is told it ends the same, and each of its events is told once (case 40)', async () => {
    for (const seed of seeds) {
      const life = await lived(at, seed)
      const done = await deliver(at, life, seed)
      await assertEnd(at, life, `seed ${seed}: ${done}`)
    }
    const keys = at.heard.map(({ dedupKey }) => dedupKey)
    assert.equal(new Set(keys).size, keys.length, 'nothing is told twice')
    // The lives have met what makes an order hard.
    assert.ok(keys.some((key) => key.startsWith('subscription:payment_failed:')))
  })

  test('a renewal that overtakes the first payment is no first period, and needs nobody in the end', async () => {
    const life = await lived(at, 0)
    const { statement, charged } = life.moments.at(-1) ?? assert.fail('it has ended')
    at.provider.stated.set(life.reference, statement)
    at.provider.charged.set(life.reference, charged)
    // Only said, so that nobody asks the provider before the renewal comes.
    await at.say(changed(life.reference, life.payment))
    const [paid = assert.fail()] = charged.slice(-1)
    await at.billing.core.receive(statedCall([{ ...paid }], 'managing'))
    await assertEnd(at, life, 'its change, then its renewal')
    assert.deepEqual(await at.reviews(), ['first_payment_unpaid'])
  })
})
