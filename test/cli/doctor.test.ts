import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkDurability, clockFinding } from '../../src/cli/doctor/check-database.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { runHosted } from '../support/command-host.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { assertFinding, doctor } from './doctor.ts'

const escape = '\u001B'
const secretText = 'hush-hush-hush-hush'

describe('before anything was started, doctor', () => {
  test('names what does not run, and makes nothing', async () => {
    using folder = temporaryFolder()
    const { code, of } = await doctor({ cwd: folder.path })
    assert.equal(code, 1)
    assertFinding(of('worker'), 'error', /no service is running.* — Start it: npm start/)
    assertFinding(of('route'), 'error', /nothing listens there/)
    for (const check of ['database', 'migrations', 'clock', 'queue', 'listeners']) {
      assertFinding(of(check), 'skipped', /no service has the database open/)
    }
    assert.deepEqual(readdirSync(folder.path), [])
  })

  test('prints lines of at most 80 columns, and a sum', async () => {
    using folder = temporaryFolder()
    const env = { APP_URL: `https://${'long-name.'.repeat(15)}invalid` }
    const { code, stdout, stderr } = await runHosted(['doctor'], { cwd: folder.path, env })
    assert.deepEqual([code, stderr], [1, []])
    assert.deepEqual(
      stdout.filter((line) => line.length > 80),
      [],
    )
    assert.ok(stdout.some((line) => /^ +fix: Start it/.test(line)))
    assert.equal(stdout.at(-1), '2 errors.')
    // Colours are for terminals.
    assert.ok(!stdout.join('').includes(escape))
  })

  test('colours its marks where colours are forced', async () => {
    using folder = temporaryFolder()
    const env = { FORCE_COLOR: '1' }
    const { stdout } = await runHosted(['doctor'], { cwd: folder.path, env })
    assert.ok(stdout.join('\n').includes(`${escape}[31merror`))
  })
})

describe('beside a running service, doctor', () => {
  let folder: TemporaryFolder
  let service: LocalService
  let env: Readonly<Record<string, string>>
  before(async () => {
    folder = temporaryFolder()
    fillDataFolder(join(folder.path, '.quittance'))
    service = await startLocalService({ cwd: folder.path })
    env = { PORT: new URL(service.url).port, APP_URL: service.url }
  })
  after(async () => {
    await service.stop()
    folder.remove()
  })

  test('finds all well on the embedded database', async () => {
    const { code, findings } = await doctor({ cwd: folder.path, env })
    assert.equal(code, 0)
    assert.deepEqual(
      findings.filter(({ state }) => state !== 'ok'),
      [],
    )
    const { stdout } = await runHosted(['doctor'], { cwd: folder.path, env })
    assert.equal(stdout.at(-1), 'All is well.')
  })

  test('sees a data folder that is open to other users', async () => {
    const data = join(folder.path, '.quittance')
    chmodSync(data, 0o755)
    try {
      const { of } = await doctor({ cwd: folder.path, env })
      assertFinding(of('data_folder'), 'error', /mode 0755.* — Run: chmod 700 \.quittance/)
      assertFinding(of('worker'), 'ok', /running/)
    } finally {
      chmodSync(data, 0o700)
    }
  })

  test('tells every wrong setting, and looks at the rest all the same', async () => {
    const { findings, of } = await doctor({
      cwd: folder.path,
      env: { ...env, PORT: 'abc', HOST: 'a b', BILLING_WEBHOOK_PATH: '/callbacks' },
    })
    const wrong = findings.filter(({ check }) => check === 'settings')
    assert.deepEqual(
      wrong.map(({ state, found }) => [state, found.split(' ')[0]]),
      [
        ['error', 'BILLING_WEBHOOK_PATH'],
        ['error', 'HOST'],
        ['error', 'PORT'],
      ],
    )
    assertFinding(of('database'), 'ok', /embedded/)
    assertFinding(of('queue'), 'ok', /0 pending/)
    assertFinding(of('route'), 'skipped', /settings/)
  })

  test('tells what is wrong in the configuration: its listeners, itself, its gateways', async () => {
    const data = { BILLING_DATA_DIR: join(folder.path, '.quittance') }
    const look = async (config: string, more: Readonly<Record<string, string>> = {}) => {
      using own = temporaryFolder()
      writeFileSync(join(own.path, 'quittance.config.js'), config)
      return await doctor({ cwd: own.path, env: { ...env, ...data, ...more } })
    }
    const { code, of } = await look(
      'export default { listeners: { grant: { on: ["PaymentSucceeded", "TrialEnded"], run() {} } } }',
    )
    assert.equal(code, 0)
    assertFinding(
      of('listeners'),
      'warning',
      /^grant\/PaymentSucceeded, grant\/TrialEnded: not known.* — Restart/,
    )
    const unnamed = 'export default { listeners: { PaymentSucceeded() {} } }'
    for (const more of [{}, { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' }]) {
      const found = (await look(unnamed, more)).of('listeners')
      assertFinding(found, 'error', /is an event: .* — Write listeners: \{ /)
    }
    const broken = await look('throw new Error("no good")')
    assertFinding(broken.of('settings'), 'error', /quittance\.config\.js:1: no good/)
    assertFinding(broken.of('database'), 'ok', /embedded/)
    const acme = 'export default { extra_gateways: [{ name: "acme", credentials: {} }] }'
    const incomplete = /gateway "acme": aliases must be a list/
    assertFinding((await look(acme)).of('settings'), 'error', incomplete)
  })
})

test('doctor names a damaged data folder and leaves it alone', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, '.quittance')
  fillDataFolder(data)
  writeFileSync(join(folder.path, '.env'), `BILLING_DATA_DIR=${data}\nSTRIPE_SIGNIN_SECRT=x\n`)
  chmodSync(data, 0o700)
  const sound = await doctor({ cwd: folder.path })
  assertFinding(sound.of('settings'), 'ok', /the environment, \.env — $/)
  const slip = /names STRIPE_SIGNIN_SECRT, .* — Did you mean STRIPE_SIGNING_SECRET\?$/
  assertFinding(sound.of('env_file'), 'warning', slip)
  assertFinding(sound.of('data_folder'), 'ok', /private/)
  writeFileSync(join(folder.path, '.env'), `BILLING_DATA_DIR=${data}\nSHOP_NAME=x\n`)
  assertFinding((await doctor({ cwd: folder.path })).of('env_file'), 'ok', /not read: SHOP_NAME/)
  rmSync(join(data, 'database/PG_VERSION'))
  const { of } = await doctor({ cwd: folder.path })
  assertFinding(of('data_folder'), 'error', /lacks PG_VERSION.* — Restore/)
  assert.equal(existsSync(join(data, 'owner.json')), false)
})

test('doctor shows no secret that was pasted into any setting of a gateway', async () => {
  using folder = temporaryFolder()
  const key = '-----BEGIN PRIVATE KEY-----\\nhush9b2f\\n-----END PRIVATE KEY-----'
  const names = builtin.flatMap((one) => Object.values(one.credentials).flatMap(({ env }) => env))
  const env = Object.fromEntries(names.map((name) => [name, key]))
  const { findings, text } = await doctor({ cwd: folder.path, env })
  assert.ok(findings.some(({ check, state }) => check === 'settings' && state === 'error'))
  assert.doesNotMatch(text, /hush9b2f/)
})

describe('doctor sees that a secret looks wrong, and never shows it:', () => {
  interface Row {
    readonly name: string
    readonly env: Readonly<Record<string, string>>
    readonly state: 'error' | 'warning'
    readonly shown: RegExp
  }
  const signing = (text: string) => ({ STRIPE_SIGNING_SECRET: text })
  const production = { NODE_ENV: 'production' }
  const rows: readonly Row[] = [
    {
      name: 'quotes around it',
      env: signing(`"${secretText}"`),
      state: 'error',
      shown: /STRIPE_SIGNING_SECRET begins and ends with quotes/,
    },
    {
      name: 'a line break',
      env: signing(`${secretText}\n${secretText}`),
      state: 'error',
      shown: /line break/,
    },
    {
      name: 'a line break as two characters',
      env: { ALPHA_SECRET_KEY: String.raw`${secretText}\n${secretText}` },
      state: 'error',
      shown: /ALPHA_SECRET_KEY has a line break/,
    },
    {
      name: 'white space inside',
      env: signing(`${secretText} ${secretText}`),
      state: 'error',
      shown: /white space/,
    },
    {
      name: 'the word undefined',
      env: signing('undefined'),
      state: 'error',
      shown: /undefined or null/,
    },
    {
      name: 'a blank in production',
      env: { ...signing('  '), ...production },
      state: 'warning',
      shown: /set, but blank/,
    },
    { name: 'few characters', env: signing('hush'), state: 'warning', shown: /shorter than 16/ },
    {
      name: 'a test key in production',
      env: { STRIPE_SECRET_KEY: `sk_test_${secretText}`, ...production },
      state: 'warning',
      shown: /test key in production/,
    },
    {
      name: 'a live key in development',
      env: { STRIPE_SECRET_KEY: `sk_live_${secretText}` },
      state: 'warning',
      shown: /live key outside of production/,
    },
    {
      name: 'quotes around the API token',
      env: { BILLING_API_TOKEN: `'${secretText}'` },
      state: 'error',
      shown: /BILLING_API_TOKEN begins and ends with quotes/,
    },
  ]
  for (const { name, env, state, shown } of rows) {
    test(name, async () => {
      using folder = temporaryFolder()
      const { of, text } = await doctor({ cwd: folder.path, env })
      assertFinding(of('secrets'), state, shown)
      assert.doesNotMatch(text, /hush/)
    })
  }

  test('several at once, with a comma between them, are right', async () => {
    using folder = temporaryFolder()
    const env = signing(` ${secretText}, ${secretText} `)
    const { of } = await doctor({ cwd: folder.path, env })
    assertFinding(of('secrets'), 'ok', /none/)
  })
})

test('doctor warns of a token for readers that is short, or lets them do everything', async () => {
  using folder = temporaryFolder()
  const cwd = folder.path
  const none = await doctor({ cwd })
  assert.ok(none.findings.every(({ check }) => check !== 'read_token'))
  const env = { BILLING_API_TOKEN: secretText, BILLING_READ_TOKEN: secretText }
  const same = await doctor({ cwd, env })
  assertFinding(same.of('read_token'), 'warning', /the same as BILLING_API_TOKEN.* — Make one/)
  assert.doesNotMatch(same.text, /hush/)
  const short = await doctor({ cwd, env: { ...env, BILLING_READ_TOKEN: 'short' } })
  assertFinding(short.of('read_token'), 'warning', /BILLING_READ_TOKEN is shorter than 16/)
  const several = { BILLING_API_TOKEN: `new-${secretText}, short`, BILLING_METRICS_TOKEN: 'null' }
  const rotated = await doctor({ cwd, env: { ...env, ...several } })
  assertFinding(rotated.of('api_token'), 'warning', /has one that is shorter than 16/)
  assertFinding(rotated.of('secrets'), 'error', /BILLING_METRICS_TOKEN holds the word undefined/)
  const both = `${secretText}-2,${secretText}-3`
  const other = await doctor({ cwd, env: { ...env, BILLING_READ_TOKEN: both } })
  assertFinding(other.of('read_token'), 'ok', /^2 are set/)
  const among = { BILLING_READ_TOKEN: `${secretText}-2`, BILLING_API_TOKEN: both }
  assertFinding((await doctor({ cwd, env: among })).of('read_token'), 'warning', /the same as/)
  const alone = { NODE_ENV: 'production', BILLING_READ_TOKEN: secretText }
  assertFinding(
    (await doctor({ cwd, env: alone })).of('api_token'),
    'ok',
    /the management API only reads, but for operators/,
  )
  const bare = await doctor({ cwd, env: { NODE_ENV: 'production' } })
  assertFinding(bare.of('api_token'), 'ok', /the management API is for operators alone/)
})

test('doctor names what is half set, and what nobody reads', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, '.env'), 'BILLING_FOO=1\nSHOP_NAME=x\n')
  const env = {
    LIQPAY_PUBLIC_KEY: 'i00000000',
    STRIPE_SECRET_KEY: `sk_test_${secretText}`,
    BILLING_GRACE_ACCES: 'on',
  }
  const { of, findings } = await doctor({ cwd: folder.path, env })
  const misspelt =
    /^BILLING_GRACE_ACCES is set, which nobody reads — Did you mean BILLING_GRACE_ACCESS/
  assertFinding(of('environment'), 'warning', misspelt)
  const inFile = /^\.env names BILLING_FOO, which nobody reads — If it was meant for Quittance/
  assertFinding(of('env_file'), 'warning', inFile)
  const halves = findings.filter(({ check, state }) => check === 'gateways' && state !== 'ok')
  assert.deepEqual(
    halves.map(({ state, found, fix }) => [state, found, fix]),
    [
      [
        'warning',
        'gateway stripe has STRIPE_SECRET_KEY, but not STRIPE_SIGNING_SECRET: its callbacks are refused',
        'Register the callback URL, which yields it: docs/8-registration.md',
      ],
      [
        'error',
        'gateway liqpay has LIQPAY_PUBLIC_KEY, but not LIQPAY_PRIVATE_KEY: its callbacks are refused',
        'Set LIQPAY_PRIVATE_KEY, or take the rest out.',
      ],
    ],
  )
})

test('doctor warns of what is unwise in production', async () => {
  using folder = temporaryFolder()
  const env = { NODE_ENV: 'production', BILLING_FAKE: 'on', BILLING_API_TOKEN: 'short' }
  const { of, findings } = await doctor({ cwd: folder.path, env })
  assertFinding(of('settings'), 'error', /embedded database is refused.* — Set DATABASE_URL/)
  assertFinding(of('api_token'), 'warning', /shorter than 16/)
  const url = { ...env, DATABASE_URL: 'postgres://user:hush@127.0.0.1:1/billing' }
  const gateways = (await doctor({ cwd: folder.path, env: url })).findings.filter(
    ({ check }) => check === 'gateways',
  )
  assert.deepEqual(
    gateways.map(({ state }) => state),
    ['warning', 'warning'],
  )
  assert.match(gateways[0]?.found ?? '', /no gateway is configured/)
  assert.match(gateways[1]?.found ?? '', /fake is on in production/)
  assert.match(gateways[1]?.fix ?? '', /BILLING_FAKE/)
  assert.ok(findings.length > 10)
})

test('durability settings that lose or tear data are told', () => {
  const on = { synchronousCommit: 'on', fsync: 'on', fullPageWrites: 'on' }
  const states = (facts: Partial<typeof on>) =>
    checkDurability({ ...on, ...facts }).map(({ state }) => state)
  assert.deepEqual(states({}), ['ok'])
  assert.deepEqual(states({ synchronousCommit: 'local' }), ['warning'])
  assert.deepEqual(states({ synchronousCommit: 'off', fsync: 'off' }), ['error', 'error'])
  assert.deepEqual(states({ fullPageWrites: 'off' }), ['warning'])
})

test('a clock that is off by seconds is a warning, by minutes an error', () => {
  assert.equal(clockFinding(900).state, 'ok')
  assertFinding(clockFinding(8_000), 'warning', /8 s ahead.* — .*NTP/)
  assertFinding(clockFinding(-300_000), 'error', /300 s behind/)
})
