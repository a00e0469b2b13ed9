import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway, SignedCallback } from '../../src/gateways/gateway.ts'
import type { Credentials } from '../../src/gateways/credential-fields.ts'
import { createRegistry } from '../../src/gateways/registry.ts'
import { redactHeaders, redactUrl } from '../../src/intake/redact.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { allCalls, newPayment, openBilling, until, type TestBilling } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase } from '../support/databases.ts'

/** Whichever gateway they come to: those of all of them, and the usual ones. */
const always = [
  ...new Set(builtin.flatMap((one) => one.credentialHeaders)),
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-auth-token',
  'x-token',
  'x-hub-signature-256',
  'cf-access-jwt-assertion',
  'x-amz-security-token',
  'x-amzn-oidc-accesstoken',
  'ocp-apim-subscription-key',
  'x-functions-key',
  'x-secret-key',
]
const spellings = [
  (name: string) => name,
  (name: string) => name.toUpperCase(),
  (name: string) => name.replaceAll(/(^|-)[a-z]/g, (part) => part.toUpperCase()),
] as const

/** A canary for every secret that may be any text. */
function configOf(gateway: Gateway): Record<string, string> {
  const fields = Object.entries(gateway.credentials)
  const canaries = fields
    .filter(([, { secret, sample }]) => secret && sample === undefined)
    .map(([name]) => [name, `canary_of_${gateway.name}_${name}`])
  return { ...testCredentials(gateway), ...Object.fromEntries(canaries) }
}

/** Everything of the configuration that must be seen nowhere. */
function secretsOf(gateway: Gateway): readonly string[] {
  return Object.entries(configOf(gateway)).flatMap(([name, value]) =>
    gateway.credentials[name]?.secret ? [value] : [],
  )
}

function credentialsOf(gateway: Gateway): Credentials {
  return readCredentials(gateway, {}, { config: configOf(gateway), production: false })
}

function canaryHeaders(): Record<string, string> {
  return Object.fromEntries(
    always.flatMap((name) => spellings.map((spell) => [spell(name), `canary ${spell(name)}`])),
  )
}

test('credential headers are blanked in every spelling; names and other headers stay', () => {
  const plain = {
    'x-request-id': 'r1',
    'X-Authorization-Kind': 'k',
    'idempotency-key': 'i',
    'sec-websocket-key': 'w',
    'x-tokens-left': '9',
  }
  const sent = { ...canaryHeaders(), 'x-own': 'canary', ...plain }
  const own = new Set([...createRegistry(builtin, {}).credentialHeaders, 'x-own'])
  const kept = redactHeaders(sent, own)
  assert.deepEqual(Object.keys(kept), Object.keys(sent))
  const shown = Object.entries(kept).filter(([, value]) => value !== '[redacted]')
  assert.deepEqual(Object.fromEntries(shown), plain)
})

test('a credential is blanked whatever its header is called', () => {
  const jwt = ['{"alg":"none"}', '{"sub":"canary"}', 'canary']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
  const sent = {
    'x-amzn-oidc-data': jwt,
    'x-forwarded-access': `Bearer canary`,
    'x-identity': `Basic ${Buffer.from('canary:canary').toString('base64')}`,
    referer: 'https://user:canary@shop.example/a?b=1',
    'x-note': 'eyJ is no token. Nor is eyJhbGci.this',
  }
  assert.deepEqual(redactHeaders(sent, new Set()), {
    'x-amzn-oidc-data': '[redacted]',
    'x-forwarded-access': '[redacted]',
    'x-identity': '[redacted]',
    referer: 'https://[redacted]@shop.example/a?b=1',
    'x-note': 'eyJ is no token. Nor is eyJhbGci.this',
  })
})

test('a URL that a proxy passes on is blanked as our own is', () => {
  const url = (value: string) => `/billing/webhooks/stripe?v=2&token=${value}`
  const sent = { 'x-original-uri': url('canary'), referer: `https://a.example${url('canary')}` }
  const kept = { 'x-original-uri': url('[redacted]') }
  assert.deepEqual(redactHeaders(sent, new Set()), {
    ...kept,
    referer: `https://a.example${url('[redacted]')}`,
  })
})

test('a registry knows the credential headers of the gateways that it lacks, and of its own', () => {
  const [first] = builtin
  assert.ok(first)
  const own = { ...first, name: 'own', aliases: [], credentialHeaders: ['x-own-seal'] }
  const { credentialHeaders } = createRegistry([own], {})
  for (const { credentialHeaders: names } of builtin) {
    for (const name of names) assert.ok(credentialHeaders.has(name), name)
  }
  assert.ok(credentialHeaders.has('x-own-seal'))
})

test('headers are kept up to 4 KiB, long ones in part, whatever comes first', () => {
  const long = Object.fromEntries(
    Array.from({ length: 20 }, (_none, at) => [`x-${at}`, 'v'.repeat(700)]),
  )
  const kept = redactHeaders({ ['n'.repeat(9_000)]: '', ...long, host: 'h' }, new Set())
  assert.equal(kept['x-0'], `${'v'.repeat(511)}…`)
  assert.equal(kept['host'], 'h')
  assert.ok(JSON.stringify(kept).length < 5_000)
})

test('query values are blanked where the name speaks of a credential, and only there', () => {
  const blanked =
    'token TOKEN access_token accessToken x[secret] api-key apikey key signature sig Password ' +
    'client_secret auth %74oken a.jwt api_key%5B%5D'
  for (const name of blanked.split(' ')) {
    const url = redactUrl(`https://x.test/p?a=1&${name}=can=ary;b=2&${name}=canary`)
    assert.equal(url, `https://x.test/p?a=1&${name}=[redacted];b=2&${name}=[redacted]`)
  }
  for (const kept of [
    'monkey=1',
    'tokenize=1',
    'keyword=k',
    'signal=s',
    'token',
    '%zz=1',
    '=1',
    'designation=d',
  ]) {
    assert.equal(
      redactUrl(`https://x.test/token/key?${kept}&b`),
      `https://x.test/token/key?${kept}&b`,
    )
  }
  assert.equal(redactUrl('https://x.test/token=1'), 'https://x.test/token=1')
  assert.ok(redactUrl(`https://x.test/?${'q'.repeat(9_000)}`).length <= 4_096)
})

onAnyDatabase((engine) => {
  let billing: TestBilling
  const log = capturedLog()
  before(async () => {
    const gateways = Object.fromEntries(builtin.map((one) => [one.name, configOf(one)]))
    billing = await openBilling(engine, { gateways, log: log.log })
    billing.core.on('PaymentFailed', 'failing', () => {
      throw new Error('a failure, to have one in the log and on a call')
    })
    await billing.core.work()
  })
  after(() => billing.close())

  async function everythingStored(): Promise<string> {
    const { db } = billing.database
    const tables = await sql<{ name: string }>`
      select table_name as name from information_schema.tables
      where table_schema = 'billing'`.execute(db)
    assert.ok(tables.rows.length > 5)
    const texts = await Promise.all(
      tables.rows.map(async ({ name }) => {
        const { rows } = await sql<{ text: string }>`
          select to_json(row)::text as text from ${sql.table(`billing.${name}`)} as row`.execute(db)
        return rows.map((row) => row.text)
      }),
    )
    return texts.flat().join('\n')
  }

  async function send(gateway: Gateway, signed: SignedCallback): Promise<number> {
    const { status } = await billing.core.receive({
      gateway: gateway.name,
      target: `/billing/webhooks/${gateway.name}?shop=7&token=canary &api_key=canary `,
      headers: signed.headers,
      body: Buffer.from(signed.body),
    })
    return status
  }

  const attempted = () =>
    until(
      async () =>
        (await allCalls(billing.core)).every(
          ({ state, exception }) =>
            state !== 'processing' && (state !== 'pending' || exception !== null),
        ),
      { what: 'every call was tried' },
    )

  for (const gateway of builtin) {
    test(`no credential that came with a ${gateway.name} callback is stored or logged`, async () => {
      const { signer } = gateway
      assert.ok(signer)
      const sentSignatures: string[] = []
      for (const scenario of Object.keys(signer.scenarios)) {
        const payment = await newPayment(billing.core, { gateway: gateway.name })
        const credentials = credentialsOf(gateway)
        const now = new Date()
        const signed = signer.sign({ scenario, payment, credentials, now, newId: newUuid })
        sentSignatures.push(
          ...gateway.credentialHeaders.flatMap((name) => signed.headers[name] ?? []),
        )
        const canaries = canaryHeaders()
        // A second header that the verifier reads would be refused.
        const unread = Object.entries(canaries).filter(
          ([name]) => !gateway.credentialHeaders.includes(name),
        )
        const headers = { ...Object.fromEntries(unread), ...signed.headers }
        assert.equal(await send(gateway, { ...signed, headers }), 200)
        const status = await send(gateway, {
          ...signed,
          headers: { ...signed.headers, ...canaries },
        })
        assert.equal(status, gateway.credentialHeaders.length > 0 ? 403 : 200)
      }
      await attempted()

      const stored = await everythingStored()
      const logged = log.lines.map((line) => JSON.stringify(line)).join('\n')
      for (const value of [...sentSignatures, ...secretsOf(gateway), 'canary ']) {
        assert.ok(!stored.includes(value), `${JSON.stringify(value)} is stored`)
        assert.ok(!logged.includes(value), `${JSON.stringify(value)} is logged`)
      }
      assert.ok(stored.includes('"COOKIE":"[redacted]"'), 'the headers themselves are kept')
      assert.ok(stored.includes('?shop=7&token=[redacted]&api_key=[redacted]'), 'and the URL')
      assert.ok(logged.includes('attempt failed'), 'nothing was logged')
    })
  }
})
