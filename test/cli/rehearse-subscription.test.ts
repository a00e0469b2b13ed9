import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { subscriptionSchema } from '../../src/wire/subscription.ts'
import { runHosted } from '../support/command-host.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const configName = 'quittance.config.js'
const config = `export default {
  plans: { pro: { amount: 19900, currency: 'UAH', every: 'month', trial_days: 14 } },
  subscriptions: { retry_days: [2], on_unpaid: 'pause', grace_access: false, period_notice_days: [] },
}`

interface Played {
  readonly settings: Readonly<Record<string, unknown>>
  readonly subscription: unknown
  readonly timeline: readonly {
    readonly at: string
    readonly kind: string
    readonly text: string
    readonly mail: string | null
  }[]
}

let folder: TemporaryFolder
before(() => {
  folder = temporaryFolder()
  writeFileSync(join(folder.path, configName), config)
})
after(() => folder.remove())

// Nobody is there to be asked: neither a database nor a provider.
const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', STRIPE_API_KEY: 'sk_test_none' }
const run = (...args: readonly string[]) =>
  runHosted(['subscriptions', 'rehearse', ...args], { cwd: folder.path, env })

test('a merchant sees what the settings do, and nothing real is touched', async () => {
  const { code, stdout, stderr } = await run('--story', 'declined', '--months', '2', '--json')
  assert.deepEqual([code, stderr], [0, []], stderr.join('\n'))
  const { settings, subscription, timeline } = JSON.parse(stdout.join('\n')) as Played
  assert.deepEqual(settings, {
    grace_access: false,
    retry_days: [2],
    on_unpaid: 'pause',
    trial_notice_days: [3],
    period_notice_days: [],
  })
  assert.equal(subscriptionSchema.parse(subscription).status, 'paused')
  assert.deepEqual(
    timeline.map(({ at, kind, text }) => `${at.slice(0, 10)} ${kind} ${text}`),
    [
      '2027-01-01 status trialing',
      '2027-01-01 free trial, 2027-01-01 - 2027-01-15',
      '2027-01-01 event SubscriptionCreated',
      '2027-01-01 access yes',
      '2027-01-12 event TrialWillEnd',
      '2027-01-15 charge 199.00 UAH for 2027-01-15 - 2027-02-15: paid',
      '2027-01-15 status trialing -> active (paid)',
      '2027-01-15 event TrialEnded',
      '2027-01-15 event SubscriptionRenewed',
      '2027-02-15 charge 199.00 UAH for 2027-02-15 - 2027-03-15: declined, insufficient_funds',
      '2027-02-15 status active -> past_due (declined)',
      '2027-02-15 event SubscriptionPaymentFailed',
      '2027-02-15 event SubscriptionAccessSuspended',
      '2027-02-15 access no',
      '2027-02-17 charge 199.00 UAH for 2027-02-15 - 2027-03-15: declined, insufficient_funds',
      '2027-02-17 status past_due -> paused (payment_failed)',
      '2027-02-17 event SubscriptionPaused',
    ],
  )
  const failed = timeline.find(({ text }) => text === 'SubscriptionPaymentFailed')
  assert.match(failed?.mail ?? '', /we try again on 2027-02-17/)
  const paused = timeline.find(({ text }) => text === 'SubscriptionPaused')
  assert.equal(paused?.mail, 'it is paused, for it was not paid')
  assert.deepEqual(readdirSync(folder.path), [configName])
})

test('terms, and how the card fails, can be said instead', async () => {
  const terms = ['--amount', '500', '--currency', 'USD', '--every', 'week', '--months', '1']
  const kyiv = ['--time-zone', 'Europe/Kyiv']
  const { code, stdout } = await run(
    ...terms,
    ...kyiv,
    '--card-fails',
    'hard',
    '--card-fails-after',
    '2',
  )
  assert.equal(code, 0)
  const text = stdout.join('\n')
  assert.match(text, /^5\.00 USD every week, counted in Europe\/Kyiv; times in UTC$/m)
  assert.equal(text.match(/: paid$/gm)?.length, 2)
  assert.match(text, /2027-01-15 00:00 {2}charge .* declined, stolen_card/)
})

test('the stories are listed, and another one is refused', async () => {
  const { stdout } = await run('--stories', '--json')
  const { stories } = JSON.parse(stdout.join('\n')) as { stories: readonly { name: string }[] }
  assert.ok(stories.some(({ name }) => name === 'confirmed'))
  const refused = await run('--story', 'elope')
  assert.equal(refused.code, 2)
  assert.match(refused.stderr.join('\n'), /there is no story "elope"/)
  const half = await run('--card-fails-after', '3')
  assert.deepEqual([half.code, /--card-fails /.test(half.stderr.join(''))], [2, true])
})
