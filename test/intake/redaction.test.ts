import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Credentials, Gateway, SignedCallback } from '../../src/gateways/gateway.ts'
import { redactHeaders } from '../../src/intake/redact.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { allCalls, newPayment, openBilling, until, type TestBilling } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { forEachDatabase } from '../support/databases.ts'

const always = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key'] as const
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

function canaryHeaders(gateway: Gateway): Record<string, string> {
  const names = [...always, ...gateway.credentialHeaders]
  return Object.fromEntries(
    names.flatMap((name) => spellings.map((spell) => [spell(name), `canary ${spell(name)}`])),
  )
}

test('credential headers are blanked in every spelling; names and other headers stay', () => {
  for (const gateway of builtin) {
    const sent = { ...canaryHeaders(gateway), 'x-request-id': 'r1', 'X-Authorization-Kind': 'k' }
    const kept = redactHeaders(sent, gateway.credentialHeaders)
    assert.deepEqual(Object.keys(kept), Object.keys(sent))
    const shown = Object.entries(kept).filter(([, value]) => value !== '[redacted]')
    assert.deepEqual(shown, [
      ['x-request-id', 'r1'],
      ['X-Authorization-Kind', 'k'],
    ])
  }
})

forEachDatabase((engine) => {
  let billing: TestBilling
  const log = capturedLog()
  before(async () => {
    const gateways = Object.fromEntries(builtin.map((one) => [one.name, configOf(one)]))
    billing = await openBilling(engine, { gateways, log: log.log })
    billing.core.on(
      'PaymentFailed',
      () => {
        throw new Error('a failure, to have one in the log and on a call')
      },
      { name: 'failing' },
    )
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
      target: `/billing/webhooks/${gateway.name}`,
      headers: signed.headers,
      body: Buffer.from(signed.body),
    })
    return status
  }

  const attempted = () =>
    until(
      async () =>
        (await allCalls(billing.core)).every(
          ({ state, attempts }) => state !== 'processing' && (state !== 'pending' || attempts > 0),
        ),
      { what: 'every call was attempted' },
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
        const canaries = canaryHeaders(gateway)
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
      assert.ok(logged.includes('attempt failed'), 'nothing was logged')
    })
  }
})
