import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { createApp } from '../../src/http/app.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { secret } from '../../src/kernel/secret.ts'
import type { CreateRefundInput } from '../../src/money/refund-input.ts'
import { deployMoney, writeConfig, type MoneyDeployment } from '../cli/money-deployment.ts'
import { scripted } from '../cli/scripted-gateway.ts'
import { unhurried } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { stating } from '../support/stating-gateway.ts'

type Fields = Readonly<Record<string, unknown>>
type Named<T> = Readonly<Record<keyof T, readonly [inApi: string, flag: string]>>

/** What each entrance calls a field. */
const payment: Named<CreatePaymentInput> = {
  id: ['id', '--id'],
  gateway: ['gateway', '--gateway'],
  amount: ['amount', '--amount'],
  currency: ['currency', '--currency'],
  payable: ['payable', '--payable'],
  description: ['description', '--description'],
  returnUrl: ['return_url', '--return-url'],
  customer: ['customer', '--customer'],
  metadata: ['metadata', '--metadata'],
  merchantAccount: ['merchant_account', '--merchant-account'],
  live: ['live', '--live'],
  checkout: ['checkout', '--no-checkout'],
  checkoutReference: ['checkout_reference', '--checkout-reference'],
  providerReference: ['provider_reference', '--provider-reference'],
  expiresAt: ['expires_at', '--expires-at'],
  saveCard: ['save_card', '--save-card'],
  paymentMethodId: ['payment_method_id', '--payment-method'],
  initiatedBy: ['initiated_by', '--initiated-by'],
}
const refund: Named<CreateRefundInput> = {
  id: ['id', '--id'],
  amount: ['amount', '--amount'],
  reason: ['reason', '--reason'],
}

const order: Fields = {
  gateway: 'scripted',
  amount: 1999,
  currency: 'UAH',
  payable: { type: 'order', id: '42' },
  checkout: false,
}

const textOf = (most: number) =>
  `must be text of 1 to ${most} characters without control characters`
const uuidRule = 'must be a UUID'
const amountRule = 'must be a whole number of minor units from 0 to 9007199254740991'
const refundRule = 'must be a whole number of minor units from 1 to 9007199254740991'
const currencyRule = 'must be the ISO 4217 code of a currency to pay with, in capitals, such as UAH'
const urlRule = 'must be an http or https URL'
const objectRule = 'must be an object that JSON can hold, nested at most 16 deep'
const localeRule = 'must be a language tag such as uk or en-GB'
const timeRule = 'must be a time in ISO 8601, such as 2026-11-20T09:30:00Z'
const flagRule = 'must be true or false'
const long = (length: number) => 'x'.repeat(length)
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) })

type Row<T> = readonly [field: keyof T & string, value: unknown, fault?: string, part?: string]

/** One value of one field; without a fault it is accepted. */
const rows: readonly Row<CreatePaymentInput>[] = [
  ['id', crypto.randomUUID()],
  ['id', crypto.randomUUID().toUpperCase()],
  ['id', '', uuidRule],
  ['id', 7, uuidRule],
  ['gateway', undefined, 'is required'],
  ['gateway', long(65), textOf(64)],
  ['amount', 0],
  ['amount', Number.MAX_SAFE_INTEGER],
  ['amount', undefined, 'is required'],
  ...[-1, 1.5, 2 ** 53, 1e300, '1e3', '100 ', null].map(
    (value) => ['amount', value, amountRule] as const,
  ),
  ...['XAF', 'XCD', 'XOF', 'XPF'].map((value) => ['currency', value] as const),
  // Metals, units of account, the code for tests and the one for no currency.
  ...'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'
    .split(' ')
    .map((value) => ['currency', value, currencyRule] as const),
  ...['uah', 'UA', 'UAHH', 'ZZZ', 'UAH ', '', 980].map(
    (value) => ['currency', value, currencyRule] as const,
  ),
  ['payable', undefined, 'is required'],
  ['payable', 'order 7', 'must be {type, id}'],
  ['payable', { type: long(255), id: long(255) }],
  ['payable', { type: 'order', id: long(256) }, textOf(255), 'id'],
  ['payable', { type: long(256), id: '42' }, textOf(255), 'type'],
  ['payable', { type: 'order', id: 'a\u0007b' }, textOf(255), 'id'],
  ['description', long(1000)],
  ['description', 'Дві квитанції, 𝒳'],
  ['description', null],
  ['description', long(1001), textOf(1000)],
  ['description', '', textOf(1000)],
  ['description', 'a\nb', textOf(1000)],
  ['description', 'a\u0085b', textOf(1000)],
  ['description', 'a\u009bb', textOf(1000)],
  ['description', 'a\ud800b', textOf(1000)],
  ['returnUrl', 'http://localhost/thanks?order=42'],
  ['returnUrl', 'HTTP://LOCALHOST/thanks'],
  ['returnUrl', ' http://localhost/thanks '],
  ['returnUrl', `http://localhost/${long(2000)}`, textOf(2000)],
  ['returnUrl', 'http://local\nhost/', textOf(2000)],
  ...['javascript:alert(1)', 'http:localhost', 'https://', 'thanks'].map(
    (value) => ['returnUrl', value, urlRule] as const,
  ),
  ['customer', { email: 'a@example.com' }],
  ['customer', { locale: 'uk-UA' }],
  ['customer', { locale: null }],
  ...['uk_UA', 'українська', '', 7, `uk-${long(100)}`].map(
    (locale) => ['customer', { locale }, localeRule, 'locale'] as const,
  ),
  ['customer', [1], objectRule],
  ['metadata', nested(16)],
  ['metadata', nested(17), objectRule],
  ['metadata', null],
  ['merchantAccount', null],
  ['merchantAccount', long(255)],
  ['merchantAccount', long(256), textOf(255)],
  ['merchantAccount', 'a\u009bb', textOf(255)],
  ['live', true],
  ['live', null, flagRule],
  ['live', 'yes', flagRule],
  ['checkout', 'no', flagRule],
  ['saveCard', true],
  ['saveCard', 1, flagRule],
  ['checkoutReference', long(500)],
  ['checkoutReference', long(501), textOf(500)],
  ['checkoutReference', null, textOf(500)],
  ['providerReference', long(500)],
  ['providerReference', long(501), textOf(500)],
  ['providerReference', 'a\udc00b', textOf(500)],
  ['expiresAt', new Date('2030-01-02T03:04:05.678Z')],
  [
    'expiresAt',
    new Date('2020-01-02T03:04:05Z'),
    'must be in the future, got 2020-01-02T03:04:05.000Z',
  ],
  ['expiresAt', 'tomorrow', timeRule],
  ['expiresAt', null, timeRule],
  ['expiresAt', '2030-02-31T00:00:00Z', timeRule],
  ['paymentMethodId', 'pm_1', uuidRule],
  ['paymentMethodId', null, uuidRule],
  ['initiatedBy', 'merchant'],
  ['initiatedBy', 'provider', 'must be one of customer, merchant'],
]

const refundRows: readonly Row<CreateRefundInput>[] = [
  ['id', crypto.randomUUID()],
  ['id', 'x', uuidRule],
  ['amount', 1],
  ...[0, -1, 1.5, 2 ** 53, '100 ', null].map((value) => ['amount', value, refundRule] as const),
  ['reason', null],
  ['reason', long(500)],
  ['reason', long(501), textOf(500)],
  ['reason', 'a\nb', textOf(500)],
  ['reason', 'a\u0085b', textOf(500)],
  ['reason', 'a\ud800b', textOf(500)],
]

/** Of these fields each entrance reads every value in its own way; texts it passes on. */
const readByEach = new Set(
  'amount payable customer metadata live checkout saveCard expiresAt'.split(' '),
)

/** Rows that every entrance has to show: of a text the first that is taken, and that is refused. */
const shownByEach: ReadonlySet<Row<CreatePaymentInput>> = new Set(
  rows.filter(
    ([field, , fault], index) =>
      readByEach.has(field) ||
      index ===
        rows.findIndex(
          (one) => one[0] === field && (one[2] === undefined) === (fault === undefined),
        ),
  ),
)

/** Nothing of what they hold is in their fields: the commonest is a promise nobody awaited. */
const containers: readonly unknown[] = [
  Promise.resolve({ amount: 100 }),
  new Map([['amount', 100]]),
  new URLSearchParams({ amount: '100' }),
  [['amount', 100]],
  'amount=100',
  100,
  null,
  undefined,
]

/** Fields as they are named in the API. */
function inApi(fields: Fields, names: Readonly<Record<string, readonly [string, string]>>) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [names[name]?.[0] ?? name, value]),
  )
}

/** Fields as flags of a command; undefined where no flag can say it. */
function asFlags(
  fields: Fields,
  names: Readonly<Record<string, readonly [string, string]>>,
): readonly string[] | undefined {
  const flags = Object.entries(fields).map(([name, value]): string | undefined => {
    const flag = names[name]?.[1] ?? `--${name}`
    if (name === 'payable') return payableFlag(value)
    if (typeof value === 'object' && !(value instanceof Date)) {
      return value === null ? undefined : `${flag}=${JSON.stringify(value)}`
    }
    if (name === 'checkout') return value === false ? flag : undefined
    if (value === true) return flag
    if (value instanceof Date) return `${flag}=${value.toISOString()}`
    return typeof value === 'string' || typeof value === 'number' ? `${flag}=${value}` : undefined
  })
  return flags.every((flag) => flag !== undefined) ? flags : undefined
}

function payableFlag(value: unknown): string | undefined {
  if (typeof value === 'string') return `--payable=${value}`
  if (typeof value !== 'object' || value === null) return undefined
  return `--payable=${Object.values(value).join(':')}`
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60) ?? 'left out'

onPostgres((engine) => {
  let money: MoneyDeployment
  let core: BillingCore
  let post: (path: string, body: Fields) => Promise<unknown>
  before(async () => {
    money = await deployMoney(engine)
    writeConfig(money.deployment.cwd, { withListener: false })
    const options = {
      database: { url: money.env['DATABASE_URL'] ?? '' },
      extraGateways: [scripted, stating],
      gateways: { scripted: { api_key: 'key-of-the-scripted-gateway' } },
    }
    core = createCore(options, unhurried)
    const apiToken = 'a-token-for-the-payment-input'
    const app = createApp(core, {
      apiToken: [secret(apiToken)],
      maxBodyBytes: 100_000,
      webhookMiddleware: [],
      log: silentLog,
    })
    post = async (path, fields) => {
      const headers = { authorization: `Bearer ${apiToken}` }
      const body = JSON.stringify(fields)
      const answer = await app.request(`/billing/api${path}`, { method: 'POST', headers, body })
      return answer.status === 201 ? 'accepted' : answer.json()
    }
  })
  after(async () => {
    await core.close()
    await money[Symbol.asyncDispose]()
  })

  const inLibrary = (made: Promise<unknown>) =>
    made.then(
      () => 'accepted',
      (error: unknown) => {
        assert.ok(isQuittanceError(error), String(error))
        const { message, code, field } = error
        return field === undefined ? { message, code } : { message, code, field }
      },
    )
  const paid = async () => {
    const id = await money.create({ poll: 'paid' })
    await core.payments.poll(id)
    return id
  }
  /** Either the rule has spoken, or what reads the flag. */
  const assertCommand = async (
    args: readonly string[],
    flag: string,
    fault: string | undefined,
  ): Promise<void> => {
    const { code, stderr } = await money.run(...args)
    const line = stderr.at(-1) ?? ''
    if (fault === undefined) assert.equal(code, 0, line)
    else if (code === 1) assert.equal(line.split(' — ')[0], `quittance: ${flag} ${fault}`)
    else assert.ok(code === 2 && line.includes(flag.split(' ')[0] ?? flag), line)
  }

  describe('a payment is taken by the same rule in the library, the API and the command', () => {
    for (const row of rows) {
      const [field, value, fault, part] = row
      const verdict = fault === undefined ? 'is accepted' : fault
      test(`${field}${part === undefined ? '' : `.${part}`}: ${shown(value)} ${verdict}`, async () => {
        const fresh = () => {
          // Two payments never have the same id or reference.
          const { [field]: _, ...rest } = order
          if (value === undefined) return rest
          if (fault !== undefined || typeof value !== 'string') return { ...rest, [field]: value }
          if (field === 'id') return { ...rest, id: crypto.randomUUID() }
          if (!field.endsWith('Reference')) return { ...rest, [field]: value }
          return { ...rest, [field]: crypto.randomUUID().padEnd(value.length, 'x') }
        }
        const [apiName, flag] = payment[field]
        const path = part === undefined ? '' : `.${part}`
        const expected = (name: string) =>
          fault === undefined
            ? 'accepted'
            : {
                message: `${name}${path} ${fault}`,
                code: 'payment_invalid',
                field: `${name}${path}`,
              }
        const input = fresh() as unknown as CreatePaymentInput
        assert.deepEqual(await inLibrary(core.payments.create(input)), expected(field), 'library')
        if (!shownByEach.has(row)) return
        assert.deepEqual(await post('/payments', inApi(fresh(), payment)), expected(apiName), 'API')
        const flags = asFlags(fresh(), payment)
        if (flags === undefined) return
        const shownFlag = part === undefined ? flag : `${flag} ${part}`
        await assertCommand(['payments', 'create', ...flags], shownFlag, fault)
      })
    }

    test('a field that there is not is named', async () => {
      const unknown = { ...order, ammount: 1 }
      const meant = 'unknown field "ammount"; did you mean amount? There are '
      const expected = { message: meant, code: 'payment_invalid', field: 'ammount' }
      const input = unknown as unknown as CreatePaymentInput
      const begun = (answer: unknown) => {
        const { message, ...others } = answer as { readonly message: string }
        return { message: message.slice(0, meant.length), ...others }
      }
      assert.deepEqual(begun(await inLibrary(core.payments.create(input))), expected)
      assert.deepEqual(begun(await post('/payments', unknown)), expected)
      const nestedField = { ...order, payable: { type: 'order', id: '42', sku: 'x' } }
      const message = 'unknown field "payable.sku"; there are type, id'
      const inside = { message, code: 'payment_invalid', field: 'payable.sku' }
      const nestedInput = nestedField as unknown as CreatePaymentInput
      assert.deepEqual(await inLibrary(core.payments.create(nestedInput)), inside)
      assert.deepEqual(await post('/payments', nestedField), inside)
      const flags = asFlags(order, payment) ?? []
      const { code, stderr } = await money.run('payments', 'create', ...flags, '--ammount=1')
      assert.equal(code, 2)
      assert.match(stderr.at(-1) ?? '', /unknown option '--ammount=1'/)
    })

    test('an object that holds its content otherwise than in fields is refused', async () => {
      const code = 'payment_invalid'
      for (const value of containers) {
        const made = core.payments.create(value as CreatePaymentInput)
        const expected = { message: 'the input must be an object with fields', code }
        assert.deepEqual(await inLibrary(made), expected)
        for (const field of ['customer', 'metadata'] as const) {
          const input = { ...order, [field]: value } as unknown as CreatePaymentInput
          const message = `${field} ${objectRule}`
          // Left out, or null, it may be.
          if (value === undefined || value === null) continue
          const refused = await inLibrary(core.payments.create(input))
          assert.deepEqual(refused, { message, code, field })
        }
      }
    })

    test('the command has a flag for each field', async () => {
      const { stdout } = await money.run('payments', 'create', '--help')
      const words = stdout.join(' ').split(/[\s,]+/)
      const lacking = Object.values(payment).filter(([, flag]) => !words.includes(flag))
      assert.deepEqual(lacking, [])
    })

    test('the API knows the names of the API alone', async () => {
      const body = { ...order, returnUrl: 'http://localhost/' }
      const { message, code } = (await post('/payments', body)) as Record<string, string>
      assert.equal(code, 'payment_invalid')
      assert.match(
        message ?? '',
        /^unknown field "returnUrl"; did you mean return_url\? There are id, /,
      )
    })

    test('a field that would be lost on the way is refused', async () => {
      const lost = JSON.parse('{"__proto__":{"a":1},"sku":"x"}') as Fields
      for (const field of ['metadata', 'customer']) {
        const inside = `${field}.__proto__`
        const message = `unknown field "${inside}"`
        const wrong = { ...order, [field]: lost }
        const expected = { message, code: 'payment_invalid', field: inside }
        assert.deepEqual(await post('/payments', wrong), expected)
        const input = wrong as unknown as CreatePaymentInput
        assert.deepEqual(await inLibrary(core.payments.create(input)), expected)
      }
    })
  })

  describe('a repeated payment', () => {
    type Compared = Exclude<keyof CreatePaymentInput, 'id' | 'initiatedBy' | 'paymentMethodId'>
    const first = (): CreatePaymentInput & Record<Compared, unknown> => ({
      gateway: 'scripted',
      amount: 1999n,
      currency: 'UAH',
      payable: { type: 'order', id: '42' },
      description: 'Two tickets',
      returnUrl: 'http://localhost/thanks',
      customer: { email: 'a@example.com' },
      metadata: { at: new Date('2026-11-20T09:30:00Z'), seats: [1, undefined], none: undefined },
      merchantAccount: 'acct_1',
      live: true,
      checkout: false,
      checkoutReference: `co_${crypto.randomUUID()}`,
      providerReference: `ch_${crypto.randomUUID()}`,
      expiresAt: new Date('2030-01-02T03:04:05Z'),
      saveCard: false,
    })
    const changes: Readonly<Record<Compared, unknown>> = {
      gateway: 'stating',
      amount: 2000,
      currency: 'USD',
      payable: { type: 'order', id: '43' },
      description: 'Three tickets',
      returnUrl: 'http://localhost/bye',
      customer: { email: 'b@example.com' },
      metadata: { at: new Date('2026-11-20T09:31:00Z') },
      merchantAccount: 'acct_2',
      live: false,
      checkout: true,
      checkoutReference: 'co_other',
      providerReference: 'ch_other',
      expiresAt: new Date('2030-01-02T03:04:06Z'),
      saveCard: true,
    }

    test('of the same content is the same payment', async () => {
      const input = { ...first(), id: crypto.randomUUID() }
      const made = await core.payments.create(input)
      assert.deepEqual(await core.payments.create(input), made)
    })

    test('of other content is refused, whatever differs', async () => {
      const input = { ...first(), id: crypto.randomUUID() }
      await core.payments.create(input)
      for (const [field, value] of Object.entries(changes)) {
        const again = core.payments.create({ ...input, [field]: value })
        const code = await inLibrary(again)
        assert.deepEqual(typeof code === 'string' ? code : code.code, 'payment_exists', field)
      }
    })
  })

  test('a payment that is made without a checkout has no page', async () => {
    const payable = { type: 'order', id: '42' }
    const input = { gateway: 'fake', amount: 1999n, currency: 'UAH', payable }
    assert.match((await core.payments.create(input)).checkoutUrl ?? '', /^http/)
    assert.equal((await core.payments.create({ ...input, checkout: false })).checkoutUrl, null)
  })

  test('the longest texts fit into the indexes of the database together', async () => {
    // Three bytes each, and nothing that could be compressed.
    const longest = (length: number) =>
      Array.from({ length }, () => String.fromCharCode(randomInt(0x0800, 0xd800))).join('')
    const input = order as unknown as CreatePaymentInput
    const { id } = await core.payments.create({
      ...input,
      payable: { type: longest(255), id: longest(255) },
      merchantAccount: longest(255),
      checkoutReference: longest(500),
      providerReference: longest(500),
    })
    assert.match(id, /^[0-9a-f-]{36}$/)
  })

  describe('a refund is taken by the same rule in the library, the API and the command', () => {
    /** What is refused is written nowhere: of one payment it may be asked again and again. */
    let untouched: string
    before(async () => {
      untouched = await paid()
    })
    after(async () => assert.deepEqual((await core.payments.get(untouched))?.refunds, []))
    for (const [field, value, fault] of refundRows) {
      test(`${field}: ${shown(value)} ${fault ?? 'is accepted'}`, async () => {
        const [apiName, flag] = refund[field]
        const fields = () =>
          field === 'id' && fault === undefined ? { id: crypto.randomUUID() } : { [field]: value }
        const expected = (name: string) =>
          fault === undefined
            ? 'accepted'
            : { message: `${name} ${fault}`, code: 'refund_invalid', field: name }
        const one = async () => (fault === undefined ? paid() : untouched)
        const made = core.refunds.create(await one(), fields())
        assert.deepEqual(await inLibrary(made), expected(field), 'library')
        const path = `/payments/${await one()}/refunds`
        assert.deepEqual(await post(path, inApi(fields(), refund)), expected(apiName), 'API')
        const flags = asFlags(fields(), refund)
        if (flags !== undefined) await assertCommand(['refund', await one(), ...flags], flag, fault)
      })
    }

    test('an amount that is in no field never gives the whole payment back', async () => {
      const message = 'the input must be an object with fields'
      for (const value of containers) {
        if (value === undefined) continue
        const made = core.refunds.create(untouched, value as CreateRefundInput)
        assert.deepEqual(await inLibrary(made), { message, code: 'refund_invalid' })
      }
    })

    test('a misspelt amount never gives the whole payment back', async () => {
      const message = 'unknown field "ammount"; did you mean amount? There are id, amount, reason'
      const expected = { message, code: 'refund_invalid', field: 'ammount' }
      const fields = { ammount: 100 }
      const made = core.refunds.create(untouched, fields as CreateRefundInput)
      assert.deepEqual(await inLibrary(made), expected)
      assert.deepEqual(await post(`/payments/${untouched}/refunds`, fields), expected)
    })
  })
})
