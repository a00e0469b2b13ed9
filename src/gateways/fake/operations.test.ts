import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../../test/support/pending-payment.ts'
import { silentLog } from '../../kernel/log.ts'
import { readCredentials } from '../credentials.ts'
import type { Gateway } from '../gateway.ts'
import type { PollRequest } from '../operations.ts'
import { fake } from './index.ts'

const gateway: Gateway = fake
const now = new Date('2026-11-20T12:00:00Z')
const contextOf = (production: boolean) => ({
  credentials: readCredentials(fake, {}, { production }),
  log: silentLog,
  signal: AbortSignal.timeout(60_000),
  now,
})
const on = contextOf(false)

const payment = pendingPayment({ gateway: 'fake' })
const requestOf = (expiresAt: Date | null): PollRequest => ({
  payment: { ...payment, expiresAt },
  handedAt: now,
})
const refund = {
  payment,
  refund: pendingPayment({
    gateway: 'fake',
    id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e77',
    type: 'refund',
    parentId: payment.id,
    amount: 1n,
  }),
  isWhole: false,
  reason: null,
}

test('the payer pays on a page of ours', () => {
  assert.ok(gateway.checkout?.kind === 'page')
  const url = gateway.checkout.url({
    payment,
    callbackUrl: 'https://shop.example/billing/webhooks/fake',
    returnUrl: 'https://shop.example/billing/return/1',
    expiresAt: now,
    saveCard: false,
    origin: 'https://shop.example',
  })
  assert.equal(url, `https://shop.example/billing/fake/checkout/${payment.id}`)
})

test('a poll decides nothing, and the payment is open until it expires', async () => {
  const undecided = {
    outcomes: [{ type: 'ignored', reason: 'no_outcome', detail: 'fake' }],
    listsRefunds: false,
  }
  const cases = [
    [null, 'open'],
    [new Date(now.getTime() + 1), 'open'],
    [now, 'unpaid'],
    [new Date(now.getTime() - 1), 'unpaid'],
  ] as const
  for (const [expiresAt, standing] of cases) {
    const reply = await gateway.poll?.(requestOf(expiresAt), on)
    assert.deepEqual(reply, { ...undecided, standing })
  }
})

test('a refund is done at once, under an id of its own', async () => {
  const reference = 'fake_refund_0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e77'
  assert.deepEqual(await gateway.refund?.(refund, on), { status: 'paid', reference })
})

test('a checkout can always be closed', async () => {
  assert.equal(await gateway.closeCheckout?.(requestOf(null), on), 'closed')
})

test('a gateway that is switched off does nothing', async () => {
  const off = contextOf(true)
  const code = 'gateway_not_configured'
  await assert.rejects(async () => gateway.poll?.(requestOf(null), off), { code })
  await assert.rejects(async () => gateway.refund?.(refund, off), { code })
  await assert.rejects(async () => gateway.closeCheckout?.(requestOf(null), off), { code })
})
