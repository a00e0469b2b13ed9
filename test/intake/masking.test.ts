import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import { readSettings } from '../../src/billing/settings.ts'
import { maskToken } from '../../src/gateways/signing/token-reference.ts'
import type { ReceivedCall } from '../../src/events/webhook-call.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { receivedCalls, newPayment, idle } from '../support/billing.ts'
import { runHosted } from '../support/command-host.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { vaultDatabase, type VaultDatabase, type VaultService } from './open-vault.ts'
import { vaultHeaders } from './vault-gateway.ts'

const newKey = () => randomBytes(32).toString('base64')
const newToken = () => `tok_${randomUUID()}`

/** How a callback may spell it: the bytes are read the same again only if they are all there. */
const jsonBody = (payment: { readonly id: string }, token: string) =>
  `{ "payment_id":"${payment.id}", "fee": 1.50, "card": {"\\u0063ard_token":"${token}","cvv":""} }`
const maskedJson = (payment: { readonly id: string }, token: string) =>
  `{"payment_id":"${payment.id}","fee":1.50,"card":{"card_token":"${maskToken(token)}","cvv":""}}`
const formBody = (payment: { readonly id: string }, token: string) =>
  `payment_id=${payment.id}&card_token=${token}&note=a+b`
const wrappedBody = (payment: { readonly id: string }, token: string) =>
  `data=${encodeURIComponent(Buffer.from(jsonBody(payment, token)).toString('base64'))}&signature=x`

/** The text in all the ways that a column could hold it: base64 knows three, by its place. */
function spellings(text: string): readonly string[] {
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(' '.repeat(offset) + text).toString('base64')
    return encoded.slice(offset === 0 ? 0 : 4, -4)
  })
  return [text, Buffer.from(text).toString('hex'), ...base64]
}

function assertAbsent(haystack: string, token: string, where: string): void {
  for (const spelling of spellings(token)) {
    assert.ok(!haystack.includes(spelling), `the token is in ${where}`)
  }
}

/** Every row of every table as text; bytes as hex and as the base64 and text that they may be. */
async function everythingStored({ database: { db } }: VaultService): Promise<string> {
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
  const bodies = await sql<{ body: Buffer }>`
    select body from billing.webhook_calls where body is not null`.execute(db)
  return [...texts.flat(), ...bodies.rows.map(({ body }) => body.toString('latin1'))].join('\n')
}

async function newestCall(service: VaultService): Promise<ReceivedCall> {
  await idle(service.core)
  const data = await receivedCalls(service.core, { limit: 1 })
  const [call] = data
  assert.ok(call)
  return call
}

async function accept(service: VaultService, body: string | Uint8Array): Promise<ReceivedCall> {
  assert.equal(await service.post(body), 200)
  return newestCall(service)
}

/** Replays over HTTP; the call as it is afterwards. */
async function replay(service: VaultService, id: string): Promise<ReceivedCall | undefined> {
  const answer = await service.api(`/webhook-calls/${id}/replay`, 'POST')
  assert.equal(answer.status, 202, await answer.text())
  await idle(service.core)
  return service.core.calls.get(id)
}

const reasonOf = (call: ReceivedCall | undefined) => {
  const [first] = call?.outcome ?? []
  return first && 'reason' in first ? [first.reason, first.detail] : first?.result
}
const undecrypted = /no key of BILLING_ENCRYPTION_KEY decrypts the body/

onAnyDatabase((engine) => {
  let database: VaultDatabase
  before(async () => {
    database = await vaultDatabase(engine)
  })
  after(() => database.remove())
  const pay = (service: VaultService) => newPayment(service.core, { gateway: 'vault' })
  const statusOf = async (service: VaultService, { id }: Payment) =>
    (await service.core.payments.get(id))?.status

  const bodies = { json: jsonBody, form: formBody, 'wrapped in a form': wrappedBody } as const
  const assertCommandHides = async (id: string, token: string) => {
    const command = await runHosted(['calls', 'show', id], database)
    const printed = [...command.stdout, ...command.stderr].join('\n')
    assert.ok(printed.includes(maskToken(token)), printed)
    assertAbsent(printed, token, 'the output of calls show')
  }

  for (const key of [newKey(), undefined]) {
    describe(`with ${key ? 'a' : 'no'} key`, () => {
      let service: VaultService
      before(async () => {
        service = await database.open(key === undefined ? {} : { key })
      })
      after(() => service[Symbol.asyncDispose]())
      afterEach(() => void service.tokens.splice(0))

      for (const [name, write] of Object.entries(bodies)) {
        test(`${name}: the token is nowhere in clear`, async () => {
          const [payment, token] = [await pay(service), newToken()]
          const call = await accept(service, write(payment, token))
          assert.equal(await statusOf(service, payment), 'paid')
          assert.deepEqual(service.tokens.splice(0), [key ? token : maskToken(token)])
          assert.deepEqual(
            [call.kind, call.bodyEncrypted],
            [name === 'form' ? name : 'json', !!key],
          )
          assert.equal(call.body, null)

          assertAbsent(await everythingStored(service), token, 'the database')
          assertAbsent(service.logged(), token, 'the log')
          const shown = await (await service.api(`/webhook-calls/${call.id}`)).text()
          assert.ok(shown.includes(maskToken(token)), 'its mask is shown')
          assertAbsent(shown, token, 'an answer')
          const { body_base64, body_encrypted } = JSON.parse(shown) as Record<string, unknown>
          assert.deepEqual([body_base64, body_encrypted], [null, !!key])
          assertAbsent(await (await service.api('/webhook-calls')).text(), token, 'the list')
          if (name === 'json') await assertCommandHides(call.id, token)

          const replayed = await replay(service, call.id)
          assert.deepEqual(reasonOf(replayed), 'duplicate')
          assert.deepEqual(service.tokens.splice(0), [key ? token : maskToken(token)])
        })
      }

      test('card data and client secrets: nowhere in clear', async () => {
        const payment = await pay(service)
        const [card, other] = ['5555555555554444', '4012888888881881']
        // Four digits alone would stand in some id or time by chance.
        const [secret, code] = [`pi_1_secret_${randomUUID()}`, `7391-${randomUUID()}`]
        const hidden = [card, other, secret, code]
        const inner = JSON.stringify({ cvc2: code, note: `of ${other}` })
        const body = JSON.stringify({
          payment_id: payment.id,
          client_secret: secret,
          note: `paid with ${card}, thanks`,
          number: Number(other),
          card_cvc: code,
          inner,
        })
        const call = await accept(service, body)
        assert.equal(await statusOf(service, payment), 'paid')
        assert.deepEqual([call.body, call.bodyEncrypted], [null, key !== undefined])
        const shown = await (await service.api(`/webhook-calls/${call.id}`)).text()
        const command = await runHosted(['calls', 'show', call.id], database)
        const places = {
          'the database': await everythingStored(service),
          'the log': service.logged(),
          'an answer': shown,
          'the output of calls show': [...command.stdout, ...command.stderr].join('\n'),
        }
        for (const [place, text] of Object.entries(places)) {
          for (const value of hidden) assert.ok(!text.includes(value), `${value} is in ${place}`)
        }
        assert.deepEqual(JSON.parse(call.payload ?? ''), {
          payment_id: payment.id,
          client_secret: '[masked]',
          note: 'paid with 555555******4444, thanks',
          number: '401288******1881',
          card_cvc: '[masked]',
          inner: '{"cvc2":"[masked]","note":"of 401288******1881"}',
        })
        assert.equal(reasonOf(await replay(service, call.id)), 'duplicate')
      })

      test('a call that the database refuses is stored as bytes that show no token either', async () => {
        const [payment, token] = [await pay(service), newToken()]
        const body = Buffer.from(jsonBody(payment, token))
        // No text column takes U+0000.
        const target = '/billing/webhooks/vault?\0'
        const request = { gateway: 'vault', target, headers: vaultHeaders(body), body }
        assert.equal((await service.core.receive(request)).status, 200)
        const call = await newestCall(service)
        assert.deepEqual([call.kind, call.bodyEncrypted], ['unreadable', key !== undefined])
        assertAbsent(await everythingStored(service), token, 'the database')
        assert.deepEqual(service.tokens.splice(0), [key ? token : maskToken(token)])
        assert.equal(await statusOf(service, payment), 'paid')
      })

      test('where nothing is masked, exact texts and exact bytes are kept in clear', async () => {
        const payment = await pay(service)
        const text = `{ "payment_id" : "${payment.id}", "card": {"card_token": null}, "n": 1.0 }`
        const exact = await accept(service, text)
        assert.deepEqual([exact.payload, exact.body, exact.bodyEncrypted], [text, null, false])
        const form = formBody(await pay(service), '')
        const kept = await accept(service, form)
        assert.deepEqual([String(kept.body), kept.bodyEncrypted], [form, false])
      })
    })
  }

  describe('a masked call', () => {
    let service: VaultService
    before(async () => {
      service = await database.open()
    })
    after(() => service[Symbol.asyncDispose]())

    test('the masked payload keeps all the rest as it was spelt', async () => {
      const [payment, token] = [await pay(service), newToken()]
      assert.equal(
        (await accept(service, jsonBody(payment, token))).payload,
        maskedJson(payment, token),
      )
    })

    test('the database keeps no call that claims to be encrypted and has no body', async () => {
      const call = await accept(service, jsonBody(await pay(service), newToken()))
      const claim = sql`
      update billing.webhook_calls set body_encrypted = true where id = ${call.id}::uuid`
      await assert.rejects(claim.execute(service.database.db), /check constraint/)
    })
  })

  test('rotation: a new key in front reads the old calls; without the old one the mask must do', async () => {
    const [old, next] = [newKey(), newKey()]
    const tokens = [newToken(), newToken()] as const
    const first = await (async () => {
      await using service = await database.open({ key: old })
      return await accept(service, wrappedBody(await pay(service), tokens[0]))
    })()
    const second = await (async () => {
      await using service = await database.open({ key: `${next},${old}` })
      await replay(service, first.id)
      const call = await accept(service, jsonBody(await pay(service), tokens[1]))
      assert.deepEqual(service.tokens, tokens)
      assert.doesNotMatch(service.logged(), undecrypted)
      return call
    })()
    {
      await using service = await database.open({ key: next })
      await replay(service, second.id)
      assert.doesNotMatch(service.logged(), undecrypted)
      const replayed = await replay(service, first.id)
      assert.deepEqual(service.tokens, [tokens[1], maskToken(tokens[0])])
      assert.deepEqual([replayed?.state, reasonOf(replayed)], ['processed', 'duplicate'])
      assert.match(service.logged(), undecrypted)
    }
    await using service = await database.open()
    await replay(service, second.id)
    assert.deepEqual(service.tokens, [maskToken(tokens[1])])
    assert.match(service.logged(), undecrypted)
  })

  test('an encrypted body that was moved to another call is not read there', async () => {
    await using service = await database.open({ key: newKey() })
    const [one, other] = [newToken(), newToken()]
    const first = await accept(service, jsonBody(await pay(service), one))
    const second = await accept(service, jsonBody(await pay(service), other))
    await sql`update billing.webhook_calls set body = (
        select body from billing.webhook_calls where id = ${first.id}::uuid
      ) where id = ${second.id}::uuid`.execute(service.database.db)
    await replay(service, second.id)
    assert.deepEqual(service.tokens, [one, other, maskToken(other)])
    assert.match(service.logged(), undecrypted)
  })

  test('what cannot be read is kept whole: encrypted with a key, as it came without one', async () => {
    const broken = (token: string) => Buffer.from(`{"card":{"card_token":"${token}"},"x":1`)
    const key = newKey()
    const [hidden, clear] = [newToken(), newToken()]
    let id: string
    {
      await using service = await database.open({ key })
      const call = await accept(service, broken(hidden))
      id = call.id
      assert.deepEqual([call.kind, call.body, call.bodyEncrypted], ['unreadable', null, true])
      assert.deepEqual(reasonOf(call), ['unreadable_payload', 'invalid_json'])
      assertAbsent(await everythingStored(service), hidden, 'the database')
      assert.deepEqual(reasonOf(await replay(service, id)), ['unreadable_payload', 'invalid_json'])
      const { stdout } = await runHosted(['calls', 'show', id], database)
      assert.match(stdout.join('\n'), /\(unreadable; kept encrypted\)/)
    }
    await using service = await database.open()
    assert.deepEqual(reasonOf(await replay(service, id)), ['unreadable_payload', 'encrypted'])
    assert.match(service.logged(), undecrypted)
    const call = await accept(service, broken(clear))
    assert.deepEqual([call.body, call.bodyEncrypted], [broken(clear), false])
    // The search of the other tests finds what is there.
    const stored = await everythingStored(service)
    assert.throws(() => assertAbsent(stored, clear, 'it'), /the token is in it/)
  })

  test('sync: a call that is processed at once is read as one from the queue', async () => {
    for (const key of [newKey(), undefined]) {
      const keys = key === undefined ? {} : { key }
      await using service = await database.open({ ...keys, connection: 'sync' })
      for (const write of Object.values(bodies)) {
        const [payment, token] = [await pay(service), newToken()]
        assert.equal(await service.post(write(payment, token)), 200)
        assert.equal(await statusOf(service, payment), 'paid')
        assert.equal(service.tokens.at(-1), key ? token : maskToken(token))
        assertAbsent(await everythingStored(service), token, 'the database')
      }
    }
  })
})

test('a wrong key stops the start; a right one is blanked out wherever it is repeated', () => {
  const wrong = { billing: { encryptionKey: 'c2hvcnQ=' } }
  const text = (error: unknown) => String(error)
  assert.throws(
    () => createCore(wrong),
    (error) => /billing\.encryptionKey/.test(text(error)) && !text(error).includes('c2hvcnQ='),
  )
  const keys = [newKey(), newKey()]
  const settings = readSettings({ billing: { encryptionKey: keys.join(', ') } })
  assert.equal(settings.scrub(`at ${keys[0]} and ${keys[1]}`), 'at [secret] and [secret]')
})

test('the key is read from the file and from the environment, which wins', async () => {
  using folder = temporaryFolder()
  const config = `export default { billing: { encryption_key: 'c2hvcnQ=' } }`
  writeFileSync(join(folder.path, 'quittance.config.mjs'), config)
  const run = (env: Readonly<Record<string, string>>) =>
    runHosted(['gateways'], { cwd: folder.path, env })
  for (const [env, place] of [
    [{}, 'billing.encryption_key'],
    [{ BILLING_ENCRYPTION_KEY: ' ' }, 'billing.encryption_key'],
    [{ BILLING_ENCRYPTION_KEY: 'bG9uZw==' }, 'BILLING_ENCRYPTION_KEY'],
  ] as const) {
    const { code, stderr } = await run(env)
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), new RegExp(`${place} must be .*openssl rand -base64 32`))
    assert.doesNotMatch(stderr.join('\n'), /c2hvcnQ=|bG9uZw==/)
  }
  const { code, stderr } = await run({ BILLING_ENCRYPTION_KEY: newKey() })
  assert.equal(code, 0, stderr.join('\n'))
})
