import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answering,
  contextOf,
  openBank,
  opened,
  operations,
  pollOf,
  sent,
} from '../../../test/gateways/monobank/asking.ts'
import { failureOf, now } from '../../../test/providers/kit.ts'
import { invoiceId, paymentId } from '../../../test/gateways/monobank/invoices.ts'

const { closeCheckout } = operations
const handedAt = now

test('an invoice that nobody has paid is taken away, also after a declined card', async () => {
  await using bank = await openBank()
  for (const decline of [false, true]) {
    const payment = await opened(bank)
    if (decline) bank.decline(paymentId)
    assert.equal(await closeCheckout({ payment, handedAt }, contextOf(bank)), 'closed')
    assert.deepEqual(sent(bank, 'close').at(-1), { invoiceId: payment.checkoutReference })
    const { standing } = await operations.poll({ payment, handedAt }, contextOf(bank))
    assert.equal(standing, 'unpaid')
  }
})

test('what is paid or over is not open any more', async () => {
  await using bank = await openBank()
  const endings = [
    () => bank.pay(paymentId),
    () => bank.expire(paymentId),
    () => {
      bank.pay(paymentId)
      bank.refundByHand(paymentId, 15_075n)
    },
  ]
  for (const end of endings) {
    const payment = await opened(bank)
    end()
    assert.equal(await closeCheckout({ payment, handedAt }, contextOf(bank)), 'not_open')
  }
})

test('while the payer is paying the refusal of the bank stands', async () => {
  await using bank = await openBank()
  for (const status of ['processing', 'hold'] as const) {
    const payment = await opened(bank)
    bank.delay(paymentId, status)
    assert.deepEqual(await failureOf(closeCheckout({ payment, handedAt }, contextOf(bank))), {
      code: 'provider_refused',
      providerCode: 'INVOICE_ALREADY_USED',
    })
  }
})

test('an invoice that there never was is not open', async () => {
  await using bank = await openBank()
  assert.equal(await closeCheckout(pollOf(), contextOf(bank)), 'not_open')
  assert.equal(bank.asked.length, 0)
  const request = pollOf({ checkoutReference: invoiceId })
  assert.equal(await closeCheckout(request, contextOf(bank)), 'not_open')
})

test('a refused token closes nothing', async () => {
  await using bank = await answering({ status: 403, body: { errCode: 'FORBIDDEN' } })
  const request = pollOf({ checkoutReference: invoiceId })
  assert.deepEqual(await failureOf(closeCheckout(request, contextOf(bank))), {
    code: 'provider_refused',
    providerCode: 'FORBIDDEN',
  })
})
