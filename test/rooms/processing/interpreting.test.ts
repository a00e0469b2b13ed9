import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bodyContext } from '../../../src/database/calls.ts'
import { readInOrder } from '../../../src/database/read-in-order.ts'
import { createRegistry } from '../../../src/gateways/registry.ts'
import { days, hours, minutes } from '../../../src/kernel/duration.ts'
import { readCipher } from '../../../src/kernel/encryption.ts'
import { QuittanceError } from '../../../src/kernel/errors.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { waitingCalls } from '../../../src/health/sources.ts'
import { onPostgres } from '../../support/databases.ts'
import { paid } from '../../support/statements.ts'
import { statedCall, stating, type Statement } from '../../support/stating-gateway.ts'
import {
  assertDueAfter,
  call,
  callRow,
  lineOf,
  logged,
  outcomeOf,
  payment,
  shortTimers,
  statusOf,
  useRoom,
} from './room.ts'

/** What the interpretation of a callback may take. */
const interpretingMayTakeMs = 20_000

onPostgres(() => {
  const room = useRoom()
  const bytesOf = (...stated: readonly Statement[]) =>
    Buffer.from(statedCall(stated).body ?? assert.fail())
  const ignoredAs = (reason: string, detail?: string) => [
    { result: 'ignored', type: 'callback', reason, ...(detail !== undefined && { detail }) },
  ]

  test('a gateway that this process does not have costs an attempt', async () => {
    const leased = await call(room, [], { gateway: 'gone' })
    assert.equal(await room.processOne(leased), 'failed')
    const { exception, attempts, payment_id, needs_review } = await callRow(room, leased)
    assert.match(exception ?? '', /^QuittanceError: gateway "gone" is not registered; there /)
    assert.deepEqual([attempts, payment_id, needs_review], [1, null, false])
    const { err } = lineOf(room, 'attempt failed, will be retried')
    assert.equal((err as { readonly code?: string }).code, 'gateway_unknown')
  })

  test('a gateway that throws costs an attempt', async () => {
    room.interpret = () => Promise.reject(new Error('a field is missing, hush'))
    const leased = await call(room, [], { gateway: 'asking' })
    assert.equal(await room.processOne(leased), 'failed')
    const { exception, attempts, state } = await callRow(room, leased)
    assert.match(exception ?? '', /^Error: a field is missing, \[secret\]\n/)
    assert.deepEqual([attempts, state], [1, 'pending'])
    const { err: _err, ...line } = lineOf(room, 'attempt failed, will be retried')
    const about = { call: leased.id, gateway: 'asking' }
    assert.deepEqual(line, { ...about, attempt: 1, retryInSeconds: 10 })
  })

  test('a gateway gets its credentials, the log and a signal', async () => {
    const seen: unknown[] = []
    const asking = {
      ...stating,
      name: 'asking',
      interpret: async (
        ...[payload, { credentials, log, signal }]: Parameters<typeof stating.interpret>
      ) => {
        log.info('asked')
        seen.push(payload, credentials, signal.aborted)
        return []
      },
    }
    const credentials = { configured: true, settings: { word: 'mine' } } as never
    room.give({ gateways: createRegistry([asking], { asking: credentials }) })
    const leased = await call(room, [], { gateway: 'asking' })
    assert.equal(await room.processOne(leased), 'done')
    const [payload, ...others] = seen
    assert.equal((payload as { text: string }).text, '[]')
    assert.deepEqual(others, [credentials, false])
    assert.equal(logged(room)[0], 'info asked')
    assert.deepEqual(await outcomeOf(room, leased), ignoredAs('no_outcome'))
  })

  describe('what was stored', () => {
    const pays = async () => {
      const order = await payment(room)
      return { order, bytes: bytesOf(paid(order)) }
    }

    test('as a form is read as a form', async () => {
      const seen: unknown[] = []
      room.interpret = async (payload) => {
        seen.push(payload.kind)
        return []
      }
      await room.processOne(
        await call(room, [], { gateway: 'asking', kind: 'form', payload: '{"a":"1"}' }),
      )
      assert.deepEqual(seen, ['form'])
    })

    test('unreadable is read anew: a newer version may read it', async () => {
      const { order, bytes } = await pays()
      const leased = await call(room, [], { kind: 'unreadable', payload: null, body: bytes })
      assert.equal(await room.processOne(leased), 'done')
      assert.equal(await statusOf(room, order), 'paid')
    })

    test('unreadable and still so is ignored, and says why', async () => {
      const fields = { kind: 'unreadable', payload: null, body: Buffer.from('{') } as const
      const leased = await call(room, [], fields)
      assert.equal(await room.processOne(leased), 'done')
      const [outcome] = (await outcomeOf(room, leased)) as readonly Record<string, string>[]
      assert.equal(outcome?.['reason'], 'unreadable_payload')
      assert.notEqual(outcome['detail'], 'encrypted')
    })
  })

  describe('what was stored encrypted', () => {
    const cipher = readCipher(Buffer.alloc(32, 7).toString('base64')) ?? assert.fail()
    const text = 'no key of BILLING_ENCRYPTION_KEY decrypts the body; its masked payload must do'
    const encrypted = async (bytes: Uint8Array, fields = {}) => {
      const id = newUuid()
      const body = Buffer.from(cipher.encrypt(bytes, bodyContext(id)))
      return call(room, [], { id, body, body_encrypted: true, ...fields })
    }

    test('is decrypted, and read as it came', async () => {
      room.give({ cipher })
      const order = await payment(room)
      const leased = await encrypted(bytesOf(paid(order)))
      assert.equal(await room.processOne(leased), 'done')
      assert.equal(await statusOf(room, order), 'paid')
      assert.deepEqual(logged(room), ['info PaymentSucceeded'])
    })

    test('is read as it came where its masked text cannot be read', async () => {
      room.give({ cipher })
      const order = await payment(room)
      const leased = await encrypted(bytesOf(paid(order)), { kind: 'unreadable', payload: null })
      assert.equal(await room.processOne(leased), 'done')
      assert.equal(await statusOf(room, order), 'paid')
    })

    test('without the key, the masked payload must do, and the log says so', async () => {
      const order = await payment(room)
      const masked = bytesOf(paid(order)).toString()
      const leased = await encrypted(bytesOf({ type: 'ignored', reason: 'no_outcome' }), {
        payload: masked,
      })
      assert.equal(await room.processOne(leased), 'done')
      assert.equal(await statusOf(room, order), 'paid')
      assert.equal(logged(room)[0], `warn ${text}`)
      assert.deepEqual(lineOf(room, text), { call: leased.id })
    })

    test('and without the key, what has no text is ignored', async () => {
      const leased = await encrypted(bytesOf(), { kind: 'unreadable', payload: null })
      assert.equal(await room.processOne(leased), 'done')
      assert.deepEqual(await outcomeOf(room, leased), ignoredAs('unreadable_payload', 'encrypted'))
    })
  })

  describe('a provider that cannot be asked', () => {
    const away = () => new QuittanceError('provider_unreachable', 'no route, hush')
    const asked = async (waitedMs: number, gateway = 'asking') => {
      room.interpret = () => Promise.reject(away())
      const received_at = new Date(Date.now() - waitedMs)
      return call(room, [], { gateway, received_at })
    }
    const postponed = 'warn the provider cannot be asked: tried again later, no attempt is used'

    test('postpones the call: no attempt is used, and the reason is kept', async () => {
      const leased = await asked(0)
      assert.equal(await room.processOne(leased), 'returned')
      const row = await callRow(room, leased)
      assert.deepEqual(
        [row.state, row.attempts, row.times_returned, row.lease_token],
        ['pending', 0, 0, null],
      )
      assert.match(row.exception ?? '', /^QuittanceError: no route, \[secret\]/)
      assertDueAfter(room, row.next_attempt_at, 10)
      assert.deepEqual(logged(room), [postponed])
      const { err, ...line } = lineOf(room, postponed.slice(5))
      assert.match(JSON.stringify(err), /no route/)
      assert.deepEqual(line, { call: leased.id, gateway: 'asking', retryInSeconds: 10 })
      assert.equal(
        (await readInOrder(room.database, waitingCalls)).reduce((sum, one) => sum + one.retried, 0),
        1,
      )
    })

    test('is waited for the longer, the longer it has been away', async () => {
      const leased = await asked(minutes(2))
      await room.processOne(leased)
      const { next_attempt_at, received_at } = await callRow(room, leased)
      const wait = next_attempt_at.getTime() - Date.now()
      const age = Date.now() - received_at.getTime()
      assert.ok(wait > minutes(1) && wait <= age, `${wait} ms of ${age}`)
    })

    test('is waited for a day; then it costs an attempt', async () => {
      const within = await asked(hours(23))
      assert.equal(await room.processOne(within), 'returned')
      const after = await asked(hours(25))
      assert.equal(await room.processOne(after), 'failed')
      const { attempts, exception } = await callRow(room, after)
      assert.equal(attempts, 1)
      assert.match(exception ?? '', /no route/)
    })

    test('is waited for as long as it would itself send the callback again', async () => {
      const patient = {
        ...stating,
        name: 'patient',
        retryWindow: days(3),
        interpret: () => Promise.reject(away()),
      }
      room.give({ gateways: createRegistry([patient], {}) })
      assert.equal(await room.processOne(await asked(days(2), 'patient')), 'returned')
      assert.equal(await room.processOne(await asked(days(4), 'patient')), 'failed')
    })

    test('is one that takes over 20 s, too', async (t) => {
      shortTimers(t, interpretingMayTakeMs)
      let aborted: AbortSignal | undefined
      room.interpret = (_payload, { signal }) => {
        aborted = signal
        return new Promise(() => {})
      }
      const leased = await call(room, [], { gateway: 'asking' })
      assert.equal(await room.processOne(leased), 'returned')
      assert.match((await callRow(room, leased)).exception ?? '', /interpretation took over 20 s/)
      assert.equal(aborted?.aborted, true)
    })

    test('may be asked by what applying needs, as well', async () => {
      room.interpret = async () => [
        {
          type: 'payment',
          payment: { providerReference: 'ch_2' },
          renews: 'subscription',
          subscriptionReference: 'sub_1',
          status: 'paid',
          amount: 1n,
          currency: 'USD',
          unanswered: away(),
        },
      ]
      const leased = await call(room, [], { gateway: 'asking' })
      assert.equal(await room.processOne(leased), 'returned')
      assert.deepEqual(logged(room), [postponed])
    })

    test('is another matter than one that refuses', async () => {
      room.interpret = () => Promise.reject(new QuittanceError('provider_refused', 'bad key'))
      const leased = await call(room, [], { gateway: 'asking' })
      assert.equal(await room.processOne(leased), 'failed')
    })

    test('is our error, not any that bears its code', async () => {
      const lookalike = Object.assign(new Error('no route'), { code: 'provider_unreachable' })
      room.interpret = () => Promise.reject(lookalike)
      const leased = await call(room, [], { gateway: 'asking' })
      assert.equal(await room.processOne(leased), 'failed')
    })
  })
})
