import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { writeRefusal, type RefusalSample } from '../../src/database/refusals.ts'
import { sampleRefusals } from '../../src/intake/sample-refusals.ts'
import { newPayment, openBilling, sendFake, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { tableTexts } from '../support/table-texts.ts'
import { forEachWay, signingSecret, startService } from '../http/service.ts'

const canary = 'canary4c1d'
const gateways = { stripe: { signing_secret: signingSecret } }
const sample: RefusalSample = {
  gateway: 'stripe',
  reason: 'signature_missing',
  name: null,
  network: '203.0.113.0/24',
  bodyBytes: 12,
  contentType: 'application/json',
  headerNames: ['content-type'],
  hasSignature: false,
  clockSkewSeconds: null,
}

function refusal(reason: string, name = 'stripe') {
  return { gateway: { name, credentialHeaders: [] }, name, reason }
}

async function rowsOf({ db }: Database): Promise<number> {
  const { rows } = await sql`select from billing.refusals`.execute(db)
  return rows.length
}

onAnyDatabase((engine) => {
  describe('samples of refused callbacks', () => {
    test('a refused callback is sampled without its body, its query and the values of its headers', async () => {
      await using billing = await openBilling(engine, { gateways })
      const { core, database } = billing
      const callback = {
        gateway: 'stripe',
        target: `/billing/webhooks/stripe?token=${canary}`,
        body: Buffer.from(JSON.stringify({ token: canary })),
        sender: { remoteAddress: '203.0.113.77' },
      }
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${canary}`,
        'x-forwarded-for': canary,
        cookie: canary,
      }
      const begun = Date.now()
      const old = Math.floor(begun / 1000) - 3_600
      const signature = `t=${old},v1=${Buffer.from(canary.repeat(4)).toString('hex').slice(0, 64)}`
      assert.equal((await core.receive({ ...callback, headers })).status, 403)
      const signed = { ...headers, 'stripe-signature': signature }
      assert.equal((await core.receive({ ...callback, headers: signed })).status, 403)
      const unknown = `${canary.slice(0, 3)}\u202e${'x'.repeat(200)}`
      assert.equal((await core.receive({ ...callback, gateway: unknown, headers })).status, 404)
      await until(async () => (await core.inspect.refusals()).samples.length === 3, {
        what: 'all are written',
      })
      const { samples } = await core.inspect.refusals()
      const of = (reason: string) => samples.find((one) => one.reason === reason)
      const missing = of('signature_missing')
      assert.ok(missing)
      const { at, ...shown } = missing
      const took = Date.now() - begun
      assert.ok(at.getTime() >= begun - 1 && at.getTime() <= begun + took + 1)
      assert.deepEqual(shown, {
        ...sample,
        bodyBytes: callback.body.byteLength,
        headerNames: ['content-type', 'authorization', 'x-forwarded-for', 'cookie'],
      })
      const late = of('timestamp_too_old')
      assert.ok(late?.hasSignature)
      const behind = -(late.clockSkewSeconds ?? 0)
      assert.ok(behind >= 3_600 && behind <= 3_601 + took / 1000, String(behind))
      const lost = of('unknown_gateway')
      assert.deepEqual([lost?.gateway, lost?.hasSignature], ['', null])
      assert.equal(lost?.name, `can\\u{202e}${'x'.repeat(28)}…`)
      assert.doesNotMatch((await tableTexts(database)).get('refusals') ?? '', new RegExp(canary))
      assert.deepEqual((await core.inspect.refusals({ gateway: 'fake' })).samples, [])
    })

    describe('in the database', () => {
      let billing: TestBilling
      before(async () => {
        billing = await openBilling(engine)
      })
      after(() => billing.close())
      beforeEach(async () => {
        await sql`delete from billing.refusals`.execute(billing.database.db)
      })

      test('five of each gateway and reason are kept; the oldest makes room', async () => {
        const { db } = billing.database
        for (let bytes = 1; bytes <= 7; bytes += 1) {
          await writeRefusal(db, { ...sample, bodyBytes: bytes })
          await sql`update billing.refusals set at = at - interval '1 second'`.execute(db)
        }
        await writeRefusal(db, { ...sample, reason: 'other' })
        const { samples } = await billing.core.inspect.refusals()
        assert.deepEqual(
          samples.map(({ bodyBytes }) => bodyBytes),
          [12, 7, 6, 5, 4, 3],
        )
      })

      test('400 are kept at most, and none for more than 7 days', async () => {
        const { db } = billing.database
        await sql`insert into billing.refusals (gateway, reason, slot, at, header_names)
        select 'stripe', number::text, 0, now() - number * interval '1 minute', '{}'
        from generate_series(1, 450) as number`.execute(db)
        await writeRefusal(db, sample)
        assert.equal(await rowsOf(billing.database), 400)
        await sql`update billing.refusals set at = now() - interval '8 days'
        where reason <> 'signature_missing'`.execute(db)
        assert.equal((await billing.core.inspect.refusals()).samples.length, 1)
        await billing.core.prune()
        assert.equal(await rowsOf(billing.database), 1)
      })

      test('how many were refused is said by gateway and reason, of the last 24 hours', async () => {
        const count = (metric: string, label: string, hours: number) =>
          sql`
        insert into billing.counts (span, at, metric, gateway, label, process, value)
        values ('quarter', now() - make_interval(hours => ${hours}), ${metric}, 'stripe', ${label}, '', 7)
        `.execute(billing.database.db)
        await count('callbacks_refused_total', 'signature_missing', 1)
        await count('callbacks_refused_total', 'signature_missing', 2)
        await count('callbacks_refused_total', 'signature_missing', 25)
        await count('callbacks_total', 'too_large', 1)
        await count('callbacks_total', 'accepted', 1)
        await count('callbacks_total', 'refused', 1)
        assert.deepEqual((await billing.core.inspect.refusals()).counts, [
          { gateway: 'stripe', reason: 'signature_missing', count: 14 },
          { gateway: 'stripe', reason: 'too_large', count: 7 },
        ])
        assert.deepEqual((await billing.core.inspect.refusals({ gateway: 'fake' })).counts, [])
      })

      test('who writes at once writes at most five of a kind', async () => {
        const { db } = billing.database
        await Promise.all(Array.from({ length: 20 }, () => writeRefusal(db, sample)))
        assert.ok((await rowsOf(billing.database)) <= 5)
      })
    })

    test('what waits is written when the service is closed; what is accepted leaves none', async () => {
      await using billing = await openBilling(engine, { gateways })
      const { core, database, runtime } = billing
      const payment = await newPayment(core)
      assert.equal((await sendFake(core, payment.id, 'success')).status, 200)
      for (const gateway of ['stripe', 'paddle', 'nobody']) {
        const [target, headers] = ['/', {}]
        await core.receive({ gateway, target, headers, body: Buffer.from('{}') })
      }
      await runtime.samples.end()
      assert.equal(await rowsOf(database), 3)
    })
  })
})

describe('while many are refused', () => {
  test('a flood of one kind hides no other, and of names and reasons a bounded number waits', async () => {
    const written: RefusalSample[] = []
    const samples = sampleRefusals({ write: async (one) => void written.push(one), every: 50 })
    for (let times = 0; times < 1_000; times += 1) {
      samples.add(
        { ...refusal('unknown_gateway'), gateway: undefined, name: `n${times}` },
        { headers: {} },
      )
      samples.add(refusal(`reason ${times}`), { headers: {} })
    }
    samples.add(refusal('signature_mismatch'), { headers: {} })
    await samples.end()
    // 79 kinds, and one for all others.
    assert.equal(written.length, 80)
    assert.deepEqual([written[0]?.name, written.at(-1)?.reason], ['n0', 'other'])
    samples.add(refusal('late'), { headers: {} })
    await samples.end()
    assert.equal(written.length, 80)
  })

  test('a kind that has not come for long makes room for another', async () => {
    const reasonsOf = async (forgetAfter: number) => {
      const written: RefusalSample[] = []
      const write = async (one: RefusalSample) => void written.push(one)
      const samples = sampleRefusals({ write, every: 50, forgetAfter })
      for (let times = 0; times < 79; times += 1) {
        samples.add(refusal(`reason ${times}`), { headers: {} })
      }
      samples.add(refusal('signature_mismatch'), { headers: {} })
      await samples.end()
      return written.map(({ reason }) => reason)
    }
    assert.ok(!(await reasonsOf(60_000)).includes('signature_mismatch'))
    assert.ok((await reasonsOf(0)).includes('signature_mismatch'))
  })

  test('foreign text is cut, and headers are few', async () => {
    const written: RefusalSample[] = []
    const samples = sampleRefusals({ write: async (one) => void written.push(one) })
    const names = Array.from({ length: 100 }, (_none, index) => [`${'h'.repeat(300)}${index}`, 'x'])
    const headers = Object.fromEntries(names) as Record<string, string>
    headers['content-length'] = '99999999999'
    samples.add(refusal('r'.repeat(300)), { headers })
    const contentType = `\u0007${'t'.repeat(300)}`
    samples.add(refusal('short'), { headers: { 'content-type': contentType } })
    await samples.end()
    const [first, second] = written
    assert.deepEqual(
      [first?.reason.length, first?.headerNames.length, first?.headerNames[0]?.length],
      [100, 40, 100],
    )
    assert.equal(first?.bodyBytes, 2 ** 31 - 1)
    assert.match(second?.contentType ?? '', /^\\u\{7\}t+…$/)
    assert.equal(second?.contentType?.length, 100)
  })

  test('a database that is away drops them: no refusal waits or fails', async () => {
    let writes = 0
    const samples = sampleRefusals({
      every: 1,
      write: () => {
        writes += 1
        return Promise.reject(new Error('the database is away'))
      },
    })
    samples.add(refusal('one'), { headers: {} })
    await until(async () => writes === 1, { what: 'the first is tried' })
    samples.add(refusal('one'), { headers: {} })
    samples.add(refusal('two'), { headers: {} })
    await until(async () => writes === 3, { what: 'the others are tried' })
    await samples.end()
  })
})

forEachWay((way) => {
  test('the network of the sender is kept on every way, also of what is answered before its body is read', async () => {
    await using service = await startService({ ...way, work: false })
    const { core, post } = service
    const json = { 'content-type': 'application/json' }
    const asked = [
      [await post('/billing/webhooks/stripe', '{}', json), 403],
      [await post('/billing/webhooks/nobody', '{}', json), 404],
      [await post('/billing/webhooks/stripe', 'x'.repeat(100_001), json), 413],
      [await post('/billing/webhooks/stripe', '{}', { ...json, 'content-encoding': 'gzip' }), 415],
    ] as const
    for (const [{ status }, expected] of asked) assert.equal(status, expected)
    const found = async () => (await core.inspect.refusals()).samples
    await until(async () => (await found()).length === 4, { what: 'all are written' })
    const shown = (await found()).map(({ reason, network, bodyBytes }) => [
      reason,
      network,
      bodyBytes,
    ])
    assert.deepEqual(
      new Map(shown.map(([reason, ...rest]) => [reason, rest])),
      new Map([
        ['encoding', ['127.0.0.0/24', 2]],
        ['signature_missing', ['127.0.0.0/24', 2]],
        ['too_large', ['127.0.0.0/24', 100_001]],
        ['unknown_gateway', ['127.0.0.0/24', 2]],
      ]),
    )
  })
})
