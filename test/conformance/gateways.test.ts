import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { accountOf, driverOf } from '../../src/gateways/accounts.ts'
import { isJsonObject, numberTextOf, type JsonValue } from '../../src/gateways/body/json.ts'
import type { Payload } from '../../src/gateways/body/payload.ts'
import { readStored } from '../../src/gateways/body/read-stored.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { notConfigured, readCredentials } from '../../src/gateways/credentials.ts'
import { descriptorFault } from '../../src/gateways/descriptor.ts'
import type { Gateway, RawRequest, SignedCallback, Verdict } from '../../src/gateways/gateway.ts'
import type { Credentials } from '../../src/gateways/credential-fields.ts'
import { createRegistry } from '../../src/gateways/registry.ts'
import { maskCardData } from '../../src/intake/mask-card-data.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { matchRefund } from '../../src/payments/match-refund.ts'
import { accountMismatch, decide } from '../../src/payments/transition.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { nobody, signInput } from '../providers/kit.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import { anyText } from '../support/any-text.ts'

// One suite for every gateway: a new one is held to all of it by its line in builtin.ts. An account
// of it is held to the same.

const accounts = builtin.map((gateway) => accountOf(gateway, `${gateway.name}-eu`))

const now = new Date('2026-11-20T12:00:00Z')

function credentialsOf(gateway: Gateway, owner = 'merchant'): Credentials {
  const config = { ...testCredentials(gateway, owner), ...nobody(gateway) }
  return readCredentials(gateway, {}, { production: false, config })
}

const id = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01'

const paymentOf = (gateway: Gateway) =>
  pendingPayment({
    id,
    checkout: 'open',
    gateway: gateway.name,
    ...gateway.account(credentialsOf(gateway)),
    // Odd, so that a half and the rest differ.
    amount: 123_457n,
    currency: 'UAH',
    checkoutReference: gateway.signer?.checkoutReferenceOf?.(id) ?? null,
  })

const shares: ReadonlyMap<bigint | undefined, string> = new Map([
  [123_457n, ''],
  [61_728n, ' half'],
  [61_729n, ' rest'],
])

/** In the words of `Scenario.means`: `payment:paid`, `refund:paid half`, `ignored:no_outcome`. */
function wordOf(outcome: Outcome): string {
  if (outcome.type === 'ignored') return `ignored:${outcome.reason}`
  if (outcome.type === 'subscription') return outcome.type
  const word = `${outcome.type}:${outcome.status}`
  if (outcome.type === 'payment_method') return word
  const amount =
    outcome.type === 'refund' && 'refundedTotal' in outcome ? outcome.refundedTotal : outcome.amount
  if (amount === undefined) {
    assert.ok(outcome.status !== 'paid' || 'amountIs' in outcome, word)
    return word
  }
  const share = shares.get(amount)
  assert.ok(
    share !== undefined && outcome.currency === 'UAH',
    `${word} ${amount} ${outcome.currency}`,
  )
  return word + share
}

/** `nothing`, if no outcome decides anything: a document decides nothing. */
function decidedBy(outcomes: readonly Outcome[]): string {
  const deciding = outcomes.filter(({ type }) => type !== 'ignored' && type !== 'invoice')
  return deciding.length === 0 ? 'nothing' : inspect(deciding)
}

function failureOf(error: unknown): string {
  if (!isQuittanceError(error)) throw error
  return error.code
}

/** What an outcome decides: all of it but what only describes. */
function decidingPart(outcome: Outcome): unknown {
  if (outcome.type === 'ignored') return outcome.reason
  if (outcome.type === 'payment_method') return [outcome.type, outcome.status]
  return outcome
}

function signWith(gateway: Gateway, credentials: Credentials, scenario?: string): SignedCallback {
  assert.ok(gateway.signer, `${gateway.name} can sign test callbacks`)
  const [usual = ''] = Object.keys(gateway.signer.scenarios)
  const fields = { scenario: scenario ?? usual, payment: paymentOf(gateway) }
  return gateway.signer.sign(signInput(credentials, fields))
}

function requestOf({ headers, body }: SignedCallback): RawRequest {
  return { headers, body: Buffer.from(body, 'utf8') }
}

function isValid(verdict: Verdict): boolean {
  return 'valid' in verdict && verdict.valid
}

/** The reason of a refusal: one plain word for the log, with nothing of the request. */
function refusalOf(verdict: Verdict, about: string): string {
  assert.ok('valid' in verdict && !verdict.valid, `${about}: refused`)
  assert.match(verdict.reason, /^[a-z][a-z0-9_]{0,59}$/, about)
  return verdict.reason
}

function interpretWith(gateway: Gateway, request: RawRequest): Promise<readonly Outcome[]> {
  const context = {
    credentials: credentialsOf(gateway),
    log: silentLog,
    signal: AbortSignal.timeout(60_000),
  }
  return gateway.interpret(gateway.parse(request), context)
}

/** What a payload means to a gateway whose provider cannot be asked. */
async function meaningOf(gateway: Gateway, payload: Payload): Promise<string> {
  const context = {
    credentials: credentialsOf(gateway),
    log: silentLog,
    signal: AbortSignal.timeout(60_000),
  }
  const meant = gateway.interpret(payload, context).catch(failureOf)
  return inspect(await meant, { depth: 9 })
}

/** The payload as a stored call gives it; a form reads like JSON of its fields. */
function storedAs(gateway: Gateway, signed: SignedCallback): Extract<Payload, { kind: 'json' }> {
  const parsed = gateway.parse(requestOf(signed))
  assert.ok(parsed.kind !== 'unreadable')
  const stored = readStored('json', parsed.text)
  assert.ok(stored.kind === 'json')
  return stored
}

/** The same value; its objects note the names by which texts and numbers are asked for. */
function recorded(value: JsonValue, names: Set<string>): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => recorded(item, names))
  if (!isJsonObject(value)) return value
  const members = Array.from(value, ([name, member]) => [name, recorded(member, names)] as const)
  const object = new Map(members)
  const get = object.get.bind(object)
  object.get = (name) => {
    const member = get(name)
    const isPlain = typeof member === 'string' || numberTextOf(member) !== undefined
    if (isPlain && member !== '') names.add(name)
    return member
  }
  return object
}

const cardNumber = '4111111111111111'

/** The text with each of its values, one after the other, as a card's number, or with one in it. */
function withCardNumbers(text: string): readonly string[] {
  const values = /(?<=:\s*)(?:"(?:[^"\\]|\\.)*"|\d[\d.]*)/g
  return Array.from(text.matchAll(values)).flatMap(({ 0: value, index }) => {
    const put = (other: string) => text.slice(0, index) + other + text.slice(index + value.length)
    const within = value.startsWith('"') ? [put(`${value.slice(0, -1)} ${cardNumber}"`)] : []
    return [put(value.startsWith('"') ? `"${cardNumber}"` : cardNumber), ...within]
  })
}

const headerTexts = fc.oneof(fc.string(), anyText(), fc.lorem())
const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.webQueryParameters().map((text) => Buffer.from(text)),
)

function headersOf(gateway: Gateway): fc.Arbitrary<Record<string, string>> {
  const names = fc.constantFrom(...gateway.credentialHeaders, 'content-type', 'authorization')
  return fc.dictionary(names, headerTexts)
}

test('no environment variable belongs to two gateways', () => {
  const all = builtin.flatMap(({ credentials }) =>
    Object.values(credentials).flatMap(({ env }) => env),
  )
  assert.deepEqual(all.toSorted(), [...new Set(all)].toSorted())
})

test('no name or alias belongs to two gateways', () => {
  const all = [...builtin, ...accounts]
  assert.equal(createRegistry(all, {}).list().length, all.length)
})

for (const gateway of [...builtin, ...accounts]) {
  describe(gateway.name, () => {
    const held = heldToItsReasons(gateway)
    declareForAll(held)
    if (held.verification === 'signature') declareForSigned(held)
  })
}

function isAccount(gateway: Gateway): boolean {
  return driverOf(gateway) !== gateway.name
}

/** The same, which refuses for no other reason than those that it lists. */
function heldToItsReasons(gateway: Gateway): Gateway {
  const { name, refusalReasons } = gateway
  assert.ok(refusalReasons !== undefined, `${name} lists its reasons`)
  return {
    ...gateway,
    async verify(...given) {
      const verdict = await gateway.verify(...given)
      const reason = reasonOf(verdict)
      assert.ok(reason === undefined || refusalReasons.includes(reason), `${name}: ${reason}`)
      return verdict
    },
  }
}

function reasonOf(verdict: Verdict): string | undefined {
  if ('unavailable' in verdict) return verdict.unavailable
  return 'reason' in verdict ? verdict.reason : undefined
}

interface Carried {
  /** As it stands in the body, between its marks. */
  readonly text: string
  readonly put: (signature: string) => Uint8Array
}

/** The signature that a body carries by itself: what differs where another secret has signed it. */
function signatureIn(gateway: Gateway): Carried {
  const config = testCredentials(gateway, 'merchant')
  const strangers = testCredentials(gateway, 'stranger')
  const secrets = Object.keys(config).filter((field) => gateway.credentials[field]?.secret === true)
  const changed = Object.fromEntries(secrets.map((field) => [field, strangers[field] ?? '']))
  const [body, other] = [config, { ...config, ...changed }].map(
    (each) =>
      signWith(gateway, readCredentials(gateway, {}, { production: false, config: each })).body,
  )
  assert.ok(body !== undefined && other !== undefined)
  const isJson = body.startsWith('{')
  const differs = Array.from(body).findIndex((character, at) => character !== other[at])
  const start = body.lastIndexOf(isJson ? '"' : '=', differs) + 1
  const after = body.slice(start)
  const text = (isJson ? /^(?:[^"\\]|\\.)*/ : /^[^&]*/).exec(after)?.[0] ?? ''
  assert.notEqual(text, '', 'the body carries a signature')
  const spelled = (signature: string) =>
    isJson ? JSON.stringify(signature).slice(1, -1) : encodeURIComponent(signature)
  return {
    text: isJson ? (JSON.parse(`"${text}"`) as string) : decodeURIComponent(text),
    put: (signature) =>
      Buffer.from(body.slice(0, start) + spelled(signature) + after.slice(text.length)),
  }
}

/** How many fields of a payload the gateway does not read. */
function fieldsBeside({ readFields }: Gateway, value: JsonValue): number {
  const names = new Set<string>()
  collect(value, names)
  return [...names].filter((name) => readFields?.includes(name) !== true).length
}

function collect(value: JsonValue, names: Set<string>): void {
  if (Array.isArray(value)) value.forEach((item: JsonValue) => collect(item, names))
  if (!isJsonObject(value)) return
  for (const [name, member] of value) {
    if (typeof member === 'string' || numberTextOf(member) !== undefined) names.add(name)
    collect(member, names)
  }
}

function damagesOf(text: string): readonly string[] {
  return Array.from(text, (character, at) => [
    text.slice(0, at) + (character === '1' ? '2' : '1') + text.slice(at + 1),
    text.slice(0, at) + text.slice(at + 1),
  ]).flat()
}

function declareForAll(gateway: Gateway): void {
  const { name } = gateway
  const credentials = credentialsOf(gateway)

  test(`${name} has a whole descriptor and a README in its own folder`, () => {
    assert.equal(descriptorFault(gateway), undefined)
    const readme = new URL(`../../src/gateways/${driverOf(gateway)}/README.md`, import.meta.url)
    assert.ok(readFileSync(readme, 'utf8').length > 200)
  })

  test(`${name} verifies, parses and acknowledges whatever comes without throwing`, async () => {
    const requests = fc.record({ headers: headersOf(gateway), body: bodies })
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        for (const using of [credentials, notConfigured]) {
          const verdict = await gateway.verify(request, using, now)
          const complains = 'malformed' in verdict
          assert.ok(!complains || gateway.verification === 'none')
          const payload = gateway.parse(request)
          assert.ok(gateway.acknowledge(payload, using, now).body.length > 0)
        }
      }),
    )
  })

  test(`${name} interprets any JSON, and damaged callbacks of its own, without throwing`, async () => {
    const own = signWith(gateway, credentials).body
    const damaged = fc
      .tuple(fc.nat(own.length), fc.nat(20), fc.constantFrom('', 'null', '[]', '{}', '"', '-1'))
      .map(([at, length, text]) => own.slice(0, at) + text + own.slice(at + length))
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), damaged), async (text) => {
        const outcomes = await interpretWith(gateway, { headers: {}, body: Buffer.from(text) })
        assert.ok(outcomes.length > 0)
      }),
    )
  })

  test(`${name} parses the same way each time, and stored calls read as they came`, () => {
    fc.assert(
      fc.property(
        fc.oneof(bodies, fc.constant(requestOf(signWith(gateway, credentials)).body)),
        (body) => {
          const wire = gateway.parse({ headers: {}, body })
          assert.deepEqual(gateway.parse({ headers: {}, body }), wire)
          if (wire.kind === 'unreadable') return
          const stored = readStored(wire.kind, wire.text)
          assert.ok(stored.kind === wire.kind)
          assert.deepEqual(stored.value, wire.value)
        },
      ),
    )
  })

  test(`${name} reads exactly the headers that it declares as credentials`, async () => {
    const request = requestOf(signWith(gateway, credentials))
    const read = new Set<string>()
    const headers = new Proxy(request.headers, {
      get: (target, key) => {
        read.add(String(key))
        return Reflect.get(target, key) as unknown
      },
    })
    assert.ok(isValid(await gateway.verify({ ...request, headers }, credentials, now)))
    assert.deepEqual([...read].toSorted(), [...gateway.credentialHeaders].toSorted())
  })

  test(`${name} signs test callbacks that verify and mean what the scenario says`, async () => {
    const scenarios = Object.entries(gateway.signer?.scenarios ?? {})
    assert.ok(scenarios.length > 0)
    for (const [scenario, { means }] of scenarios) {
      const request = requestOf(signWith(gateway, credentials, scenario))
      assert.ok(isValid(await gateway.verify(request, credentials, now)), scenario)
      const meant = await interpretWith(gateway, request).catch(failureOf)
      if (means === 'looked up') {
        // Nobody answers, or nobody can be asked: without the key of an API nothing is stated.
        const about = typeof meant === 'string' ? meant : decidedBy(meant)
        assert.ok(about === 'provider_unreachable' || about === 'nothing', scenario)
        continue
      }
      assert.ok(typeof meant !== 'string', scenario)
      assert.deepEqual(meant.map(wordOf), means, scenario)
      for (const outcome of meant) assertApplies(gateway, outcome, scenario)
    }
  })

  test(`${name} has no other scenarios, and says which it has`, () => {
    const [usual = ''] = Object.keys(gateway.signer?.scenarios ?? {})
    for (const scenario of ['', 'toString', usual.toUpperCase()]) {
      const message = new RegExp(`has no scenario ${scenario}; it has ${usual}, `)
      assert.throws(() => signWith(gateway, credentials, scenario), { code: 'usage', message })
    }
  })

  test(`${name} reads no field that it does not name, so that masking changes no meaning`, async () => {
    const read = new Set<string>()
    for (const scenario of Object.keys(gateway.signer?.scenarios ?? {})) {
      const payload = storedAs(gateway, signWith(gateway, credentials, scenario))
      await meaningOf(gateway, { ...payload, value: recorded(payload.value, read) })
    }
    const named = new Set(gateway.readFields)
    assert.deepEqual(
      [...read].filter((field) => !named.has(field)),
      [],
    )
    assert.ok(read.size > 1)
  })

  test(`${name} refuses everything while it is not configured`, async () => {
    const request = requestOf(signWith(gateway, credentials))
    const blank = Object.values(gateway.credentials).flatMap(({ env }) =>
      env.map((key) => [key, ' ']),
    )
    const fromBlank = readCredentials(gateway, Object.fromEntries(blank), { production: true })
    for (const using of [notConfigured, fromBlank]) {
      assert.equal(using.configured, false)
      refusalOf(await gateway.verify(request, using, now), 'not configured')
    }
  })

  // Its functions are the gateway's own (accounts.test.ts): what costs most is shown once.
  if (isAccount(gateway)) return

  test(`${name} means the same with a card's number anywhere, masked or not`, async () => {
    let masked = 0
    let others = 0
    for (const scenario of Object.keys(gateway.signer?.scenarios ?? {})) {
      const sample = storedAs(gateway, signWith(gateway, credentials, scenario))
      others += fieldsBeside(gateway, sample.value)
      for (const text of withCardNumbers(sample.text)) {
        const payload = readStored('json', text)
        assert.ok(payload.kind === 'json')
        const kept = maskCardData(text, gateway.readFields)
        if (kept === text) continue
        masked += 1
        const meant = await meaningOf(gateway, payload)
        assert.equal(await meaningOf(gateway, readStored('json', kept)), meant, kept)
      }
    }
    assert.equal(masked > 0, others > 0, 'what is not read is masked')
  })
}

/** Whether a setting may hold an old and a new value: a secret, or the sender's public key. */
function isRotating(gateway: Gateway, name: string): boolean {
  const field = gateway.credentials[name]
  return field?.secret === true || (name === 'public_key' && field?.requiredUnless !== undefined)
}

/** It is about the payment that it was signed for, and nothing stands against it. */
function assertApplies(gateway: Gateway, outcome: Outcome, scenario: string): void {
  const payment = paymentOf(gateway)
  if (outcome.type === 'ignored') return
  if (outcome.type === 'payment' && outcome.renews !== undefined) {
    const first = outcome.renews === 'subscription' ? outcome.claimed : outcome.renews
    assert.partialDeepStrictEqual(first, { id }, scenario)
  } else if (outcome.type === 'payment') {
    assert.deepEqual(decide(payment, gateway.name, outcome), { kind: 'move' }, scenario)
    return
  }
  assert.equal(accountMismatch(payment, gateway.name, outcome), undefined, scenario)
  if (outcome.type === 'refund') {
    assert.equal(matchRefund(outcome, payment, []).kind, 'new', scenario)
  }
}

function declareForSigned(gateway: Gateway): void {
  const { name } = gateway
  const credentials = credentialsOf(gateway)
  const request = requestOf(signWith(gateway, credentials))
  const verify = (changed: Partial<RawRequest>, using = credentials) =>
    gateway.verify({ ...request, ...changed }, using, now)

  test(`${name} signs nothing while it is not configured`, () => {
    const needed = Object.values(gateway.credentials).flatMap(
      ({ env: [variable = ''], required }) => (required ? [variable] : []),
    )
    const unset = readCredentials(gateway, {}, { production: true })
    assert.throws(
      () => signWith(gateway, unset),
      (error) => {
        assert.ok(isQuittanceError(error))
        assert.match(error.code, /^(?:gateway_not_configured|gateway_cannot_sign)$/)
        const text = `${error.message} ${error.fix}`
        return needed.every((variable) => text.includes(variable))
      },
    )
  })

  test(`${name} refuses a callback without a signature, or with an empty or random one`, async () => {
    const { credentialHeaders } = gateway
    if (credentialHeaders.length > 0) refusalOf(await verify({ headers: {} }), 'no headers')
    for (const text of ['', ' ', '0', 'true', 'null', 'undefined', '[]', '{}', '0e123', 'zz']) {
      for (const header of credentialHeaders) {
        refusalOf(await verify({ headers: { [header]: text } }), JSON.stringify(text))
      }
      if (credentialHeaders.length === 0) {
        refusalOf(await verify({ body: signatureIn(gateway).put(text) }), JSON.stringify(text))
      }
    }
    if (credentialHeaders.length === 0) return
    await fc.assert(
      fc.asyncProperty(headersOf(gateway), async (headers) => {
        refusalOf(await verify({ headers }), JSON.stringify(headers))
      }),
    )
  })

  test(`${name} refuses signatures of another merchant and of another gateway`, async () => {
    const stranger = credentialsOf(gateway, 'stranger')
    refusalOf(await verify(requestOf(signWith(gateway, stranger))), 'another merchant')
    refusalOf(await verify({}, stranger), 'verified for another merchant')
    for (const other of builtin) {
      if (driverOf(other) === driverOf(gateway)) continue
      refusalOf(await verify(requestOf(signWith(other, credentialsOf(other)))), other.name)
    }
  })

  test(`${name} refuses a signature of which any character is changed or lost`, async () => {
    const carried = gateway.credentialHeaders.filter((header) => request.headers[header])
    for (const header of carried) {
      for (const changed of damagesOf(request.headers[header] ?? '')) {
        const headers = { ...request.headers, [header]: changed }
        refusalOf(await verify({ headers }), changed)
      }
    }
    if (carried.length > 0) return
    const { text, put } = signatureIn(gateway)
    assert.ok(isValid(await verify({ body: put(text) })))
    for (const changed of damagesOf(text)) {
      refusalOf(await verify({ body: put(changed) }), changed)
    }
  })

  test(`${name} reads the signed part of a callback as the whole, and its signature holds`, async () => {
    for (const scenario of Object.keys(gateway.signer?.scenarios ?? {})) {
      const whole = requestOf(signWith(gateway, credentials, scenario))
      const verdict = await gateway.verify(whole, credentials, now)
      assert.ok('valid' in verdict && verdict.valid, scenario)
      const part = { ...whole, body: verdict.signedBody ?? whole.body }
      assert.deepEqual(await gateway.verify(part, credentials, now), verdict, scenario)
      const meant = async (of: RawRequest) =>
        inspect(await interpretWith(gateway, of).catch(failureOf), { depth: 9 })
      assert.equal(await meant(part), await meant(whole), scenario)
      const answer = (of: RawRequest) => gateway.acknowledge(gateway.parse(of), credentials, now)
      assert.deepEqual(answer(part), answer(whole), scenario)
    }
  })

  test(`${name} takes a signature of each configured secret, and names none in its refusals`, async () => {
    const rotated = testCredentials(gateway, 'rotated')
    const config = Object.fromEntries(
      Object.entries(testCredentials(gateway, 'merchant')).map(([name, value]) => [
        name,
        isRotating(gateway, name) ? `${rotated[name]},${value}` : value,
      ]),
    )
    const both = readCredentials(gateway, {}, { production: true, config })
    assert.ok(isValid(await verify({}, both)))
    const refusals = await Promise.all([
      verify({ headers: {}, body: request.body.subarray(1) }, both),
      verify({ body: new Uint8Array() }, both),
    ])
    for (const verdict of refusals)
      assert.doesNotMatch(refusalOf(verdict, 'refused'), /(?:rotated|merchant)_\w+_of_/)
  })

  if (isAccount(gateway)) return

  test(`${name} never claims that an amount is whatever was charged`, () => {
    const folder = new URL(`../../src/gateways/${driverOf(gateway)}/`, import.meta.url)
    const sources = globSync('**/*.ts', { cwd: folder }).map((file) =>
      readFileSync(new URL(file, folder), 'utf8'),
    )
    assert.ok(sources.length > 0)
    for (const source of sources) assert.doesNotMatch(source, /as_charged|amountIs/)
  })

  // Where a header signs the raw bytes, nothing may change. Where fields of the body are signed, a
  // blank between them may; but whatever is accepted must mean the same.
  test(`${name} accepts no body of which a flipped, lost or added byte changes the meaning`, async () => {
    const signsBytes = gateway.credentialHeaders.length > 0
    const meant = (await interpretWith(gateway, request)).map(decidingPart)
    const changes = [
      ...Array.from(request.body, (byte, at) => request.body.with(at, byte ^ 1)),
      request.body.subarray(1),
      request.body.subarray(0, -1),
      Buffer.concat([request.body, Buffer.from('\n')]),
      new Uint8Array(),
    ]
    let refused = 0
    for (const body of changes) {
      const verdict = await verify({ body })
      if (isValid(verdict)) {
        const about = Buffer.from(body).toString()
        assert.ok(!signsBytes, about)
        const outcomes = await interpretWith(gateway, { ...request, body })
        assert.deepEqual(outcomes.map(decidingPart), meant, about)
      } else {
        refusalOf(verdict, 'changed')
        refused += 1
      }
    }
    assert.ok(refused > changes.length / 4, `${refused} of ${changes.length} refused`)
  })
}
