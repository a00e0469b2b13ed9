import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { GatewayFacts } from '../../src/index.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { writeCounts, type CountedInTest } from './counting.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())
  beforeEach(async () => {
    await sql`delete from billing.counts`.execute(billing.database.db)
  })
  const count = (metric: string, counted: CountedInTest) => writeCounts(billing, metric, counted)
  const facts = async (name: string): Promise<GatewayFacts> =>
    (await billing.core.inspect.gateway(name)) ?? assert.fail(`no ${name}`)
  /** That it is so many minutes ago, counted from the beginning of its minute or hour. */
  const assertAgo = (
    at: Date | null | undefined,
    {
      from,
      minutes,
      span,
    }: { readonly from: number; readonly minutes: number; readonly span: number },
  ) => {
    const [earliest, latest] = [from - (minutes + span) * 60_000, Date.now() - minutes * 60_000]
    const time = at?.getTime() ?? Number.NaN
    assert.ok(time >= earliest && time <= latest, `${at?.toISOString()} for ${minutes} min ago`)
  }

  test('of each gateway: what it accepted and refused in a day, and how payments became known', async () => {
    await count('callbacks_total', {
      span: 'quarter',
      minutesAgo: 60,
      values: { accepted: 5, refused: 2 },
    })
    await count('callbacks_total', {
      span: 'quarter',
      minutesAgo: 1_500,
      values: { accepted: 100 },
    })
    await count('callbacks_refused_total', { span: 'quarter', values: { signature_mismatch: 2 } })
    await count('payments_decided_total', {
      span: 'quarter',
      values: { 'paid/call': 3, 'paid/poll': 1 },
    })
    await count('callbacks_total', { span: 'quarter', gateway: 'stripe', values: { accepted: 9 } })
    const { accepted, refused, decided } = await facts('fake')
    assert.equal(accepted, 5)
    assert.deepEqual(refused, [{ reason: 'signature_mismatch', count: 2 }])
    assert.deepEqual(decided, { byCallback: 3, byAsking: 1 })
    const all = await billing.core.inspect.gateways()
    assert.deepEqual(
      all.map(({ name }) => name),
      Object.keys(billing.core.gateways()),
    )
    assert.equal(all.find(({ name }) => name === 'stripe')?.accepted, 9)
  })

  test('the last accepted callback is known to the minute while that is recent', async () => {
    assert.equal((await facts('fake')).lastAcceptedAt, null)
    const from = Date.now()
    await count('callbacks_total', {
      span: 'hour',
      minutesAgo: 30 * 1_440,
      values: { accepted: 1 },
    })
    const { lastAcceptedAt } = await facts('fake')
    assertAgo(lastAcceptedAt, { from, minutes: 30 * 1_440, span: 60 })
    await count('callbacks_total', { span: 'quarter', minutesAgo: 7, values: { accepted: 1 } })
    await count('callbacks_total', { minutesAgo: 7, values: { accepted: 1 } })
    await count('callbacks_total', { minutesAgo: 2, values: { refused: 1 } })
    assertAgo((await facts('fake')).lastAcceptedAt, { from, minutes: 7, span: 1 })
  })

  test('which secrets verify is known, and when each last did', async () => {
    const from = Date.now()
    await count('verified_by_total', { span: 'quarter', minutesAgo: 5, values: { '1': 40 } })
    await count('verified_by_total', { minutesAgo: 1, values: { '1': 1 } })
    await count('verified_by_total', { span: 'quarter', minutesAgo: 3 * 1_440, values: { '2': 7 } })
    await count('verified_by_total', { span: 'hour', minutesAgo: 91 * 1_440, values: { '3': 7 } })
    const { secrets } = await facts('fake')
    assert.deepEqual(
      secrets.map(({ secret, verified }) => [secret, verified]),
      [
        ['1', 40],
        ['2', 0],
      ],
    )
    assertAgo(secrets[0]?.lastAt, { from, minutes: 1, span: 1 })
    assertAgo(secrets[1]?.lastAt, { from, minutes: 3 * 1_440, span: 15 })
  })

  test('a gateway is found by its name or alias; one that there is not has no facts', async () => {
    assert.equal(await billing.core.inspect.gateway('nobody'), undefined)
    assert.equal((await facts('stripe')).name, 'stripe')
  })
})
