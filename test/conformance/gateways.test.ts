import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readStored } from '../../src/gateways/body/read-stored.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { notConfigured, readCredentials } from '../../src/gateways/credentials.ts'
import { descriptorFault } from '../../src/gateways/descriptor.ts'
import type {
  Credentials,
  Gateway,
  RawRequest,
  SignedCallback,
  SignInput,
  Verdict,
} from '../../src/gateways/gateway.ts'
import { createRegistry } from '../../src/gateways/registry.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { decide } from '../../src/payments/transition.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { pendingPayment } from '../support/pending-payment.ts'

// One suite for every gateway: a new one is held to all of it by its line in builtin.ts and, for
// what its test callbacks mean, by its entry here.

const statusOfScenario: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fake: { success: 'paid', failure: 'failed' },
  stripe: {
    paid: 'paid',
    intent_paid: 'paid',
    async_paid: 'paid',
    async_failed: 'failed',
    expired: 'canceled',
    declined: 'failed',
    canceled: 'canceled',
  },
}

const now = new Date('2026-11-20T12:00:00Z')

function credentialsOf(gateway: Gateway, owner = 'merchant'): Credentials {
  return readCredentials(
    gateway,
    {},
    { production: false, config: testCredentials(gateway, owner) },
  )
}

const paymentOf = ({ name }: Gateway) =>
  pendingPayment({ gateway: name, live: false, amount: 123_456n, currency: 'UAH' })

function signWith(gateway: Gateway, credentials: Credentials, scenario?: string): SignedCallback {
  assert.ok(gateway.signer, `${gateway.name} can sign test callbacks`)
  const input: SignInput = {
    scenario: scenario ?? Object.keys(gateway.signer.scenarios)[0] ?? '',
    payment: paymentOf(gateway),
    credentials,
    now,
    newId: () => '0198f0aa-0000-7000-8000-000000000001',
  }
  return gateway.signer.sign(input)
}

function requestOf({ headers, body }: SignedCallback): RawRequest {
  return { headers, body: Buffer.from(body, 'utf8') }
}

function isValid(verdict: Verdict): boolean {
  return 'valid' in verdict && verdict.valid
}

/** The reason of a refusal: one plain word for logs and metrics, with nothing of the request. */
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

const headerTexts = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.lorem())
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
  assert.equal(createRegistry(builtin, {}).list().length, builtin.length)
})

for (const gateway of builtin) {
  describe(gateway.name, () => {
    declareForAll(gateway)
    if (gateway.verification === 'signature') declareForSigned(gateway)
  })
}

function declareForAll(gateway: Gateway): void {
  const { name } = gateway
  const credentials = credentialsOf(gateway)

  test(`${name} has a whole descriptor and a README in its own folder`, () => {
    assert.equal(descriptorFault(gateway), undefined)
    const readme = new URL(`../../src/gateways/${name}/README.md`, import.meta.url)
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

  test(`${name} signs test callbacks that verify, and settle a payment as the scenario says`, async () => {
    const expected = statusOfScenario[name] ?? {}
    const scenarios = Object.keys(gateway.signer?.scenarios ?? {})
    assert.ok(scenarios.length > 0)
    assert.deepEqual(scenarios.toSorted(), Object.keys(expected).toSorted())
    for (const scenario of scenarios) {
      const request = requestOf(signWith(gateway, credentials, scenario))
      assert.ok(isValid(await gateway.verify(request, credentials, now)), scenario)
      const [outcome, ...more] = await interpretWith(gateway, request)
      assert.deepEqual(more, [])
      assert.ok(outcome?.type === 'payment', scenario)
      assert.equal(outcome.status, expected[scenario], scenario)
      assert.deepEqual(decide(paymentOf(gateway), name, outcome), { kind: 'move' }, scenario)
    }
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
}

function declareForSigned(gateway: Gateway): void {
  const { name } = gateway
  const credentials = credentialsOf(gateway)
  const request = requestOf(signWith(gateway, credentials))
  const verify = (changed: Partial<RawRequest>, using = credentials) =>
    gateway.verify({ ...request, ...changed }, using, now)

  test(`${name} refuses a callback without a signature, or with an empty or random one`, async () => {
    refusalOf(await verify({ headers: {} }), 'no headers')
    for (const header of gateway.credentialHeaders) {
      for (const text of ['', ' ', '0', 'true', 'null', 'undefined', '[]', '{}', '0e123', 'zz']) {
        refusalOf(await verify({ headers: { [header]: text } }), JSON.stringify(text))
      }
    }
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
      if (other === gateway) continue
      refusalOf(await verify(requestOf(signWith(other, credentialsOf(other)))), other.name)
    }
  })

  test(`${name} refuses a signature of which any character is changed or lost`, async () => {
    const carried = gateway.credentialHeaders.filter((header) => request.headers[header])
    assert.ok(carried.length > 0)
    for (const header of carried) {
      const text = request.headers[header] ?? ''
      for (let at = 0; at < text.length; at += 1) {
        const swapped = text[at] === '1' ? '2' : '1'
        for (const change of [swapped, '']) {
          const changed = text.slice(0, at) + change + text.slice(at + 1)
          const headers = { ...request.headers, [header]: changed }
          refusalOf(await verify({ headers }), changed)
        }
      }
    }
  })

  test(`${name} refuses a body of which any byte is flipped, lost or added`, async () => {
    for (let at = 0; at < request.body.length; at += 1) {
      const flipped = Uint8Array.from(request.body)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      refusalOf(await verify({ body: flipped }), `byte ${at}`)
    }
    refusalOf(await verify({ body: request.body.subarray(1) }), 'first byte lost')
    refusalOf(await verify({ body: request.body.subarray(0, -1) }), 'last byte lost')
    refusalOf(await verify({ body: Buffer.concat([request.body, Buffer.from('\n')]) }), 'line end')
    refusalOf(await verify({ body: new Uint8Array() }), 'empty')
  })

  test(`${name} takes a signature of each configured secret, and names none in its refusals`, async () => {
    const rotated = testCredentials(gateway, 'rotated')
    const config = Object.fromEntries(
      Object.entries(testCredentials(gateway, 'merchant')).map(([name, value]) => [
        name,
        gateway.credentials[name]?.secret ? `${rotated[name]},${value}` : value,
      ]),
    )
    const both = readCredentials(gateway, {}, { production: true, config })
    assert.ok(isValid(await verify({}, both)))
    const refusals = await Promise.all([
      verify({ headers: {} }, both),
      verify({ body: new Uint8Array() }, both),
    ])
    for (const verdict of refusals)
      assert.doesNotMatch(refusalOf(verdict, 'refused'), /(?:rotated|merchant)_\w+_of_/)
  })

  test(`${name} never claims that an amount is whatever was charged`, () => {
    const folder = new URL(`../../src/gateways/${name}/`, import.meta.url)
    const sources = globSync('**/*.ts', { cwd: folder }).map((file) =>
      readFileSync(new URL(file, folder), 'utf8'),
    )
    assert.ok(sources.length > 0)
    for (const source of sources) assert.doesNotMatch(source, /as_charged|amountIs/)
  })
}
