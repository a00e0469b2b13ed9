import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFinding, doctor } from './doctor.ts'

const secretText = 'whsec_hush9b2f0123456789'

test('doctor looks at the settings of an account as at those of its gateway', async () => {
  using folder = temporaryFolder()
  const named = { BILLING_GATEWAYS: 'stripe-eu:stripe' }
  for (const [env, state, shown] of [
    [{ STRIPE_EU_SIGNING_SECRET: `"${secretText}"` }, 'error', /STRIPE_EU_SIGNING_SECRET begins/],
    [
      { STRIPE_EU_SIGNING_SECRET: 'hush' },
      'warning',
      /STRIPE_EU_SIGNING_SECRET .* shorter than 16/,
    ],
    [
      { STRIPE_EU_SECRET_KEY: `sk_live_${secretText}` },
      'warning',
      /stripe-eu has a live key outside of production/,
    ],
  ] as const) {
    const { of, text } = await doctor({ cwd: folder.path, env: { ...named, ...env } })
    assertFinding(of('secrets'), state, shown)
    assert.doesNotMatch(text, /hush/)
  }
})

test('doctor looks at an account of the configuration file, and shows nothing of its secrets', async () => {
  using folder = temporaryFolder()
  const account = { driver: 'stripe', signing_secret: `${secretText} ${secretText}` }
  writeFileSync(
    join(folder.path, 'quittance.config.js'),
    `export default { gateways: ${JSON.stringify({ 'stripe-eu': account })} }`,
  )
  const { of, findings, text } = await doctor({ cwd: folder.path })
  assertFinding(of('secrets'), 'error', /gateways\.stripe-eu\.signing_secret has white space/)
  const gateways = findings.filter(({ check }) => check === 'gateways').map(({ found }) => found)
  assert.deepEqual(gateways, [
    'stripe-eu takes callbacks; without STRIPE_EU_SECRET_KEY its provider is not asked',
    'fake is configured',
  ])
  assert.doesNotMatch(text, /hush/)
})

test('doctor warns of a secret that two names share, and of no other', async () => {
  using folder = temporaryFolder()
  const env = {
    BILLING_GATEWAYS: 'stripe-eu:stripe,stripe-us:stripe,paddle-eu:paddle',
    STRIPE_SECRET_KEY: `sk_test_1${secretText}`,
    STRIPE_EU_SECRET_KEY: `sk_test_2${secretText},sk_test_1${secretText}`,
    STRIPE_US_SECRET_KEY: `sk_test_3${secretText}`,
    // Of another gateway: nobody can send one's callbacks to the other.
    STRIPE_SIGNING_SECRET: secretText,
    PADDLE_EU_SIGNING_SECRET: secretText,
  }
  const { of, text } = await doctor({ cwd: folder.path, env })
  assertFinding(
    of('secrets'),
    'warning',
    /^stripe and stripe-eu have the same secret_key: .* — Give each its own/,
  )
  assert.doesNotMatch(text, /hush/)
})

test('doctor knows the variables of accounts, and says what is wrong with an account', async () => {
  using folder = temporaryFolder()
  const envFile = (text: string) => writeFileSync(join(folder.path, '.env'), text)
  const lines = 'BILLING_GATEWAYS=stripe-eu:stripe\nSTRIPE_EU_SIGNING_SECRET=\n'
  envFile(lines)
  assertFinding((await doctor({ cwd: folder.path })).of('env_file'), 'ok', /^read/)
  envFile(`${lines}STRIPE_EU_SECRET_KYE=x\n`)
  assertFinding(
    (await doctor({ cwd: folder.path })).of('env_file'),
    'warning',
    /names STRIPE_EU_SECRET_KYE, .* — Did you mean STRIPE_EU_SECRET_KEY\?/,
  )
  envFile('BILLING_GATEWAYS=stripe-eu:strpe\n')
  const wrong = await doctor({ cwd: folder.path })
  assertFinding(wrong.of('settings'), 'error', /BILLING_GATEWAYS: stripe-eu is of an unknown/)
  // The other checks go on.
  assertFinding(wrong.of('secrets'), 'ok', /none/)
})
