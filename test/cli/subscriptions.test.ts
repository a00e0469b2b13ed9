import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { printNext } from '../../src/cli/print-next.ts'
import { createdSubscriptionSchema, subscriptionSchema } from '../../src/wire/subscription.ts'
import { unhurried } from '../support/billing.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deployOpen, type OpenDeployment } from '../support/deployment.ts'
import type { Ending } from '../support/process.ts'

type Json = Record<string, unknown>

const config = `export default {
  plans: {
    pro: { amount: 19900, currency: 'UAH', every: 'month', trial_days: 14 },
    weekly: { amount: 4900, currency: 'UAH', every: 'week' },
  },
  subscriptions: { period_notice_days: [10] },
}`
const input = {
  gateway: 'fake',
  payable: { type: 'account', id: '7' },
  amount: 19_900,
  currency: 'UAH',
  every: '3 months',
} as const satisfies CreateSubscriptionInput

function printed({ code, stdout, stderr }: Ending): string {
  assert.equal(code, 0, stderr.join('\n') + stdout.join('\n'))
  return stdout.join('\n')
}

onPostgres((engine) => {
  let deployment: OpenDeployment
  let core: BillingCore
  before(async () => {
    deployment = await deployOpen(engine)
    writeFileSync(join(deployment.cwd, 'quittance.config.js'), config)
    const database = { url: deployment.env['DATABASE_URL'] ?? '' }
    core = createCore({ database, subscriptions: { periodNoticeDays: [10] } }, unhurried)
  })
  after(async () => {
    await core.close()
    await deployment.remove()
  })

  const options = () => ({ cwd: deployment.cwd, env: deployment.env })
  const run = (...args: readonly string[]) => runHosted(['subscriptions', ...args], options())
  const json = async (...args: readonly string[]) =>
    JSON.parse(printed(await run(...args, '--json'))) as Json
  const card = async (ending = 'good') => {
    const id = newUuid()
    await sql`insert into billing.payment_methods (id, gateway, live, status, provider_reference)
      values (${id}::uuid, 'fake', false, 'attached', ${`fake_card_${ending}_${id}`})`.execute(
      deployment.database.db,
    )
    return id
  }
  const base = ['--gateway', 'fake', '--payable', 'account:7']
  const terms = [...base, '--amount', '19900', '--currency', 'UAH', '--every', '3 months']
  /** Here, for that costs less than a command. */
  const create = async (more: Partial<CreateSubscriptionInput> = {}) =>
    core.subscriptions.create({ ...input, paymentMethodId: await card(), ...more })

  test('subscriptions are made by terms or by a plan', async () => {
    const text = printed(await run('create', ...terms, '--payment-method', await card()))
    assert.match(text, /^status {7}active\naccess {7}yes$/m)
    assert.match(text, /^terms {8}199\.00 UAH every 3 months$/m)
    assert.match(text, /^payment {5}[0-9a-f-]{36}$/m)
    assert.doesNotMatch(text, /^(charge|next|pay at) {3}/m)
    const made = async (...args: readonly string[]) =>
      createdSubscriptionSchema.parse(await json('create', ...base, ...args))
    const onPage = await made(...terms, '--no-grace-access')
    assert.equal(onPage.subscription.status, 'incomplete')
    assert.equal(onPage.subscription.grace_access, false)
    assert.match(onPage.payment?.checkout_url ?? '', /\/billing\/fake\/checkout\//)
    const planned = await made('--plan', 'pro')
    assert.deepEqual([planned.subscription.status, planned.payment], ['trialing', null])
  })

  test('its terms name the zone that periods are counted in, and one decline is said as one', async () => {
    const inKyiv = [...base, '--amount', '19901', '--currency', 'UAH', '--every', 'month']
    inKyiv.push('--time-zone', 'Europe/Kyiv', '--payment-method', await card())
    const made = printed(await run('create', ...inKyiv))
    const [, id = ''] = /^subscription (\S+)$/m.exec(made) ?? []
    const text = printed(await run('show', id))
    assert.match(text, /^terms {8}199\.01 UAH every month$/m)
    assert.match(text, /^counted in {3}Europe\/Kyiv$/m)
    assert.match(text, /period {4}1 .* open, declined once(,|$)/m)
  })

  test('one is shown with a timeline of periods, charges, statuses and access', async () => {
    const { subscription, payment } = await create()
    assert.ok(payment)
    const { id } = subscription
    const text = printed(await run('show', id))
    const at = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`
    for (const line of [
      `${at}  status    incomplete, created; no access`,
      `${at}  period    1  \\d{4}-\\d\\d-\\d\\d - \\d{4}-\\d\\d-\\d\\d  199\\.00 UAH  paid`,
      `${at}  payment   ${payment.id}  period 1, saved card  199\\.00 UAH  paid`,
      `${at}  status    incomplete -> active, paid; access`,
    ]) {
      assert.match(text, new RegExp(`^${line}$`, 'm'))
    }
    assert.match(text, new RegExp(`^pay at {7}http.*/billing/subscriptions/${id}/pay$`, 'm'))
    const shown = printed(await runHosted(['payments', 'show', payment.id], options()))
    assert.match(shown, new RegExp(`^period {6}1 of subscription ${id}$`, 'm'))
  })

  test('one whose card was removed shows so', async () => {
    const paymentMethodId = await card()
    const { subscription } = await create({ paymentMethodId })
    const { id } = subscription
    await core.paymentMethods.remove(paymentMethodId)
    const list = printed(await run('list', '--status', 'active'))
    assert.match(list, new RegExp(`^${id} +active +yes +gone`, 'm'))
    assert.match(printed(await run('show', id)), /^card .*, which cannot be charged$/m)
  })

  test('what a merchant wants of one is done at the shell', async () => {
    const { subscription } = await create()
    const { id, paidUntil } = subscription
    const wish = async (...args: readonly string[]) => subscriptionSchema.parse(await json(...args))
    assert.equal((await wish('cancel', id)).cancel_at, paidUntil?.toISOString())
    assert.equal((await wish('resume', id)).cancel_at, null)
    const changed = await wish('change', id, '--amount', '29900', '--metadata', '{"seat":3}')
    assert.deepEqual([changed.next_terms?.amount, changed.metadata], [29_900, { seat: 3 }])
    const paused = await wish('pause', id, '--now', '--until', '2099-01-01')
    assert.deepEqual(
      [paused.status, paused.access, paused.resume_at],
      ['paused', false, '2099-01-01T00:00:00.000Z'],
    )
    assert.match(
      printed(await run('resume', id)),
      /^then {9}299\.00 UAH every 3 months, from period 2 on$/m,
    )
    assert.match(printed(await run('cancel', id, '--now')), /^why it ended requested$/m)
    const again = await run('pay', id)
    assert.deepEqual([again.code, /has ended/.test(again.stderr.join(''))], [1, true])
    const unpaid = await create({ paymentMethodId: undefined })
    const payment = JSON.parse(printed(await run('pay', unpaid.subscription.id, '--json'))) as Json
    assert.equal(payment['id'], unpaid.payment?.id)
  })

  for (const [ending, charge, next, isPaidOnPage] of [
    [
      'soft',
      'declined, insufficient_funds',
      /pays on the page, or charge another card: .* change/,
      true,
    ],
    ['confirm', 'waits for the customer, who has to confirm it', /confirms it on the page/, true],
    ['waiting', 'waits for the customer, who has to confirm it', /confirms it on the page/, true],
    ['late', 'not decided yet', /not charged again before/, false],
  ] as const) {
    test(`a first charge that is ${ending} says what comes next`, async (t) => {
      const { subscription } = await create({ paymentMethodId: await card(ending) })
      assert.deepEqual([subscription.status, subscription.access], ['incomplete', false])
      const text = await nextOf(t, subscription.id)
      assert.match(text, new RegExp(`^charge {7}${charge}$`, 'm'))
      assert.match(text, new RegExp(`^next {9}.*${next.source}`, 'm'))
      const page = new RegExp(
        `^pay at {7}http.*/billing/subscriptions/${subscription.id}/pay$`,
        'm',
      )
      assert.equal(page.test(text), isPaidOnPage)
    })
  }

  /** What a command prints of what comes next. */
  async function nextOf(t: TestContext, id: string): Promise<string> {
    const details = await core.subscriptions.get(id)
    assert.ok(details)
    const write = t.mock.method(process.stdout, 'write', () => true)
    printNext(details)
    const said = write.mock.calls.map((call) => String(call.arguments[0]))
    write.mock.restore()
    return said.join('')
  }

  test('a charge that was our own fault is not said to be the customer’s', async (t) => {
    const { subscription } = await create({ amount: 19_906 })
    const text = await nextOf(t, subscription.id)
    assert.match(
      text,
      /^charge {7}not made: the fake gateway refuses the request \(bad_request\)$/m,
    )
    assert.match(text, /^next {9}it is charged again on \d{4}-.*Z; the customer need do nothing$/m)
    assert.doesNotMatch(text, /^pay at {7}.*\/subscriptions\//m)
  })

  test('a resumption whose charge is declined says that it stays paused, and why', async () => {
    const { subscription } = await create()
    const { id } = subscription
    await core.subscriptions.pause(id, { at: 'now' })
    await sql`update billing.subscriptions set paid_until = created_at
      where id = ${id}::uuid`.execute(deployment.database.db)
    await core.subscriptions.change(id, { paymentMethodId: await card('hard') })
    const text = printed(await run('resume', id))
    assert.match(text, /^status {7}paused\naccess {7}no$/m)
    assert.match(text, /^charge {7}declined, stolen_card$/m)
    assert.match(
      text,
      /^next {9}it stays paused: the customer pays on the page, or give another card/m,
    )
    assert.match(text, new RegExp(`^pay at {7}http.*/billing/subscriptions/${id}/pay$`, 'm'))
    await core.subscriptions.change(id, { paymentMethodId: await card() })
    assert.doesNotMatch(printed(await run('resume', id)), /^(charge|next|pay at) {3}/m)
  })

  test('a trial says what comes after it, and where to pay if there is no card', async () => {
    const trial = [...base, '--plan', 'pro']
    const bare = printed(await run('create', ...trial))
    assert.match(bare, /^next {9}without a card it ends with the trial: .* pays .* on the page/m)
    assert.match(bare, /^pay at {7}http.*\/billing\/subscriptions\/[0-9a-f-]{36}\/pay$/m)
    const withCard = printed(await run('create', ...trial, '--payment-method', await card()))
    assert.match(withCard, /^next {9}the card is charged when the trial ends$/m)
    assert.doesNotMatch(withCard, /^pay at/m)
  })

  test('what is due is listed and done; charges are held and released, and doctor says so', async () => {
    const { subscription } = await create()
    const { id } = subscription
    assert.equal(printed(await run('due')), 'Nothing is due.')
    await sql`update billing.subscriptions set next_action_at = statement_timestamp() - interval '1 h'
      where id = ${id}::uuid`.execute(deployment.database.db)
    const [heads, line] = printed(await run('due', '--within', '1d')).split('\n')
    assert.match(heads ?? '', /^id +due \(UTC\) +status +what +price +gateway$/)
    assert.match(line ?? '', new RegExp(`^${id} .* active +notice +199\\.00 UAH +fake$`))
    const doctor = async () => {
      const { stdout } = await runHosted(['doctor', '--json'], options())
      const { findings } = JSON.parse(stdout.join('\n')) as { findings: Json[] }
      return findings
        .filter(({ check }) => check === 'subscriptions')
        .map(({ found }) => String(found))
    }
    const found = await doctor()
    const { stdout: lines } = await runHosted(['doctor'], options())
    const widths = lines.map(
      (line) => /^(?:ok|warning|error|skipped) +\S+ +/.exec(line)?.[0].length,
    )
    assert.equal(new Set(widths.filter((width) => width !== undefined)).size, 1, lines.join('\n'))
    assert.match(
      found.join('\n'),
      /the notice 10 days before .* for plan weekly, which renews every week/,
    )
    assert.match(found.join('\n'), /a subscription has been due for 1 h/)
    assert.match(
      printed(await run('hold', 'wrong prices')),
      /until: quittance subscriptions release/,
    )
    assert.match(
      (await doctor()).join('\n'),
      /no period is charged until it is released, wrong prices/,
    )
    assert.deepEqual(await json('release'), { held: null })
    assert.match(printed(await run('run')), /^Did \d+ steps?\.$/)
    assert.equal((await doctor()).length, 1)
  })

  test('a charge that is waited for, or made again, is due as a charge, not as a notice', async () => {
    const { subscription } = await create()
    await sql`update billing.subscriptions set paid_until = statement_timestamp() - interval '1 h',
        next_action_at = statement_timestamp() + interval '10 min'
      where id = ${subscription.id}::uuid`.execute(deployment.database.db)
    const lines = printed(await run('due', '--within', '15m')).split('\n')
    const line = lines.find((one) => one.startsWith(subscription.id))
    assert.match(line ?? lines.join('\n'), / active +charge +199\.00 UAH /)
  })

  test('who charges one is said, and can be asked for; only a provider can be asked how it stands', async () => {
    const { subscription } = await create()
    const { id } = subscription
    const ours = await run('sync', id)
    assert.equal(ours.code, 1)
    assert.match(ours.stderr.join('\n'), /charged by us/)
    const refused = await run('create', ...terms, '--managed-by', 'provider')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr.join('\n'), /cannot manage subscriptions/)
    // As a gateway does that can: none of those that need no credentials.
    await sql`update billing.subscriptions set managed_by = 'provider', payment_method_id = null,
      provider_reference = 'sub_7', next_action_at = null where id = ${id}::uuid`.execute(
      deployment.database.db,
    )
    assert.match(
      printed(await run('show', id)),
      /^managed by {3}provider$[^]*^provider id {2}sub_7$/m,
    )
    const list = printed(await run('list', '--managed-by', 'provider'))
    assert.match(list, new RegExp(`${id} +active +yes +theirs`))
    assert.equal(list.split('\n').length, 2)
    const change = await run('change', id, '--amount', '1')
    assert.match(change.stderr.join('\n'), /amount cannot be changed/)
  })

  test('of a plan that there is not it is said which there are', async () => {
    const unknown = await run('create', ...base, '--plan', 'gold')
    assert.match(unknown.stderr.join(''), /plan "gold" is unknown; there are pro, weekly/)
  })
})
