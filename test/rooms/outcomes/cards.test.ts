import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { listPaymentMethods } from '../../../src/database/payment-methods.ts'
import type { Tables } from '../../../src/database/tables.ts'
import { readCipher } from '../../../src/kernel/encryption.ts'
import { secret } from '../../../src/kernel/secret.ts'
import { tokenContext } from '../../../src/outcomes/apply-payment-method.ts'
import type { PaymentMethodOutcome } from '../../../src/payments/outcome.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { apply, charge, idOf, nameOf, type Brief } from './room.ts'

const cipher = readCipher(Buffer.alloc(32, 7).toString('base64'))

const card = (
  status: PaymentMethodOutcome['status'],
  fields: Partial<PaymentMethodOutcome> = {},
): PaymentMethodOutcome => ({ type: 'payment_method', reference: 'card_1', status, ...fields })

const claim = (status: 'attached' | 'detached', also: Brief = {}): Brief => ({
  type: `payment_method:${status}`,
  claims: status === 'attached' ? 'PaymentMethodAttached' : 'PaymentMethodDetached',
  key: `payment_method:${status}:x/card_1`,
  about: status,
  ...also,
})

/** Each card: status, the payment that it was saved with, its token. */
const cardsOf = async (db: Kysely<Tables>) => {
  const rows = await db.selectFrom('billing.payment_methods').selectAll().orderBy('id').execute()
  return rows.map(({ status, payment_id: paymentId, token }) => {
    const decrypted = token && cipher?.decrypt(token, 'payment_methods/x/card_1/token')
    return [status, paymentId && nameOf(paymentId), decrypted && Buffer.from(decrypted).toString()]
  })
}

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)
  const token = secret('tok_1')

  test(
    'a saved card is recorded with the payment that it was saved with, and claims its event',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const saved = card('attached', { payment: { id: idOf('a') } })
      assert.deepEqual(await apply(db, [saved]), [claim('attached', { of: 'a pending' })])
      assert.deepEqual(await cardsOf(db), [['attached', 'a', null]])
      // Again: its event is claimed, if nobody has.
      assert.deepEqual(await apply(db, [saved]), [claim('attached', { of: 'a pending' })])
    }),
  )

  test(
    'a card that was saved without a payment is recorded alone',
    rolledBack(async (db) => {
      assert.deepEqual(await apply(db, [card('attached')]), [claim('attached')])
      assert.deepEqual(await cardsOf(db), [['attached', null, null]])
    }),
  )

  test(
    'the token of a saved card is kept encrypted, bound to its row; without a key it is not kept',
    rolledBack(async (db) => {
      await apply(db, [card('attached', { token })])
      assert.deepEqual(await cardsOf(db), [['attached', null, null]])
      await apply(db, [card('attached', { token })], { cipher })
      assert.deepEqual(await cardsOf(db), [['attached', null, 'tok_1']])
      assert.equal(tokenContext('x', 'card_1'), 'payment_methods/x/card_1/token')
    }),
  )

  test(
    'a removed card has no token any more, and stays removed',
    rolledBack(async (db) => {
      await apply(db, [card('attached', { token })], { cipher })
      assert.deepEqual(await apply(db, [card('detached', { token })], { cipher }), [
        claim('detached'),
      ])
      assert.deepEqual(await cardsOf(db), [['detached', null, null]])
      await charge(db, 'a')
      const late = card('attached', { token, payment: { id: idOf('a') } })
      assert.deepEqual(await apply(db, [late], { cipher }), [
        { type: 'payment_method', reason: 'already_settled', of: 'a pending' },
      ])
      assert.deepEqual(await cardsOf(db), [['detached', 'a', null]])
    }),
  )

  test(
    'the token of a card that was never saved here is not kept',
    rolledBack(async (db) => {
      assert.deepEqual(await apply(db, [card('detached', { token })], { cipher }), [
        claim('detached'),
      ])
      assert.deepEqual(await cardsOf(db), [['detached', null, null]])
    }),
  )

  test(
    'of a card that several reports describe one row holds what any of them knew',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const known = { kind: 'card', lastFour: '4242' } as const
      const more = { brand: 'visa', expiryMonth: 12, expiryYear: 2031 }
      await apply(db, [card('attached', { details: known, payment: { id: idOf('a') } })])
      await apply(db, [card('attached', { customerReference: 'cus_1', details: more })])
      const [{ paymentId, customerReference, details } = assert.fail(), ...others] = (
        await listPaymentMethods(db, {})
      ).data
      assert.deepEqual([paymentId, customerReference, others], [idOf('a'), 'cus_1', []])
      assert.deepEqual(details, { ...known, ...more })
    }),
  )

  test(
    'a date that no card can have is left out, and costs nothing else',
    rolledBack(async (db) => {
      const details = { brand: 'visa', expiryMonth: 13, expiryYear: 2 ** 40 }
      assert.deepEqual(await apply(db, [card('attached', { details })]), [claim('attached')])
      const [saved] = (await listPaymentMethods(db, {})).data
      assert.deepEqual(saved?.details, { brand: 'visa' })
    }),
  )

  test(
    'saved and removed in one callback it has both events, and is removed',
    rolledBack(async (db) => {
      assert.deepEqual(
        await apply(db, [card('attached', { token }), card('detached')], { cipher }),
        [claim('attached'), claim('detached')],
      )
      assert.deepEqual(await cardsOf(db), [['detached', null, null]])
    }),
  )

  test(
    'the same reference at two gateways, or in two accounts, is that of two cards',
    rolledBack(async (db) => {
      const keys: unknown[] = []
      for (const [gateway, merchantAccount] of [
        ['x', undefined],
        ['y', undefined],
        ['x', 'shop_1'],
        ['x', 'shop_2'],
        ['x', 'shop_1'],
      ] as const) {
        const saved = card('attached', {
          ...(merchantAccount !== undefined && { merchantAccount }),
        })
        const [claimed] = await apply(db, [saved], { gateway })
        keys.push(claimed?.['key'])
      }
      assert.deepEqual(
        keys,
        ['x/card_1', 'y/card_1', 'x/shop_1/card_1', 'x/shop_2/card_1', 'x/shop_1/card_1'].map(
          (of) => `payment_method:attached:${of}`,
        ),
      )
      assert.equal((await cardsOf(db)).length, 4)
    }),
  )

  test(
    'a card is not tied to another account’s payment, nor recorded with it',
    rolledBack(async (db) => {
      await charge(db, 'a', { merchantAccount: 'theirs' })
      assert.deepEqual(await apply(db, [card('attached', { payment: { id: idOf('a') } })]), [
        { type: 'payment_method', reason: 'merchant_mismatch', of: 'a pending' },
      ])
      assert.deepEqual(await cardsOf(db), [])
    }),
  )
})
