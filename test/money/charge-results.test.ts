import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createPayment } from '../../src/checkout/create-payment.ts'
import { readPaymentInput, type CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import type { ChargeReply } from '../../src/gateways/operations.ts'
import { isQuittanceError, QuittanceError, type ErrorCode } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { chargeCard, type ChargeResult } from '../../src/money/charge-cards.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import type { PaymentOutcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { onAnyDatabase } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { onlyOpens, openScripted, pollReply, type Script } from './scripted.ts'

const withCode = (code: string) => (error: unknown) =>
  isQuittanceError(error) && error.code === code
const failing = (code: ErrorCode, providerCode?: string) => () =>
  Promise.reject(new QuittanceError(code, 'the provider says so', { providerCode }))

onAnyDatabase((engine) => {
  let billing: StatedBilling
  let script: Script
  let context: MoneyContext
  before(async () => {
    ;({ billing, script } = await openScripted(engine))
    context = await billing.runtime.entitledContext()
  })
  after(() => billing.close())
  beforeEach(() => onlyOpens(script))

  const saveCard = async () => {
    const reference = `pm_${newUuid()}`
    await billing.sayBy('scripted', { type: 'payment_method', status: 'attached', reference })
    const { data } = await billing.core.paymentMethods.list({ gateway: 'scripted', limit: 1 })
    const [saved] = data
    assert.equal(saved?.providerReference, reference)
    return saved
  }
  /** The row of a charge, committed; its provider has not been asked. */
  const begin = async (fields: Partial<CreatePaymentInput> = {}) => {
    const { gateways } = context.processing
    const token = newUuid()
    const creation = { ...context, gateways, token, isAllowedReturn: () => true }
    const input = readPaymentInput({
      gateway: 'scripted',
      amount: 10_000,
      currency: 'USD',
      payable: { type: 'order', id: '1' },
      paymentMethodId: (await saveCard()).id,
      ...fields,
    })
    return (await createPayment(billing.database.db, creation, input)).payment
  }
  const said = (payment: Payment, fields: Partial<PaymentOutcome> = {}): PaymentOutcome => {
    const { id, amount, currency } = payment
    return { type: 'payment', payment: { id }, status: 'paid', amount, currency, ...fields }
  }
  const answers = (reply: (payment: Payment) => Partial<ChargeReply>) => {
    script.chargeSavedCard = async ({ payment }) => ({ outcomes: [], ...reply(payment) })
  }
  const attempt = async (payment?: Payment) =>
    chargeCard(payment ?? (await begin()), 'merchant', context)
  /** The result, and what the row and its events say. */
  const shown = async (result: ChargeResult) => {
    const { status, checkout, declineCode } = await billing.details(result.payment)
    assert.deepEqual([result.payment.status, result.payment.checkout], [status, checkout])
    const events = await billing.events(result.payment)
    return [result.kind, status, checkout, declineCode, ...events]
  }

  describe('the charge of a saved card', () => {
    test('that is paid', async () => {
      answers((payment) => ({ outcomes: [said(payment)] }))
      const expected = ['paid', 'paid', 'closed', null, 'PaymentSucceeded']
      assert.deepEqual(await shown(await attempt()), expected)
    })

    for (const [declineCode, decline] of [
      ['no_money', 'soft'],
      ['stolen', 'hard'],
      ['confirm_it', 'authentication'],
      ['never_heard_of', 'soft'],
      [undefined, 'soft'],
    ] as const) {
      test(`that is declined with the code ${declineCode} is over: ${decline}`, async () => {
        answers((payment) => ({
          outcomes: [said(payment, { status: 'failed', ...(declineCode && { declineCode }) })],
        }))
        const result = await attempt()
        const code = declineCode ?? null
        assert.deepEqual(await shown(result), [
          'declined',
          'failed',
          'closed',
          code,
          'PaymentFailed',
        ])
        assert.ok(result.kind === 'declined')
        assert.deepEqual([result.decline, result.code], [decline, code])
      })
    }

    for (const [providerCode, decline] of [
      ['no_money', 'soft'],
      ['stolen', 'hard'],
    ] as const) {
      test(`that is refused with a code of a decline (${providerCode}) is declined`, async () => {
        script.chargeSavedCard = failing('provider_refused', providerCode)
        const result = await attempt()
        const expected = ['declined', 'failed', 'closed', providerCode, 'PaymentFailed']
        assert.deepEqual(await shown(result), expected)
        assert.equal(result.kind === 'declined' && result.decline, decline)
        assert.equal(result.payment.operationError, 'the provider says so')
      })
    }

    for (const [what, error, code] of [
      ['a code that is none of a decline', 'provider_refused', 'bad_api_key'],
      ['no code', 'provider_refused', undefined],
      ['settings that lack', 'gateway_not_configured', 'stolen'],
      ['an amount that it does not take', 'payment_invalid', undefined],
      ['a token that is not stored', 'payment_method_unusable', undefined],
    ] as const) {
      test(`that is refused for ${what} is our fault, and canceled`, async () => {
        script.chargeSavedCard = failing(error, code)
        const result = await attempt()
        const expected = ['refused_by_us', 'canceled', 'refused', null, 'PaymentCanceled']
        assert.deepEqual(await shown(result), expected)
        assert.ok(result.kind === 'refused_by_us')
        assert.deepEqual([result.error.code, result.error.providerCode], ['checkout_refused', code])
        assert.equal(result.payment.operationError, 'the provider says so')
      })
    }

    test('of a gateway that is gone, or charges no saved cards, is our fault as well', async () => {
      for (const gateway of ['gone', 'stating']) {
        const payment = { ...(await begin()), gateway }
        await sql`update billing.payments set gateway = ${gateway} where id = ${payment.id}`.execute(
          billing.database.db,
        )
        assert.equal((await attempt(payment)).kind, 'refused_by_us', gateway)
      }
    })

    test('of a card that has been removed asks nobody', async () => {
      const card = await saveCard()
      const payment = await begin({ paymentMethodId: card.id })
      await sql`update billing.payment_methods set status = 'detached', token = null
        where id = ${card.id}`.execute(billing.database.db)
      script.chargeSavedCard = () => assert.fail('nobody is asked')
      const result = await attempt(payment)
      const expected = ['card_unusable', 'canceled', 'refused', null, 'PaymentCanceled']
      assert.deepEqual(await shown(result), expected)
    })

    test('without an answer is unknown, and a poll tells', async () => {
      for (const error of ['provider_unreachable', 'provider_reply_invalid'] as const) {
        script.chargeSavedCard = failing(error, 'stolen')
        const result = await attempt()
        assert.deepEqual(await shown(result), ['unknown', 'pending', 'unknown', null])
        assert.equal(result.kind === 'unknown' && result.error.code, 'checkout_unknown')
        const failed = said(result.payment, { status: 'failed', declineCode: 'no_money' })
        script.poll = async () => pollReply([failed], { standing: 'unpaid' })
        const { payment } = await billing.core.payments.poll(result.payment.id)
        const seen = [payment.status, payment.checkout, payment.declineCode]
        assert.deepEqual(seen, ['failed', 'closed', 'no_money'])
      }
    })

    test('that names the charge of another payment is unknown: it may be ours that was made', async () => {
      answers((payment) => ({ outcomes: [said(payment)], providerReference: 'ch_same' }))
      assert.equal((await attempt()).kind, 'paid')
      assert.deepEqual(await shown(await attempt()), ['unknown', 'pending', 'unknown', null])
    })

    test('that gives the id by which a callback waits for it is paid by that callback', async () => {
      script.chargeSavedCard = async ({ payment }) => {
        const named = { payment: { providerReference: 'ch_early' } }
        const call = await billing.sayBy('scripted', { ...said(payment), ...named })
        assert.deepEqual(billing.resultsOf(call), ['unknown_payment'])
        return { outcomes: [], providerReference: 'ch_early' }
      }
      const { payment } = await attempt()
      const isPaid = async () => (await billing.details(payment)).status === 'paid'
      await until(isPaid, { what: 'the callback is processed again' })
    })

    test('that nobody has decided yet is pending: with a page, without one, or by itself', async () => {
      const redirectUrl = 'https://bank.example/confirm'
      for (const [reply, needsPayer] of [
        [{ redirectUrl }, true],
        [{ needsPayer: true }, true],
        [{}, false],
      ] as const) {
        answers(() => reply)
        const result = await attempt()
        assert.deepEqual(await shown(result), ['pending', 'pending', 'open', null])
        assert.ok(result.kind === 'pending')
        const url = 'redirectUrl' in reply ? redirectUrl : null
        assert.deepEqual([result.needsPayer, result.redirectUrl], [needsPayer, url])
        assert.equal(result.payment.checkoutUrl, url)
      }
    })

    test('that the provider has ended is canceled', async () => {
      answers((payment) => ({ outcomes: [said(payment, { status: 'canceled' })] }))
      const expected = ['canceled', 'canceled', 'closed', null, 'PaymentCanceled']
      assert.deepEqual(await shown(await attempt()), expected)
    })

    test('goes by the row: a callback was faster than the answer', async () => {
      script.chargeSavedCard = async ({ payment }) => {
        await billing.sayBy('scripted', paid(payment))
        return { outcomes: [said(payment, { status: 'failed' })] }
      }
      assert.equal((await attempt()).kind, 'paid')
      script.chargeSavedCard = async ({ payment }) => {
        const declineCode = 'stolen'
        await billing.sayBy('scripted', { ...said(payment), status: 'failed', declineCode })
        throw new QuittanceError('provider_unreachable', 'cut')
      }
      const result = await attempt()
      const expected = ['declined', 'failed', 'closed', 'stolen', 'PaymentFailed']
      assert.deepEqual(await shown(result), expected)
      assert.equal(result.kind === 'declined' && result.decline, 'hard')
      script.chargeSavedCard = async ({ payment }) => {
        await billing.sayBy('scripted', paid(payment))
        throw new QuittanceError('provider_refused', 'no', { providerCode: 'bad_api_key' })
      }
      assert.equal((await attempt()).kind, 'paid')
    })
  })

  test('a declined charge is paid after all if its provider says so, and keeps its code', async () => {
    answers((payment) => ({
      outcomes: [said(payment, { status: 'failed', declineCode: 'no_money' })],
    }))
    const { payment } = await attempt()
    await billing.sayBy('scripted', paid(payment))
    const { status, checkout, declineCode } = await billing.details(payment)
    assert.deepEqual([status, checkout, declineCode], ['paid', 'closed', 'no_money'])
    assert.deepEqual(await billing.events(payment), ['PaymentFailed', 'PaymentSucceeded'])
  })

  test('a payer whose card is declined at a checkout may try again there', async () => {
    const payment = await billing.create({ gateway: 'scripted', checkout: true })
    const declined = { ...said(payment), status: 'failed', declineCode: 'no_money' }
    await billing.sayBy('scripted', declined)
    const { status, checkout, declineCode } = await billing.details(payment)
    assert.deepEqual([status, checkout, declineCode], ['failed', 'open', 'no_money'])
  })

  test('who asks again for a charge that was refused is told so again; nobody is asked twice', async () => {
    let asked = 0
    const { id: paymentMethodId } = await saveCard()
    script.chargeSavedCard = () => {
      asked += 1
      return failing('provider_refused', 'bad_api_key')()
    }
    const id = newUuid()
    const charge = () => billing.create({ id, gateway: 'scripted', paymentMethodId })
    await assert.rejects(charge(), withCode('checkout_refused'))
    await assert.rejects(charge(), withCode('checkout_refused'))
    assert.equal(asked, 1)
    script.chargeSavedCard = failing('provider_refused', 'stolen')
    const other = await billing.create({ gateway: 'scripted', paymentMethodId })
    assert.deepEqual([other.status, other.declineCode], ['failed', 'stolen'])
  })
})
