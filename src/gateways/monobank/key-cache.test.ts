import assert from 'node:assert/strict'
import { sign } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { handTimers } from '../../../test/support/hand-timers.ts'
import { startStandIn, type StandInReply } from '../../../test/support/stand-in.ts'
import { readCredentials } from '../credentials.ts'
import type { RawRequest, Verdict } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import { foreignKeys } from '../../../test/gateways/monobank/keys.ts'
import { createMonobank, monobank } from './index.ts'
import { readSigningKey, sampleKeys } from './samples/signing-key.ts'

const token = 'uXtoken0123456789_of_the_merchant'
const start = new Date('2026-11-20T12:00:00Z')
const after = (milliseconds: number) => new Date(start.getTime() + milliseconds)

const old = sampleKeys('old')
const next = sampleKeys('next')

function signedBy({ signingKey }: { readonly signingKey: string }): RawRequest {
  const key = readSigningKey(signingKey)
  assert.ok(key)
  const body = Buffer.from('{"invoiceId":"i","status":"success"}')
  return { headers: { 'x-sign': sign('sha256', body, key).toString('base64') }, body }
}
const fromOld = signedBy(old)
const fromNext = signedBy(next)
/** In the right form, by a key that nobody knows. */
const garbage = signedBy(sampleKeys('attacker'))

const valid: Verdict = { valid: true }
const mismatch: Verdict = { valid: false, reason: 'signature_mismatch' }
const unavailable = (reason: string): Verdict => ({ unavailable: reason })

type Reply = StandInReply | 'hang' | undefined
const keyReply = ({ publicKey }: { readonly publicKey: string }) => ({ body: { key: publicKey } })

interface Bank {
  reply: Reply
  readonly asked: () => number
  readonly verify: (request: RawRequest, milliseconds?: number) => Promise<Verdict>
  readonly requests: Awaited<ReturnType<typeof startStandIn>>['requests']
  readonly base: string
}

/** A bank on this machine, and a gateway of its own that asks it until it hangs. */
async function startBank(context: TestContext, reply: Reply, publicKey?: string): Promise<Bank> {
  const limit = handTimers()
  context.after(limit[Symbol.dispose])
  const standIn = await startStandIn(() => bank.reply, limit.strike)
  context.after(() => standIn.close())
  const gateway = createMonobank({ keyTimeout: limit.lengthMs })
  const credentials = credentialsFor(standIn.base, { publicKey })
  const bank: Bank = {
    reply,
    asked: () => standIn.requests.length,
    verify: async (request, milliseconds = 0) =>
      gateway.verify(request, credentials, after(milliseconds)),
    requests: standIn.requests,
    base: standIn.base,
  }
  return bank
}

function credentialsFor(
  base: string,
  { publicKey, tokens = token }: { publicKey?: string | undefined; tokens?: string } = {},
): Credentials {
  const values = {
    MONOBANK_TOKEN: tokens,
    MONOBANK_API_BASE: base,
    ...(publicKey !== undefined && { MONOBANK_PUBLIC_KEY: publicKey }),
  }
  return readCredentials(monobank, values, { production: true })
}

test('the key is asked for with the token, once, and used from then on', async (context) => {
  const bank = await startBank(context, keyReply(old))
  assert.deepEqual(await bank.verify(fromOld), valid)
  assert.deepEqual(await bank.verify(fromOld, 1), valid)
  assert.deepEqual(await bank.verify(fromOld, 1e9), valid)
  assert.equal(bank.asked(), 1)
  const [request] = bank.requests
  assert.equal(request?.method, 'GET')
  assert.equal(request?.target, '/api/merchant/pubkey')
  assert.equal(request?.headers['x-token'], token)
})

test('fifty callbacks at once ask for the key once', async (context) => {
  const bank = await startBank(context, keyReply(old))
  const verdicts = await Promise.all(
    Array.from({ length: 50 }, (_, at) => bank.verify(at % 2 === 0 ? fromOld : garbage)),
  )
  verdicts.forEach((verdict, at) => {
    assert.deepEqual(verdict, at % 2 === 0 ? valid : mismatch)
  })
  assert.equal(bank.asked(), 1)
})

test('while the bank is being asked nobody asks again, however long it takes', async (context) => {
  const bank = await startBank(context, keyReply(old))
  const verdicts = await Promise.all([0, 60_000, 120_000].map((at) => bank.verify(fromOld, at)))
  assert.deepEqual(verdicts, [valid, valid, valid])
  assert.equal(bank.asked(), 1)
})

test('a changed key is known one minute after the last fetch, in the midst of bad signatures', async (context) => {
  const bank = await startBank(context, keyReply(old))
  assert.deepEqual(await bank.verify(fromOld), valid)
  bank.reply = keyReply(next)
  for (let at = 1000; at < 60_000; at += 1000) {
    assert.deepEqual(await bank.verify(garbage, at), mismatch)
  }
  assert.deepEqual(await bank.verify(fromNext, 59_999), mismatch)
  assert.equal(bank.asked(), 1)
  assert.deepEqual(await bank.verify(garbage, 60_000), mismatch)
  assert.equal(bank.asked(), 2)
  assert.deepEqual(await bank.verify(fromNext, 60_000), valid)
  assert.deepEqual(await bank.verify(fromOld, 60_001), mismatch)
  assert.equal(bank.asked(), 2)
})

test('the flood asks once a minute, and the callback itself can be the one that asks', async (context) => {
  const bank = await startBank(context, keyReply(old))
  for (let at = 0; at <= 600_000; at += 500) await bank.verify(garbage, at)
  assert.equal(bank.asked(), 11)
  bank.reply = keyReply(next)
  assert.deepEqual(await bank.verify(fromNext, 659_999), mismatch)
  assert.deepEqual(await bank.verify(fromNext, 660_000), valid)
  assert.equal(bank.asked(), 12)
})

test('a flood at once after the pause asks once, and lets the true callback through', async (context) => {
  const bank = await startBank(context, keyReply(old))
  assert.deepEqual(await bank.verify(fromOld), valid)
  bank.reply = keyReply(next)
  const verdicts = await Promise.all(
    Array.from({ length: 50 }, (_, at) => bank.verify(at === 40 ? fromNext : garbage, 60_000)),
  )
  verdicts.forEach((verdict, at) => assert.deepEqual(verdict, at === 40 ? valid : mismatch))
  assert.equal(bank.asked(), 2)
})

test('what has not the form of a signature never asks for a key', async (context) => {
  const bank = await startBank(context, keyReply(old))
  const headers = ['', 'zz', 'AAAA', Buffer.alloc(64, 7).toString('base64'), 'x'.repeat(200)]
  for (const header of headers) {
    const verdict = await bank.verify({ ...garbage, headers: { 'x-sign': header } })
    assert.ok('valid' in verdict && !verdict.valid, header)
  }
  assert.equal(bank.asked(), 0)
})

test('a clock that was set back does not stop the asking', async (context) => {
  const bank = await startBank(context, keyReply(old))
  assert.deepEqual(await bank.verify(fromOld), valid)
  bank.reply = keyReply(next)
  assert.deepEqual(await bank.verify(fromNext, -59_999), mismatch)
  assert.deepEqual(await bank.verify(fromNext, -60_000), valid)
})

test('without any key the bank is waited for, 503; with a known one its silence is 403', async (context) => {
  const bank = await startBank(context, 'hang')
  const without = await Promise.all([bank.verify(fromOld), bank.verify(garbage)])
  assert.deepEqual(without, [unavailable('key_unavailable'), unavailable('key_unavailable')])
  assert.equal(bank.asked(), 1)
  bank.reply = keyReply(old)
  assert.deepEqual(await bank.verify(fromOld, 4999), unavailable('key_unavailable'))
  assert.equal(bank.asked(), 1)
  assert.deepEqual(await bank.verify(fromOld, 5000), valid)
  bank.reply = 'hang'
  assert.deepEqual(await bank.verify(fromNext, 65_000), mismatch)
  assert.equal(bank.asked(), 3)
  assert.deepEqual(await bank.verify(fromOld, 65_001), valid)
})

test('a fetch that failed is made again after the pause', async (context) => {
  const bank = await startBank(context, keyReply(old))
  assert.deepEqual(await bank.verify(fromOld), valid)
  bank.reply = { status: 403, body: { errCode: 'FORBIDDEN' } }
  assert.deepEqual(await bank.verify(fromNext, 60_000), mismatch)
  bank.reply = keyReply(next)
  assert.deepEqual(await bank.verify(fromNext, 119_999), mismatch)
  assert.deepEqual(await bank.verify(fromNext, 120_000), valid)
})

test('no usable reply means no key, and the log says which', async (context) => {
  const replies: readonly (readonly [string, Reply, string])[] = [
    ['403', { status: 403, body: { errCode: 'FORBIDDEN', errText: 'no' } }, 'key_refused'],
    ['401', { status: 401, body: {} }, 'key_refused'],
    ['404', undefined, 'key_refused'],
    ['no JSON', { body: '<html>' }, 'key_unusable'],
    ['an empty body', { body: '' }, 'key_unusable'],
    ['no object', { body: [] }, 'key_unusable'],
    ['null', { body: 'null' }, 'key_unusable'],
    ['no key', { body: { keys: old.publicKey } }, 'key_unusable'],
    ['a key that is no text', { body: { key: 7 } }, 'key_unusable'],
    ['the key given twice', { body: `{"key":"${old.publicKey}","key":"x"}` }, 'key_unusable'],
    ['bare text', { body: old.publicKey }, 'key_unusable'],
    ['garbage', { body: { key: 'bm8ga2V5' } }, 'key_unusable'],
    ['two keys', { body: { key: `${old.publicKey},${old.publicKey}` } }, 'key_unusable'],
    ['a private key', { body: { key: old.signingKey } }, 'key_unusable'],
    ['a redirect', { status: 302, headers: { location: '/x' }, body: {} }, 'key_unavailable'],
    ...Object.entries(foreignKeys).map(
      ([kind, key]) => [kind, { body: { key } }, 'key_unusable'] as const,
    ),
  ]
  for (const [what, reply, reason] of replies) {
    const bank = await startBank(context, reply)
    assert.deepEqual(await bank.verify(fromOld), unavailable(reason), what)
  }
})

test('a failure of the bank is tried again within the time', async (context) => {
  const bank = await startBank(context, { status: 500, body: { errCode: 'INTERNAL_ERROR' } })
  const verdict = bank.verify(fromOld)
  while (bank.asked() === 0) await new Promise((resolve) => setImmediate(resolve))
  bank.reply = keyReply(old)
  assert.deepEqual(await verdict, valid)
  assert.equal(bank.asked(), 2)
})

test('a bank that fails throughout is unavailable, and so is one that is not there', async (context) => {
  const bank = await startBank(context, { status: 500, body: {} })
  assert.deepEqual(await bank.verify(fromOld), unavailable('key_unavailable'))
  const nobody = credentialsFor('http://127.0.0.1:1')
  const verdict = await createMonobank().verify(fromOld, nobody, start)
  assert.deepEqual(verdict, unavailable('key_unavailable'))
})

test('a token that no header can carry is no reason to break', async (context) => {
  const bank = await startBank(context, keyReply(old))
  const credentials = credentialsFor(bank.base, { tokens: 'токен_0123456789' })
  const verdict = await createMonobank().verify(fromOld, credentials, start)
  assert.deepEqual(verdict, unavailable('key_unavailable'))
})

test('a configured key without a token never asks', async () => {
  const values = { MONOBANK_PUBLIC_KEY: old.publicKey, MONOBANK_API_BASE: 'http://127.0.0.1:1' }
  const credentials = readCredentials(monobank, values, { production: true })
  const gateway = createMonobank()
  assert.deepEqual(await gateway.verify(fromOld, credentials, start), valid)
  assert.deepEqual(await gateway.verify(garbage, credentials, start), mismatch)
})

test('with both, the configured key is tried before the bank is asked', async (context) => {
  const bank = await startBank(context, keyReply(next), old.publicKey)
  assert.deepEqual(await bank.verify(fromOld), valid)
  assert.equal(bank.asked(), 0)
  assert.deepEqual(await bank.verify(fromNext), valid)
  assert.deepEqual(await bank.verify(fromOld), valid)
  assert.equal(bank.asked(), 1)
})

test('with a configured key a bank that is down is 403, and asked once a minute', async (context) => {
  const down = { status: 403, body: {} }
  const bank = await startBank(context, down, old.publicKey)
  for (const at of [0, 5000, 59_999]) assert.deepEqual(await bank.verify(garbage, at), mismatch)
  assert.equal(bank.asked(), 1)
  assert.deepEqual(await bank.verify(garbage, 60_000), mismatch)
  assert.equal(bank.asked(), 2)
  assert.deepEqual(await bank.verify(fromOld, 60_000), valid)
})

test('an unusable new key leaves the one that is known', async (context) => {
  const bank = await startBank(context, keyReply(old))
  assert.deepEqual(await bank.verify(fromOld), valid)
  bank.reply = { body: { key: foreignKeys.RSA } }
  assert.deepEqual(await bank.verify(fromNext, 60_000), mismatch)
  assert.deepEqual(await bank.verify(fromOld, 60_001), valid)
})

test('keys are kept apart by token and by API base, and each of several tokens is tried', async (context) => {
  const bank = await startBank(context, keyReply(old))
  const elsewhere = await startBank(context, keyReply(next))
  const gateway = createMonobank()
  const verify = (request: RawRequest, credentials: Credentials) =>
    gateway.verify(request, credentials, start)
  assert.deepEqual(await verify(fromOld, credentialsFor(bank.base)), valid)
  assert.deepEqual(await verify(fromOld, credentialsFor(elsewhere.base)), mismatch)
  assert.deepEqual(await verify(fromNext, credentialsFor(elsewhere.base)), valid)
  bank.reply = keyReply(next)
  const both = credentialsFor(bank.base, { tokens: `${token},another_token_012345` })
  assert.deepEqual(await verify(fromNext, both), valid)
  assert.deepEqual(
    bank.requests.map(({ headers }) => headers['x-token']),
    [token, 'another_token_012345'],
  )
})

test('gateways made apart share no key', async (context) => {
  const bank = await startBank(context, keyReply(old))
  const credentials = credentialsFor(bank.base)
  assert.deepEqual(await createMonobank().verify(fromOld, credentials, start), valid)
  assert.deepEqual(await createMonobank().verify(fromOld, credentials, start), valid)
  assert.equal(bank.asked(), 2)
})
