import assert from 'node:assert/strict'
import { sql, type RawBuilder } from 'kysely'
import { subscriptionDetailsSchema } from '../../../src/wire/subscription-details.ts'
import { subscriptionSchema } from '../../../src/wire/subscription.ts'
import type { Play } from './open-play.ts'

async function none(play: Play, what: string, query: RawBuilder<unknown>): Promise<void> {
  const { rows } = await query.execute(play.database.db)
  assert.deepEqual(rows, [], what)
}

/** What holds at any time. */
export async function checkRows(play: Play): Promise<void> {
  await none(
    play,
    'a period is paid by a paid payment of its own, or costs nothing; nothing else has one',
    sql`select period.id, period.state, payment.status, payment.period_id as of
      from billing.subscription_periods as period
      left join billing.payments as payment on payment.id = period.paid_payment_id
      where case when period.state = 'paid' and period.amount > 0
        then payment.status is distinct from 'paid' or payment.period_id <> period.id
          or payment.amount < period.amount
        else period.paid_payment_id is not null end`,
  )
  await none(
    play,
    'one payment is live, and one period open',
    sql`select subscription_id, count(distinct period.id), count(payment.id)
      from billing.subscription_periods as period
      left join billing.payments as payment on payment.period_id = period.id
        and payment.status <> 'paid' and payment.checkout in ('unknown', 'open')
      where period.state = 'open' group by subscription_id
      having count(distinct period.id) > 1 or count(payment.id) > 1`,
  )
  await none(
    play,
    'money that bought nothing has a review',
    sql`select payment.id, period.state from billing.payments as payment
      join billing.subscription_periods as period on period.id = payment.period_id
      where payment.status = 'paid'
        and period.paid_payment_id is distinct from payment.id
        and not exists (select from billing.reviews where payment_id = payment.id
          and reason in ('period_paid_twice', 'period_void'))`,
  )
  await none(
    play,
    'nothing is paid beyond what was granted',
    sql`select id, paid_until from billing.subscriptions as subscription
      where paid_until > (select max(ends_at) from billing.subscription_periods
        where subscription_id = subscription.id and state in ('paid', 'free'))`,
  )
}

/** What holds once all is quiet. */
export async function checkEnd(play: Play): Promise<void> {
  await checkRows(play)
  await checkEvents(play)
  await checkDebits(play)
  await checkRest(play)
  await checkReads(play)
}

/** Each was told once, in its order, and none is missing. */
async function checkEvents(play: Play): Promise<void> {
  await none(
    play,
    'every event has been dispatched',
    sql`select id, type, state, exception from billing.deferred_events where state <> 'processed'`,
  )
  await none(
    play,
    'every event was told once, in the order of their numbers',
    sql`select subscription.id, subscription.event_number, told.numbers
      from billing.subscriptions as subscription
      left join lateral (select coalesce(array_agg(event_number order by told.at), '{}') as numbers
        from shop.told join billing.deferred_events as deferred on deferred.id = told.event
        where told.subscription_id = subscription.id) as told on true
      where told.numbers <> array(select generate_series(1, subscription.event_number))`,
  )
}

/** The provider's books agree with ours. */
async function checkDebits(play: Play): Promise<void> {
  const { till, database, hasRestored } = play
  const { rows } = await sql<{ id: string; period: string; status: string }>`
    select id, period_id as period, status from billing.payments`.execute(database.db)
  const payments = new Map(rows.map((row) => [row.id, row]))
  const straight = new Map<string, string>()
  assert.equal(new Set(till.debits.map(({ id }) => id)).size, till.debits.length)
  for (const { id, isBroken } of till.debits) {
    const payment = payments.get(id)
    // A wish that was restored away is not made again.
    if (payment === undefined && hasRestored) continue
    assert.equal(payment?.status, 'paid', `what was debited for ${id} is known`)
    if (isBroken || payment === undefined) continue
    const other = straight.get(payment.period)
    assert.equal(other, undefined, `period ${payment.period} was debited by ${other} and ${id}`)
    straight.set(payment.period, id)
  }
  const debited = new Set(till.debits.map(({ id }) => id))
  for (const { id, status } of rows) {
    if (status === 'paid') assert.ok(debited.has(id), `${id} is paid by money`)
  }
}

/** Everything has a next time, an end, or waits for a person. */
async function checkRest(play: Play): Promise<void> {
  const now = play.clock.now()
  await none(
    play,
    'nothing is stuck',
    sql`select id, status, next_action_at, action_error from billing.subscriptions
      where case when status = 'canceled' then next_action_at is not null
        when status = 'paused' then next_action_at < ${now}::timestamptz - interval '1 hour'
        else coalesce(next_action_at < ${now}::timestamptz - interval '1 hour', true) end`,
  )
  await none(
    play,
    'who is active has paid',
    sql`select id, paid_until from billing.subscriptions
      where status = 'active' and paid_until < ${now}::timestamptz - interval '1 hour'`,
  )
  await none(
    play,
    'no call has failed',
    sql`select id, exception from billing.webhook_calls where state = 'failed'`,
  )
}

/** Whoever looks sees all of it. */
async function checkReads({ members, subscriptions }: Play): Promise<void> {
  const [{ core }] = members
  let cursor: string | undefined
  const seen = new Set<string>()
  do {
    const page = await core.subscriptions.list({ limit: 7, ...(cursor && { cursor }) })
    for (const one of page.data) {
      subscriptionSchema.parse(JSON.parse(JSON.stringify(one)))
      seen.add(one.id)
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  for (const id of subscriptions.filter((one) => seen.has(one))) {
    const details = await core.subscriptions.get(id)
    subscriptionDetailsSchema.parse(JSON.parse(JSON.stringify(details)))
    const { status, access } = details ?? {}
    if (status === 'active') assert.ok(access, `${id} is active`)
    if (status === 'canceled' || status === 'paused') assert.ok(!access, `${id} has ended`)
  }
}
