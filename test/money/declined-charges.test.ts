import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { declineKindOf } from '../../src/gateways/decline-kind.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { declineCodeIn, type DeclineKind } from '../../src/payments/decline.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { gatewayOf } from '../spec/callbacks.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'
import { providers } from './providers.ts'

/** What each provider's codes mean, and the code with which its stand-in refuses a charge. */
const tables: Readonly<Record<string, DeclineTable>> = {
  stripe: {
    declined: [
      ['insufficient_funds', 'soft'],
      ['a_code_of_tomorrow', 'soft'],
      ['stolen_card', 'hard'],
      ['revocation_of_authorization', 'hard'],
      ['expired_card', 'hard'],
      ['authentication_required', 'authentication'],
    ],
    // With a key of another account every card is missing.
    refused: ['resource_missing', 'ours'],
  },
  liqpay: {
    declined: [
      ['9859', 'soft'],
      ['limit', 'soft'],
      ['9851', 'hard'],
      ['102', 'hard'],
      ['expired_3ds', 'authentication'],
    ],
    refused: ['err_no_card_token', 'hard'],
  },
  wayforpay: {
    declined: [
      ['1104', 'soft'],
      ['1199', 'soft'],
      ['1103', 'hard'],
      ['1105', 'hard'],
      ['1108', 'authentication'],
    ],
    refused: ['1116', 'hard'],
  },
  monobank: {
    declined: [
      ['59', 'soft'],
      ['9999', 'soft'],
      ['41', 'hard'],
      ['51', 'hard'],
      ['1034', 'authentication'],
    ],
    refused: ['TOKEN_NOT_FOUND', 'hard'],
  },
  hutko: {
    declined: [
      ['1004', 'soft'],
      ['1099', 'soft'],
      ['1015', 'hard'],
    ],
    refused: ['1035', 'hard'],
  },
}

interface DeclineTable {
  readonly declined: readonly (readonly [code: string, kind: DeclineKind])[]
  readonly refused: readonly [code: string, kind: DeclineKind | 'ours']
}

/** In whose callbacks anything could be named the code of a decline. */
const silentInCallbacks = new Set(['hutko'])

onAnyDatabase((engine) => {
  for (const [name, start] of providers) {
    const { chargeSavedCard, declines } = gatewayOf(name)
    if (chargeSavedCard === undefined) continue

    describe(name, () => {
      const table = tables[name]
      assert.ok(table, `what the codes of ${name} mean is not tested`)
      let billing: MoneyBilling
      let paymentMethodId: string
      before(async () => {
        billing = await openMoney(engine, await start())
        const payment = await billing.createPaid({ saveCard: true })
        const [card] = (await billing.details(payment)).paymentMethods
        assert.ok(card)
        paymentMethodId = card.id
      })
      afterEach(() => billing.provider.declineCharges?.(undefined))
      after(async () => {
        await billing.close()
        await billing.provider.close()
      })
      const charge = () => billing.create({ paymentMethodId, initiatedBy: 'merchant' })
      const standingOf = async (payment: { readonly id: string }) => {
        const { status, checkout, declineCode } = await billing.details(payment)
        return [status, checkout, declineCode]
      }

      test('every code that it lists can be stored', () => {
        assert.ok(declines && declines.size > 0)
        for (const code of declines.keys()) assert.equal(declineCodeIn(code), code)
      })

      test('a card that is declined ends the charge, with the code and what it means', async () => {
        for (const [code, kind] of table.declined) {
          billing.provider.declineCharges?.(code)
          const { status, checkout, declineCode } = await charge()
          assert.deepEqual([status, checkout, declineCode], ['failed', 'closed', code])
          assert.equal(declineKindOf(gatewayOf(name), declineCode), kind, code)
        }
      })

      for (const [code] of table.declined.slice(0, 1)) {
        test(`a card that is declined with ${code} ends the charge once, whoever says it again`, async () => {
          billing.provider.declineCharges?.(code)
          const payment = await charge()
          assert.deepEqual(await standingOf(payment), ['failed', 'closed', code])
          await billing.deliver(billing.provider.paymentCallback(payment.id))
          await billing.core.payments.poll(payment.id)
          assert.deepEqual(await standingOf(payment), ['failed', 'closed', code])
          assert.deepEqual(await billing.events(payment), ['PaymentFailed'])
        })
      }

      test('the callback that is faster than the answer, and then a poll, say it as well', async () => {
        const [code] = table.declined.at(-1) ?? []
        assert.ok(code)
        billing.provider.declineCharges?.(code)
        billing.provider.misbehave('charge', 'cut')
        const id = randomUUID()
        const lost = billing.create({ id, paymentMethodId, initiatedBy: 'merchant' })
        await assert.rejects(lost, { code: 'checkout_unknown' })
        // A bank that names no payment of ours is asked before its callback is understood.
        if (name !== 'monobank') {
          await billing.deliver(billing.provider.paymentCallback(id))
          const told = silentInCallbacks.has(name) ? null : code
          assert.deepEqual(await standingOf({ id }), ['failed', 'closed', told])
        }
        await billing.core.payments.poll(id)
        assert.deepEqual(await standingOf({ id }), ['failed', 'closed', code])
        assert.deepEqual(await billing.events({ id }), ['PaymentFailed'])
      })

      test('what the provider refuses to charge is declined, if its code says so', async () => {
        const [code, kind] = table.refused
        billing.provider.misbehave('charge', 'refuse')
        if (kind === 'ours') {
          const refused = (error: unknown) =>
            isQuittanceError(error) &&
            error.code === 'checkout_refused' &&
            error.providerCode === code
          await assert.rejects(charge(), refused)
          return
        }
        const payment = await charge()
        assert.deepEqual(await standingOf(payment), ['failed', 'closed', code])
        assert.equal(declineKindOf(gatewayOf(name), code), kind)
        assert.deepEqual(await billing.events(payment), ['PaymentFailed'])
        assert.match(payment.operationError ?? '', new RegExp(code))
      })
    })
  }
})
