import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unmarked } from '../../../test/support/unmarked.ts'
import type { Payment } from '../../payments/payment.ts'
import {
  answering,
  contextOf,
  openBank,
  opened,
  operations,
  paid,
  pollOf,
  savedToken,
} from '../../../test/gateways/monobank/asking.ts'
import { failureOf, hour, now } from '../../../test/providers/kit.ts'
import { endedBySilence } from '../../../test/providers/until-silent.ts'
import {
  cancellation,
  interpretText,
  invoice,
  invoiceId,
  paid as paidOutcome,
  paidBy,
  paymentId,
} from '../../../test/gateways/monobank/invoices.ts'

const { poll } = operations
const known = (fields: Partial<Payment> = {}) =>
  pollOf({ checkout: 'open', checkoutReference: invoiceId, ...fields })

/** The reply to a poll while the bank says this of the invoice. */
async function told(fields: Readonly<Record<string, unknown>>, more: Partial<Payment> = {}) {
  await using bank = await answering({ body: invoice(fields) })
  return await poll(known(more), contextOf(bank))
}

const unpaid = (detail: string) => [{ type: 'ignored', reason: 'no_outcome', detail }]

test('each state of an invoice is told as its callback tells it, with what may still come', async () => {
  await using bank = await openBank()
  const payable = await opened(bank)
  const { checkoutReference } = payable
  const request = { payment: payable, handedAt: now }
  const outcome = paidBy(checkoutReference)
  const declined = { ...outcome, status: 'failed', declineCode: '59' }
  const steps = [
    [() => {}, unpaid('created'), 'open', false],
    [() => bank.decline(paymentId), [declined], 'open', false],
    [() => bank.delay(paymentId, 'processing'), unpaid('processing'), 'undecided', false],
    [() => bank.delay(paymentId, 'hold'), unpaid('hold'), 'undecided', false],
    [() => bank.expire(paymentId), [{ ...outcome, status: 'canceled' }], 'unpaid', false],
    [() => bank.pay(paymentId), [outcome], 'paid', true],
  ] as const
  for (const [step, outcomes, standing, listsRefunds] of steps) {
    step()
    const reply = await poll(request, contextOf(bank))
    assert.deepEqual(reply, { outcomes, standing, listsRefunds })
    assert.deepEqual(reply.outcomes, interpretText(bank.paymentCallback(paymentId).body))
  }
  const target = `/api/merchant/invoice/status?invoiceId=${checkoutReference}`
  assert.ok(bank.asked.slice(1).every(({ request: one }) => one.target === target))
})

test('refunds are told with the payment, ours by our id and those by hand', async () => {
  await using bank = await openBank()
  const payable = await paid(bank)
  bank.refundByHand(paymentId, 75n)
  const part = await poll({ payment: payable, handedAt: now }, contextOf(bank))
  const { checkoutReference } = payable
  const byHand = {
    type: 'refund',
    payment: { checkoutReference },
    status: 'paid',
    amount: 75n,
    currency: 'UAH',
    refundReference: `${checkoutReference}/2026-11-20T12:00:00Z/75`,
  }
  assert.deepEqual(part.outcomes, [paidBy(checkoutReference), byHand])
  assert.equal(part.listsRefunds, true)
  assert.deepEqual(part.outcomes, interpretText(bank.refundCallback(paymentId).body))
})

test('an invoice of ours that was given back whole had been paid, so that is told first', async () => {
  await using bank = await openBank()
  const payable = await paid(bank)
  bank.refundByHand(paymentId, 15_075n)
  const { outcomes, standing } = await poll({ payment: payable, handedAt: now }, contextOf(bank))
  const [first, second] = outcomes
  assert.deepEqual(first, { ...paidBy(payable.checkoutReference), ifOpenedHere: true })
  assert.equal(second?.type === 'refund' && 'amount' in second && second.amount, 15_075n)
  assert.equal(standing, 'paid')
  const refunds = interpretText(bank.refundCallback(paymentId).body)
  assert.deepEqual(outcomes, refunds)
})

test('one that began elsewhere may have been a hold that was let go', async () => {
  const reversed = { status: 'reversed', cancelList: [cancellation({ amount: 15_075 })] }
  const said = async (more: Partial<Payment>) => {
    const { outcomes, standing } = await told(reversed, more)
    return [...outcomes.map(({ type }) => type), standing]
  }
  // That it was paid holds of what was opened here alone.
  assert.deepEqual(await said({ checkout: 'none' }), ['payment', 'refund', 'unclear'])
  assert.deepEqual(await said({ checkout: 'closed' }), ['payment', 'refund', 'paid'])
  const paymentMethodId = '0198f0aa-0000-7000-8000-00000000cafe'
  assert.deepEqual(await said({ checkout: 'none', paymentMethodId }), ['payment', 'refund', 'paid'])
})

test('a list of refunds that cannot be read is not a whole list', async () => {
  for (const [cancelList, expected] of [
    [undefined, true],
    [[], true],
    [[cancellation()], true],
    [[cancellation({ status: 'later' })], false],
    [[cancellation(), { status: 'success' }], false],
    ['none', false],
  ] as const) {
    const { listsRefunds } = await told({ cancelList })
    assert.equal(listsRefunds, expected, JSON.stringify(cancelList))
  }
})

test('after a declined card the page takes another one, until its time is over', async () => {
  const standingAt = async (expiresAt: Date | null) =>
    (await told({ status: 'failure' }, { expiresAt })).standing
  assert.equal(await standingAt(null), 'open')
  assert.equal(await standingAt(new Date(now.getTime() + 1)), 'open')
  assert.equal(await standingAt(now), 'unpaid')
})

test('a status that nobody knows decides nothing, and is unclear', async () => {
  const reply = await told({ status: 'blocked' })
  assert.deepEqual(
    { ...reply, outcomes: unmarked(reply.outcomes) },
    {
      outcomes: [{ type: 'ignored', reason: 'unhandled_event', detail: 'blocked' }],
      standing: 'unclear',
      listsRefunds: false,
    },
  )
})

test('a card that was saved is told by a poll too', async () => {
  await using bank = await openBank()
  const payable = await paid(bank, true)
  const { outcomes } = await poll({ payment: payable, handedAt: now }, contextOf(bank))
  const [, saved] = outcomes
  assert.ok(saved?.type === 'payment_method')
  assert.equal(saved.token?.reveal(), savedToken(bank))
})

test('without our reference the invoice that we asked about is meant', async () => {
  const { outcomes } = await told({ reference: undefined })
  assert.deepEqual(outcomes, [paidOutcome])
})

test('a reply about something else is believed in nothing', async () => {
  const bodies = [
    invoice({ invoiceId: 'p2_another' }),
    invoice({ reference: '0198f0aa-ffff-7fff-8fff-ffffffffffff' }),
    invoice({ reference: 'order-7' }),
    invoice({ invoiceId: undefined }),
    invoice({ status: undefined }),
    [],
    'paid',
    {},
  ]
  for (const body of bodies) {
    await using bank = await answering({ body })
    const { code } = await failureOf(poll(known(), contextOf(bank)))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(body))
  }
})

test('an invoice that the bank does not have is absent', async () => {
  await using bank = await openBank()
  assert.deepEqual(await poll(known(), contextOf(bank)), {
    outcomes: unpaid('not_found'),
    standing: 'absent',
    listsRefunds: false,
  })
})

test('a checkout that was never answered is found in the statement once somebody paid', async () => {
  await using bank = await openBank()
  bank.misbehave('checkout', 'cut')
  await assert.rejects(opened(bank))
  const absent = { outcomes: unpaid('not_found'), standing: 'absent', listsRefunds: false }
  assert.deepEqual(await poll(pollOf(), contextOf(bank)), absent)
  bank.pay(paymentId)
  assert.deepEqual(await poll(pollOf(), contextOf(bank)), {
    outcomes: [paidBy('p2_00000001')],
    standing: 'paid',
    listsRefunds: true,
    checkout: { checkoutReference: 'p2_00000001' },
  })
  const other = '0198f0aa-9999-7999-8999-999999999999'
  assert.deepEqual(await poll(pollOf({ id: other }), contextOf(bank)), absent)
})

test('the statement is asked for in seconds, around the time of the payment', async () => {
  await using bank = await answering({ body: { list: [] } })
  const askedAt = async (age: number) => {
    await poll(pollOf(), contextOf(bank, { now: new Date(now.getTime() + age) }))
    return bank.requests.at(-1)?.target
  }
  const second = now.getTime() / 1000
  const path = '/api/merchant/statement'
  assert.equal(await askedAt(999), `${path}?from=${second - 600}&to=${second + 600}`)
  assert.equal(await askedAt(hour), `${path}?from=${second - 600}&to=${second + 4200}`)
  const most = second + 31 * 24 * 3600 + 600
  assert.equal(await askedAt(90 * 24 * hour), `${path}?from=${second - 600}&to=${most}`)
})

test('a statement that is none finds nothing, and says so', async () => {
  const entry = { invoiceId, status: 'success', reference: paymentId }
  const bodies = [
    [],
    'x',
    { list: 'x' },
    { list: { 0: entry } },
    { list: [{ ...entry, invoiceId: undefined }] },
    { list: [{ ...entry, invoiceId: 'a/b' }] },
  ]
  for (const body of bodies) {
    await using bank = await answering({ body })
    const { code } = await failureOf(poll(pollOf(), contextOf(bank)))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(body))
  }
  // There is no statement; there is one, but no invoice that it names.
  for (const list of [undefined, [entry]]) {
    await using bank = await answering((target) =>
      list !== undefined && target.includes('statement') ? { body: { list } } : undefined,
    )
    const { code } = await failureOf(poll(pollOf(), contextOf(bank)))
    assert.equal(code, 'provider_reply_invalid')
  }
  for (const body of [{}, { list: null }, { list: ['x', null, {}, { reference: 'order-7' }] }]) {
    await using bank = await answering({ body })
    const { standing } = await poll(pollOf(), contextOf(bank))
    assert.equal(standing, 'absent', JSON.stringify(body))
  }
})

test('a poll asks again by itself, and ends when it is told to', async () => {
  await using bank = await openBank()
  const payable = await paid(bank)
  const request = { payment: payable, handedAt: now }
  bank.misbehave('poll', 'down', 'cut')
  assert.equal((await poll(request, contextOf(bank))).standing, 'paid')
  bank.misbehave('poll', 'garbled')
  assert.equal((await failureOf(poll(request, contextOf(bank)))).code, 'provider_reply_invalid')
  bank.misbehave('poll', 'wrong')
  assert.equal((await failureOf(poll(request, contextOf(bank)))).code, 'provider_reply_invalid')
  bank.misbehave('poll', 'refuse')
  assert.deepEqual(await failureOf(poll(request, contextOf(bank))), {
    code: 'provider_refused',
    providerCode: 'FORBIDDEN',
  })
  bank.misbehave('poll', 'never')
  const signal = endedBySilence(bank)
  await assert.rejects(poll(request, contextOf(bank, { signal })))
})
