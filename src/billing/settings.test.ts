import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { capturedLog } from '../../test/support/captured-log.ts'
import { createBilling, sharedBilling } from '../create-billing.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import { readSettings } from './settings.ts'

/** As a program in JavaScript may call it: no compiler has looked. */
function refusal(options: object): string {
  try {
    createBilling(options)
    return 'the options were taken'
  } catch (error) {
    assert.ok(isQuittanceError(error), String(error))
    assert.equal(error.code, 'setting_invalid')
    return `${error.message} — ${error.fix}`
  }
}

test('an unknown option is refused, with the nearest one and those beside it', () => {
  assert.match(
    refusal({ databse: { url: 'postgres://user:hush@db/billing' } }),
    /^option databse is unknown; did you mean database\? There are url, database, webhook, /,
  )
  assert.match(
    refusal({ webhook: { pruneAfterDay: 30 } }),
    /^option webhook\.pruneAfterDay is unknown; did you mean pruneAfterDays\? There are path, /,
  )
  assert.match(
    refusal({ billing: { queue: { name: 'slow' } } }),
    /^option billing\.queue\.name is unknown; there are connection, queue — /,
  )
  assert.match(refusal({ constructor: 1 }), /^option constructor is unknown; /)
})

test('a refused option is printed with the line that gave it, and nothing that is not there', () => {
  for (const make of [createBilling, sharedBilling]) {
    const wrong: object = { databse: 1 }
    assert.throws(
      () => make(wrong),
      (error: Error) => {
        const [message, line] = error.stack?.split('\n') ?? []
        assert.match(message ?? '', /^QuittanceError: option databse is unknown; /)
        assert.match(line ?? '', /settings\.test\.ts:/)
        assert.doesNotMatch(inspect(error), /undefined/)
        return true
      },
    )
  }
})

test('an option of the wrong kind is refused by its name, with what it must be', () => {
  for (const [options, message] of [
    [{ database: { poolSize: '10' } }, /^option database\.poolSize must be .* 2 .*, got "10"/],
    [{ webhook: { maxBodyBytes: -1 } }, /^option webhook\.maxBodyBytes must be .*bytes.*, got -1/],
    [{ webhook: { pruneAfterDays: 0.5 } }, /^option webhook\.pruneAfterDays must be .*, got 0\.5/],
    [{ review: { unknownPayments: 'off' } }, /unknownPayments must be true or false, got "off"/],
    [{ url: 'https://shop.example/x' }, /^option url must be an origin .*, got "https:/],
    [{ returnOrigins: ['https://a.example', 'b'] }, /returnOrigins must be origins .*, got "b"/],
    [{ listenerBudgetMs: 30_000 }, /^option listenerBudgetMs must .*25000.* — .*queued: true/],
    [{ extraGateways: [null] }, /^option extraGateways must be gateways, got null/],
    [{ log: console }, /^option log must be a logger such as pino makes/],
    [{ onLost: 'log' }, /^option onLost must be a function/],
    [{ environment: { '\ufeffNODE_ENV': 'production' } }, /has NODE_ENV behind a byte order mark/],
    [{ webhook: 'hooks/{gateway}' }, /^option webhook must be an object/],
    [{ webhook: null }, /^option webhook must be an object/],
  ] as const) {
    assert.match(refusal(options), message)
  }
})

test('a gateway of the app that is incomplete is refused by its name, before anything reads it', () => {
  for (const [gateway, message] of [
    [{ name: 'acme' }, /^gateway "acme": aliases must be a list of names — Correct the descriptor/],
    [{ name: 'acme', aliases: [], title: 'Acme', scheme: 'none' }, /^gateway "acme": credentials/],
    [{}, /^gateway undefined: aliases/],
  ] as const) {
    assert.match(refusal({ extraGateways: [gateway] }), message)
  }
})

test('no message repeats a secret', () => {
  for (const options of [
    { database: 'postgres://user:hush@db/billing' },
    { database: { url: 'mysql://user:hush@db/billing' } },
    { database: { url: 'postgres://user:hush@a,b/billing' } },
    { url: 'postgres://user:hush@db/billing' },
    { returnOrigins: 'https://user:hush@shop.example' },
    { billing: { encryptionKey: 'hush' } },
    { billing: { encryptionKey: 42, encryption_key: 'hush' } },
    { gateways: 'hush' },
    { gateways: { stripe: { signing_secret: 42, secret: 'hush' } } },
  ]) {
    assert.doesNotMatch(refusal(options), /hush|were taken/)
  }
})

test('a name of the file is taken as an option, with a warning', () => {
  const { log, lines } = capturedLog()
  const options: object = {
    log,
    webhook: { prune_after_days: 40 },
    return_origins: ['https://shop.example'],
  }
  createBilling(options)
  const settings = readSettings(options)
  assert.equal(settings.retentionDays, 40)
  assert.equal(settings.isAllowedReturn('https://shop.example/thanks'), true)
  const warnings = lines.filter(({ level }) => level === 40).map(({ msg }) => msg)
  assert.deepEqual(warnings, [
    'the option webhook.prune_after_days is called webhook.pruneAfterDays',
    'the option return_origins is called returnOrigins',
  ])
})

test('one setting under both names is refused', () => {
  const both = { webhook: { prune_after_days: 40, pruneAfterDays: 30 } }
  assert.equal(
    refusal(both),
    'option webhook.prune_after_days is given twice, also as pruneAfterDays' +
      ' — Correct what createBilling is called with; docs/configuration.md lists the options.',
  )
})

test('what a group of options inherits counts', () => {
  class Webhook {
    get pruneAfterDays() {
      return 40
    }
  }
  const webhook = Object.create({ prune_after_days: 40 }) as object
  const own = Object.create(
    { pruneAfterDays: 50 },
    {
      prune_after_days: { value: 40, enumerable: true },
    },
  ) as object
  for (const group of [new Webhook(), webhook, own]) {
    assert.equal(readSettings({ webhook: group }).retentionDays, 40)
  }
})

test('a module is a group of options by what it exports', async () => {
  const source: string = 'data:text/javascript,export const pruneAfterDays = 40'
  const webhook = (await import(source)) as object
  assert.equal(readSettings({ webhook }).retentionDays, 40)
})

test('what holds its content otherwise than in fields is no group of options', () => {
  for (const group of [Promise.resolve({ memory: true }), new Map(), [], 'x', null]) {
    assert.match(refusal({ database: group }), /^option database must be an object with url, /)
    assert.throws(() => createBilling(group as object), { code: 'setting_invalid' })
  }
})

test('a message shows no more of a value than a person reads', () => {
  assert.ok(refusal({ url: 'x'.repeat(10_000) }).length < 300)
})

test('what is undefined counts as not set', () => {
  const { retentionDays } = readSettings({
    url: undefined,
    webhook: { pruneAfterDays: undefined },
    gateways: undefined,
  })
  assert.equal(retentionDays, 30)
})

test('a blank URL of the database counts as not set', () => {
  for (const url of ['', ' ']) {
    assert.equal(readSettings({ database: { url, poolSize: 3 } }).database.url, undefined)
    const inProduction = () => readSettings({ database: { url }, production: true })
    assert.throws(inProduction, { code: 'embedded_in_production' })
  }
})

test('plans and what holds for subscriptions have defaults, and are taken as an app and a file write them', () => {
  const preset = readSettings({})
  assert.deepEqual(preset.plans, {})
  assert.deepEqual(preset.subscriptions, {
    graceAccess: true,
    retryDays: [1, 3, 5, 7],
    onUnpaid: 'cancel',
    trialNoticeDays: [3],
    periodNoticeDays: [3],
    timeZone: 'UTC',
    incompleteHours: 24,
    chargesAtOnce: 4,
  })
  const { plans } = readSettings({
    plans: {
      pro_yearly: { amount: 199_900, currency: 'UAH', every: 'year', trialDays: 14 },
      quarterly: { amount: 59_900n, currency: 'UAH', every: '3 months' },
      weekly: { amount: 0, currency: 'USD', every: { unit: 'week', count: 2 }, trial_days: 3 },
    },
  })
  // The names are data: they keep their spelling.
  assert.deepEqual(plans, {
    pro_yearly: {
      amount: 199_900n,
      currency: 'UAH',
      every: { unit: 'year', count: 1 },
      trialDays: 14,
    },
    quarterly: {
      amount: 59_900n,
      currency: 'UAH',
      every: { unit: 'month', count: 3 },
      trialDays: 0,
    },
    weekly: { amount: 0n, currency: 'USD', every: { unit: 'week', count: 2 }, trialDays: 3 },
  })
})

test('a wrong plan, or a wrong rule for subscriptions, is refused by its name, with what it must be', () => {
  const plan = { amount: 100, currency: 'UAH', every: 'month' }
  for (const [options, message] of [
    [{ plans: [] }, /^option plans must be an object with plans by their names/],
    [{ plans: { pro: 'month' } }, /^option plans\.pro must be an object with amount, currency/],
    [{ plans: { pro: { ...plan, amount: 1.5 } } }, /^option plans\.pro\.amount must be a whole/],
    [{ plans: { pro: { ...plan, currency: 'uah' } } }, /^option plans\.pro\.currency must be the/],
    [
      { plans: { pro: { ...plan, every: 'monthly' } } },
      /plans\.pro\.every must be day, week, month or year.*, got "monthly"/,
    ],
    [{ plans: { pro: { amount: 1, currency: 'UAH' } } }, /^option plans\.pro\.every is required/],
    [
      { plans: { pro: { ...plan, trial_days: -1 } } },
      /plans\.pro\.trialDays must be a whole number/,
    ],
    [
      { plans: { pro: { ...plan, perks: {} } } },
      /^option plans\.pro has the unknown key perks; there/,
    ],
    [{ plans: { pro: { ...plan, trialDays: 1, trial_days: 2 } } }, /unknown key trial_days/],
    [
      { plans: { pro: { ...plan, quotas: { api_calls: { limit: -1 } } } } },
      /^option plans\.pro\.quotas\.api_calls\.limit must be a whole number of units from 0/,
    ],
    [{ plans: { '': plan } }, /^option plans/],
    [
      { subscriptions: { retryDays: [3, 1] } },
      /^option subscriptions\.retryDays must be .*ascending/,
    ],
    [{ subscriptions: { retryDays: [0.5] } }, /^option subscriptions\.retryDays must be whole/],
    [
      { subscriptions: { retryDays: Array.from({ length: 15 }, (_, day) => day + 1) } },
      /14 at most/,
    ],
    [{ subscriptions: { trialNoticeDays: [3, 3] } }, /trialNoticeDays must be .* each once/],
    [{ subscriptions: { onUnpaid: 'stop' } }, /onUnpaid must be cancel or pause, got "stop"/],
    [{ subscriptions: { timeZone: '+02:00' } }, /timeZone must be the IANA name .*, got "\+02:00"/],
    [
      { subscriptions: { timeZone: 'Europe/Kiyv' } },
      /timeZone must be the IANA name of a time zone/,
    ],
    [{ subscriptions: { chargesAtOnce: 0 } }, /chargesAtOnce must be a whole number of charges/],
    [{ subscriptions: { graceAcces: true } }, /is unknown; did you mean graceAccess\? There are/],
  ] as const) {
    assert.match(refusal(options), message)
  }
})

test('what is blank counts as not set, as the variable does that an app passes on', () => {
  const blank = readSettings({ url: '', database: { url: ' ', dataDir: '' } })
  const { origin, database } = readSettings({})
  assert.deepEqual([blank.origin, blank.database], [origin, database])
})

test('without a public origin an app is where its environment says', () => {
  const origins = [{}, { PORT: '4000' }, { PORT: '' }, { PORT: 'pipe' }, { PORT: '65536' }].map(
    (environment) => readSettings({ environment }).origin,
  )
  const usual = 'http://localhost:3000'
  assert.deepEqual(origins, [usual, 'http://localhost:4000', usual, usual, usual])
})
