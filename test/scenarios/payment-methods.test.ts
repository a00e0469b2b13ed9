import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { EventOf } from '../../src/events/catalogue.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { readCipher } from '../../src/kernel/encryption.ts'
import { callDetailsView } from '../../src/wire/call.ts'
import { paymentDetailsView } from '../../src/wire/payment-details.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { tokenContext } from '../../src/outcomes/apply-payment-method.ts'
import { idle, until } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import type { Statement } from '../support/stating-gateway.ts'

const token = 'tok_4111-secret-0123456789'
const encryptionKey = randomBytes(32).toString('base64')

const card = (reference: string, fields: Readonly<Record<string, unknown>> = {}): Statement => ({
  type: 'payment_method',
  status: 'attached',
  reference,
  ...fields,
})

forEachDatabase((engine) => {
  let stated: StatedBilling
  let keyless: StatedBilling
  const queued: EventOf<'PaymentMethodAttached'>[] = []
  before(async () => {
    stated = await openStated(engine, {
      billing: { encryptionKey: encryptionKey },
      listen: ({ core }) =>
        core.on('PaymentMethodAttached', 'queued', (event) => void queued.push(event), {
          queued: true,
        }),
    })
    keyless = await openStated(engine)
  })
  after(async () => {
    await stated.close()
    await keyless.close()
  })

  const rowsOf = async (reference: string, { database } = stated) => {
    const { rows } = await sql<Record<string, unknown>>`
      select * from billing.payment_methods where provider_reference = ${reference}
      order by gateway`.execute(database.db)
    return rows
  }
  const eventsOf = async (reference: string) => {
    const { data } = await stated.core.events.list({ limit: 100 })
    return data.filter(({ dedupKey }) => dedupKey.endsWith(`/${reference}`)).toReversed()
  }
  const typesOf = async (reference: string) => (await eventsOf(reference)).map(({ type }) => type)

  test('a card that two kinds of callback report: one row with what either knew, one event', async () => {
    const payment = await stated.createPaid()
    const first = await stated.say(
      card('pm_twice', {
        details: { kind: 'card', lastFour: '4242' },
        payment: { id: payment.id },
      }),
    )
    assert.deepEqual(first.outcome, [{ result: 'applied', type: 'payment_method:attached' }])
    const second = await stated.say(
      card('pm_twice', {
        customerReference: 'cus_1',
        details: { brand: 'visa', expiryMonth: 12, expiryYear: 2031 },
      }),
    )
    assert.deepEqual(stated.resultsOf(second), ['duplicate'])
    assert.equal((await rowsOf('pm_twice')).length, 1)
    const { paymentMethods, events } = await stated.details(payment)
    assert.deepEqual(
      paymentMethods.map(({ status, customerReference, paymentId, details, hasToken }) => ({
        status,
        customerReference,
        paymentId,
        details,
        hasToken,
      })),
      [
        {
          status: 'attached',
          customerReference: 'cus_1',
          paymentId: payment.id,
          details: {
            kind: 'card',
            brand: 'visa',
            lastFour: '4242',
            expiryMonth: 12,
            expiryYear: 2031,
          },
          hasToken: false,
        },
      ],
    )
    assert.deepEqual(
      events.map(({ dedupKey, paymentMethodId }) => [dedupKey, paymentMethodId]),
      [
        [`payment:paid:${payment.id}`, null],
        ['payment_method:attached:stating/pm_twice', paymentMethods[0]?.id],
      ],
    )
  })

  test('a card that is removed: its own event, its token gone; saved later than removed: ignored', async () => {
    await stated.say(card('pm_gone', { token }))
    assert.notEqual((await rowsOf('pm_gone'))[0]?.['token'], null)
    await stated.say(card('pm_gone', { status: 'detached' }))
    await stated.say(card('pm_gone', { status: 'detached' }))
    const late = await stated.say(card('pm_gone', { token }))
    assert.deepEqual([late.state, stated.resultsOf(late)], ['ignored', ['already_settled']])
    const [row] = await rowsOf('pm_gone')
    assert.deepEqual([row?.['status'], row?.['token']], ['detached', null])
    assert.deepEqual(await typesOf('pm_gone'), ['PaymentMethodAttached', 'PaymentMethodDetached'])
  })

  test('a card of which the removal is the first that comes stays removed', async () => {
    await stated.say(card('pm_early', { status: 'detached' }))
    const late = await stated.say(card('pm_early', { token }))
    assert.deepEqual(stated.resultsOf(late), ['already_settled'])
    const rows = await rowsOf('pm_early')
    assert.deepEqual(
      rows.map((row) => [row['status'], row['token']]),
      [['detached', null]],
    )
    assert.deepEqual(await typesOf('pm_early'), ['PaymentMethodDetached'])
  })

  test('saved and removed in one callback: both events, in this order', async () => {
    const call = await stated.say(card('pm_both'), card('pm_both', { status: 'detached' }))
    assert.deepEqual(stated.resultsOf(call), ['applied', 'applied'])
    assert.deepEqual((await typesOf('pm_both')).toSorted(), [
      'PaymentMethodAttached',
      'PaymentMethodDetached',
    ])
    assert.equal((await rowsOf('pm_both'))[0]?.['status'], 'detached')
  })

  test('a token is stored encrypted and tied to its row; it is shown nowhere', async () => {
    const payment = await stated.create()
    const call = await stated.say(
      paid(payment),
      card('pm_token', { token, payment: { id: payment.id } }),
    )
    const [row] = await rowsOf('pm_token')
    const stored = row?.['token']
    assert.ok(stored instanceof Uint8Array)
    const cipher = readCipher(encryptionKey)
    const plain = cipher?.decrypt(stored, tokenContext('stating', 'pm_token'))
    assert.equal(plain && Buffer.from(plain).toString(), token)
    assert.equal(cipher?.decrypt(stored, tokenContext('stating', 'pm_other')), undefined)
    const details = await stated.details(payment)
    assert.equal(details.paymentMethods[0]?.hasToken, true)
    const events = await stated.core.events.list({ limit: 100 })
    const received = await stated.core.calls.get(call.id)
    assert.ok(received)
    const shown = [
      JSON.stringify(paymentDetailsView(details)),
      JSON.stringify(events),
      JSON.stringify(callDetailsView(received)),
      JSON.stringify(stated.lines),
    ]
    for (const text of shown) assert.ok(!text.includes(token) && !text.includes('tok_4111'))
    const { rows } = await sql<{ text: string }>`
      select t::text as text from billing.webhook_calls as t
      union all select t::text from billing.payment_methods as t
      union all select t::text from billing.events as t`.execute(stated.database.db)
    const hex = Buffer.from(token).toString('hex')
    assert.ok(rows.every(({ text }) => !text.includes(token) && !text.includes(hex)))
  })

  test('without a key no token is stored, and the card is', async () => {
    const payment = await keyless.create()
    await keyless.say(paid(payment), card('pm_keyless', { token, payment: { id: payment.id } }))
    const [row] = await rowsOf('pm_keyless', keyless)
    assert.deepEqual([row?.['status'], row?.['token']], ['attached', null])
    const { paymentMethods, status } = await keyless.details(payment)
    assert.deepEqual([status, paymentMethods[0]?.hasToken], ['paid', false])
    const { rows } = await sql<{ text: string }>`
      select t::text as text from billing.webhook_calls as t`.execute(keyless.database.db)
    const hex = Buffer.from(token).toString('hex')
    assert.ok(rows.every(({ text }) => !text.includes(token) && !text.includes(hex)))
  })

  test('a queued listener gets the card, without its token', async () => {
    await stated.say(card('pm_queued', { token, details: { brand: 'visa' } }))
    const mine = () => queued.filter((one) => one.paymentMethod.providerReference === 'pm_queued')
    await until(() => mine().length > 0, { what: 'the queued listener is told' })
    const [event] = mine()
    assert.deepEqual(
      [event?.paymentMethod.status, event?.paymentMethod.details, event?.paymentMethod.hasToken],
      ['attached', { brand: 'visa' }, true],
    )
    assert.ok(!Object.values(event?.paymentMethod ?? {}).includes(token))
  })

  test('two gateways with the same reference have two cards and two events', async () => {
    await stated.say(card('pm_same'))
    await stated.sayBy('echoing', card('pm_same'))
    assert.deepEqual(
      (await rowsOf('pm_same')).map((row) => row['gateway']),
      ['echoing', 'stating'],
    )
    assert.deepEqual(
      (await eventsOf('pm_same')).map(({ dedupKey }) => dedupKey),
      ['payment_method:attached:stating/pm_same', 'payment_method:attached:echoing/pm_same'],
    )
  })

  test('two merchant accounts with the same reference have two cards and two events', async () => {
    for (const merchantAccount of ['shop_1', 'shop_2', 'shop_1']) {
      await stated.say(card('pm_shared', { merchantAccount }))
    }
    assert.equal((await rowsOf('pm_shared')).length, 2)
    assert.deepEqual(
      (await eventsOf('pm_shared')).map(({ dedupKey }) => dedupKey),
      ['shop_1', 'shop_2'].map((shop) => `payment_method:attached:stating/${shop}/pm_shared`),
    )
  })

  test('a card of a payment that is not there waits for it, and is nobody’s until then', async () => {
    const id = newUuid()
    const call = await stated.say(card('pm_waiting', { token, payment: { id } }))
    assert.deepEqual([call.state, stated.resultsOf(call)], ['ignored', ['unknown_payment']])
    assert.deepEqual([await rowsOf('pm_waiting'), await typesOf('pm_waiting')], [[], []])
    await stated.create({ id })
    await idle(stated.core)
    assert.deepEqual(
      (await rowsOf('pm_waiting')).map((row) => row['payment_id']),
      [id],
    )
    assert.deepEqual(await typesOf('pm_waiting'), ['PaymentMethodAttached'])
  })

  test('a date that no card can have is left out, and costs nothing else', async () => {
    const payment = await stated.create()
    const details = { brand: 'visa', expiryMonth: 13, expiryYear: 2 ** 40 }
    await stated.say(paid(payment), card('pm_dateless', { details, payment: { id: payment.id } }))
    const { status, paymentMethods } = await stated.details(payment)
    assert.equal(status, 'paid')
    assert.deepEqual(paymentMethods[0]?.details, { brand: 'visa' })
  })

  const foreign: readonly [string, (payment: Payment) => Promise<unknown>, string][] = [
    [
      'gateway',
      ({ id }) => stated.sayBy('echoing', card('pm_foreign', { payment: { id } })),
      'gateway_mismatch',
    ],
    [
      'account',
      ({ id }) => stated.say(card('pm_account', { payment: { id }, merchantAccount: 'b' })),
      'merchant_mismatch',
    ],
  ]
  for (const [what, send, reason] of foreign) {
    test(`a card said to be saved with a payment of another ${what} is ignored: ${reason}`, async () => {
      const payment = await stated.create()
      await send(payment)
      const [call] = (await stated.core.calls.list({ paymentId: payment.id })).data
      assert.ok(call)
      assert.deepEqual(stated.resultsOf(call), [reason])
      assert.deepEqual((await stated.details(payment)).paymentMethods, [])
    })
  }
})
