import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { pendingPayment } from '../support/pending-payment.ts'

// Whoever holds a callback that is genuine can send it again, with whatever its signature does not
// cover put to it.

const signed = builtin.filter(({ verification }) => verification === 'signature')

const credentialsOf = (gateway: Gateway) =>
  readCredentials(gateway, {}, { production: false, config: testCredentials(gateway) })

function genuine(gateway: Gateway, scenario: string) {
  const payment = pendingPayment({ gateway: gateway.name, checkoutReference: 'p2_1' })
  const credentials = credentialsOf(gateway)
  assert.ok(gateway.signer)
  return gateway.signer.sign({ scenario, payment, credentials, now: new Date(), newId: newUuid })
}

/** Nothing that a database could pack. */
const noise = (length: number) => randomBytes(length).toString('hex').slice(0, length)
const names = (count: number, length = 40) => Array.from({ length: count }, () => noise(length))

type Padding = (body: string) => string

/** Put into the outermost object of a JSON body. */
const inJson =
  (members: () => string): Padding =>
  (body) =>
    body.replace(/\}\s*$/, () => `,${members()}}`)

const paddingsOfJson: Readonly<Record<string, Padding>> = {
  'a long text': inJson(() => `"padding":"${noise(200_000)}"`),
  'a long name': inJson(() => `"${noise(100_000)}":""`),
  'a few names': inJson(() =>
    names(20, 60)
      .map((name) => `"${name}":null`)
      .join(),
  ),
  'many names': inJson(() =>
    names(3_000)
      .map((name) => `"${name}":""`)
      .join(),
  ),
  'a nested object': inJson(
    () =>
      `"products":{${names(3_000)
        .map((name) => `"${name}":1`)
        .join()}}`,
  ),
  'a list': inJson(
    () =>
      `"padding":[${names(3_000)
        .map((name) => `"${name}"`)
        .join()}]`,
  ),
  'a signed text that came along': inJson(() => `"response_signature_string":"${noise(200_000)}"`),
  'a long token': inJson(() => `"recToken":"${noise(200_000)}"`),
  blanks: (body) => body + ' '.repeat(200_000),
  'blanks inside': (body) => body.replace('{', () => `{${' \n\t'.repeat(60_000)}`),
}

const paddingsOfForm: Readonly<Record<string, Padding>> = {
  'a long field': (body) => `${body}&padding=${noise(200_000)}`,
  'a field in front': (body) => `padding=${noise(200_000)}&${body}`,
  'a few empty fields': (body) => `${body}&${names(20, 60).join('=&')}`,
  'many fields': (body) => `${body}&${names(3_000).join('=1&')}`,
  separators: (body) => body + '&'.repeat(200_000),
}

const paddingsOf = (body: string) => (/^\s*\{/.test(body) ? paddingsOfJson : paddingsOfForm)

onPostgres((engine) => {
  const billings: TestBilling[] = []
  before(async () => {
    const gateways = Object.fromEntries(builtin.map((one) => [one.name, testCredentials(one)]))
    const key = randomBytes(32).toString('base64')
    for (const billing of [{}, { encryptionKey: key }]) {
      billings.push(await openBilling(engine, { gateways, billing, log: silentLog }))
    }
  })
  after(() => Promise.all(billings.map((billing) => billing.close())))

  async function send({ core }: TestBilling, gateway: Gateway, body: string) {
    const { headers } = genuine(gateway, Object.keys(gateway.signer?.scenarios ?? {})[0] ?? '')
    const target = `/billing/webhooks/${gateway.name}`
    const request = { gateway: gateway.name, target, headers, body: Buffer.from(body) }
    return (await core.receive(request)).status
  }

  /** Of the newest call: what of its content is kept. */
  async function newest({ database: { db } }: TestBilling) {
    const { rows } = await sql<{ payload: string | null; size: number; rows: number }>`
      select payload, (select count(*)::int from billing.webhook_calls) as rows,
        length(coalesce(payload::text, '')) + length(coalesce(body, '')) as size
      from billing.webhook_calls order by id desc limit 1`.execute(db)
    const [row] = rows
    assert.ok(row)
    return row
  }

  /** The same callback, as JSON and as a form: a sender chooses. */
  function spellingsOf(body: string): readonly string[] {
    if (!/^\s*\{/.test(body)) {
      return [body, JSON.stringify(Object.fromEntries(new URLSearchParams(body)))]
    }
    const fields = Object.entries(JSON.parse(body) as Record<string, string | number | null>)
    const texts = fields.map(([name, value]): [string, string] => [name, String(value ?? '')])
    return [body, new URLSearchParams(texts).toString()]
  }

  async function tryPaddings({
    billing,
    gateway,
    body,
  }: {
    readonly billing: TestBilling
    readonly gateway: Gateway
    readonly body: string
  }) {
    assert.equal(await send(billing, gateway, body), 200, body)
    const plain = await newest(billing)
    for (const [name, pad] of Object.entries(paddingsOf(body))) {
      const padded = pad(body)
      assert.ok(padded.length > body.length + 500)
      const status = await send(billing, gateway, padded)
      assert.ok([200, 403].includes(status), `${name}: ${status}`)
      if (status !== 200) continue
      const latest = await newest(billing)
      assert.ok(latest.payload === plain.payload, name)
      assert.ok(latest.size <= plain.size, `${name}: ${latest.size} for ${plain.size}`)
    }
  }

  for (const gateway of signed) {
    // A signature in a header covers every byte of the body.
    if (gateway.credentialHeaders.length > 0) continue
    test(`${gateway.name}: nothing that is put to a genuine callback is stored`, async () => {
      const shapes = Object.keys(gateway.signer?.scenarios ?? {}).filter((one) =>
        /^paid|card_s/.test(one),
      )
      for (const scenario of shapes) {
        const { body } = genuine(gateway, scenario)
        for (const spelling of spellingsOf(body)) {
          for (const billing of billings) await tryPaddings({ billing, gateway, body: spelling })
        }
      }
    })
  }

  for (const gateway of signed.filter(({ credentialHeaders }) => credentialHeaders.length > 0)) {
    test(`${gateway.name}: a genuine callback with anything put to it is refused`, async () => {
      const [billing] = billings
      assert.ok(billing)
      const { body, headers } = genuine(gateway, 'paid')
      for (const [name, pad] of Object.entries(paddingsOfJson)) {
        const target = `/billing/webhooks/${gateway.name}`
        const request = { gateway: gateway.name, target, headers, body: Buffer.from(pad(body)) }
        assert.notEqual((await billing.core.receive(request)).status, 200, name)
      }
    })
  }

  for (const name of ['liqpay', 'wayforpay']) {
    test(`${name}: 60 padded replays take no more room than 60 plain ones`, async () => {
      const gateway = builtin.find((one) => one.name === name)
      assert.ok(gateway)
      const { body } = genuine(gateway, 'paid')
      const pad = Object.values(paddingsOf(body))[0]
      assert.ok(pad)
      await using billing = await openBilling(engine, {
        gateways: { [name]: testCredentials(gateway) },
        log: silentLog,
      })
      const room = async () => {
        const { rows } = await sql<{ bytes: number }>`
          select pg_total_relation_size('billing.webhook_calls')::int as bytes`.execute(
          billing.database.db,
        )
        return rows[0]?.bytes ?? 0
      }
      const added = async (bodyOf: () => string) => {
        const before = await room()
        const statuses = await Promise.all(
          Array.from({ length: 60 }, () => send(billing, gateway, bodyOf())),
        )
        assert.deepEqual(new Set(statuses), new Set([200]))
        return (await room()) - before
      }
      const plain = await added(() => body)
      const padded = await added(() => pad(body))
      // Pages are 8 kB, for the table and each of its indexes.
      assert.ok(padded <= plain + 200_000, `${padded} bytes for ${plain}`)
      assert.equal((await newest(billing)).rows, 120)
    })
  }
})
