import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OperationContext } from '../../src/gateways/interpret-context.ts'
import type { ChargeRequest, CheckoutRequest } from '../../src/gateways/operations.ts'
import { isQuittanceError, QuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { providers } from '../money/providers.ts'
import {
  chargeFor,
  checkoutFor,
  contextFor,
  failureOf,
  hour,
  methodOf,
  paymentAt,
  refundFor,
} from '../providers/kit.ts'
import type { Asking, Misbehaviour, ProviderStandIn } from '../providers/provider-stand-in.ts'
import { gatewayOf } from '../spec/callbacks.ts'
import { until } from '../support/until.ts'

// Every gateway, every operation, every way in which a provider can treat the request: what moves
// money is asked for once, and only what the provider refused is known not to be done.

type Changing = Extract<Asking, 'checkout' | 'refund' | 'charge' | 'close' | 'remove'>

/** What is known after each, and whether the provider has done it. */
const faults: readonly (readonly [Misbehaviour, code: string, done: boolean])[] = [
  ['cut', 'provider_unreachable', true],
  ['garbled', 'provider_reply_invalid', true],
  ['wrong', 'provider_reply_invalid', true],
  ['down', 'provider_unreachable', false],
  ['refuse', 'provider_refused', false],
]

/** A poll changes nothing, so that some gateways ask again after the others. */
const unreadable = faults.filter(([fault]) => fault !== 'cut' && fault !== 'down')

/** Where nobody answers, an operation ends with its signal. */
const silences: readonly (readonly [Misbehaviour, done: boolean])[] = [
  ['never', true],
  ['lost', false],
]

const now = new Date()

/** The stand-ins go by the clock. */
const contextOf = ({ gateway, config }: ProviderStandIn, changes: Partial<OperationContext> = {}) =>
  contextFor(gateway, config, { now, ...changes })
const requestFor = (payment: Payment, fields: Partial<CheckoutRequest> = {}) =>
  checkoutFor(payment, { expiresAt: new Date(now.getTime() + hour), ...fields })

const chargedId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e33'

interface Prepared {
  readonly ask: (context: OperationContext) => Promise<unknown>
  /** How often the provider has done it; undefined where nothing counts that. */
  readonly done?: () => number
  /** Whether a poll finds it, once it is done. */
  readonly found?: () => Promise<boolean>
}

/** A provider, and a payment there as far as the operation needs it. */
async function opened(provider: ProviderStandIn, saveCard = false): Promise<Payment> {
  const { gateway } = provider
  const payment = paymentAt(provider, { saveCard })
  const request = requestFor(payment, { saveCard })
  const context = contextOf(provider)
  const { checkout } = gateway
  if (checkout?.kind === 'api') {
    const { checkoutReference = null, providerReference = null } = await checkout.open(
      request,
      context,
    )
    return { ...payment, checkoutReference, providerReference }
  }
  assert.ok(checkout?.kind === 'form')
  const { action, fields } = checkout.form(request, context.credentials)
  await fetch(action, { method: 'POST', body: new URLSearchParams(fields) })
  return payment
}

async function paid(provider: ProviderStandIn, saveCard = false): Promise<Payment> {
  const payment = await opened(provider, saveCard)
  provider.pay(payment.id)
  const reported = (await outcomesOf(provider, payment)).find(({ type }) => type === 'payment')
  assert.ok(reported?.type === 'payment')
  const { providerReference = payment.providerReference } = reported
  return { ...payment, status: 'paid', providerReference }
}

function outcomesOf(provider: ProviderStandIn, { id }: Payment) {
  const { gateway } = provider
  const { headers, body } = provider.paymentCallback(id)
  const payload = gateway.parse({ headers, body: Buffer.from(body) })
  return gateway.interpret(payload, contextOf(provider))
}

async function cardOf(provider: ProviderStandIn): Promise<Pick<ChargeRequest, 'method' | 'token'>> {
  const payment = await paid(provider, true)
  const saved = (await outcomesOf(provider, payment)).find(({ type }) => type === 'payment_method')
  assert.ok(saved?.type === 'payment_method')
  const { merchantAccount, live } = payment
  const { reference, customerReference = null, token = null } = saved
  const known = { merchantAccount, live, customerReference, providerReference: reference }
  return { method: methodOf(provider.gateway.name, known), token }
}

const operations: Readonly<Record<Changing, (provider: ProviderStandIn) => Promise<Prepared>>> = {
  checkout: async (provider) => {
    const { checkout } = provider.gateway
    assert.ok(checkout?.kind === 'api')
    const request = requestFor(paymentAt(provider))
    return {
      ask: (context) => checkout.open(request, context),
      done: () => provider.checkouts(request.payment.id),
    }
  },
  refund: async (provider) => {
    const { refund } = provider.gateway
    assert.ok(refund)
    const payment = await paid(provider)
    return {
      ask: async (context) => refund(refundFor(payment, 100n), context),
      done: () => provider.refunds(payment.id).length,
    }
  },
  charge: async (provider) => {
    const { chargeSavedCard } = provider.gateway
    assert.ok(chargeSavedCard)
    const card = await cardOf(provider)
    const payment = paymentAt(provider, { id: chargedId })
    const charged = { ...payment, paymentMethodId: card.method.id }
    return {
      ask: async (context) => chargeSavedCard(chargeFor(payment, card), context),
      done: () => provider.charges(chargedId),
      found: async () => (await pollOf(provider, charged))?.standing === 'paid',
    }
  },
  remove: async (provider) => {
    const { chargeSavedCard, name, removeSavedCard } = provider.gateway
    assert.ok(removeSavedCard)
    const ids = { customerReference: 'ctm_1', providerReference: 'paymtd_1' }
    const card = chargeSavedCard
      ? await cardOf(provider)
      : { method: methodOf(name, ids), token: null }
    return { ask: async (context) => removeSavedCard(card, context) }
  },
  close: async (provider) => {
    const { closeCheckout } = provider.gateway
    assert.ok(closeCheckout)
    const payment = await opened(provider)
    const request = { payment, handedAt: now }
    return { ask: async (context) => closeCheckout(request, context) }
  },
}

/** Whether the gateway has the operation; a form is sent by the payer's browser. */
function isIn(name: string): (operation: Changing) => boolean {
  const { checkout, refund, chargeSavedCard, closeCheckout, removeSavedCard } = gatewayOf(name)
  const found = {
    checkout: checkout?.kind === 'api',
    refund: refund !== undefined,
    charge: chargeSavedCard !== undefined,
    close: closeCheckout !== undefined,
    remove: removeSavedCard !== undefined,
  }
  return (operation) => found[operation]
}

for (const [name, start] of providers) {
  describe(name, () => {
    for (const operation of (Object.keys(operations) as Changing[]).filter(isIn(name))) {
      for (const [fault, code, done] of faults) {
        test(`${name}: a ${operation} that is answered ${fault} was asked for once`, async (t) => {
          const provider = await start()
          t.after(() => provider.close())
          const prepared = await operations[operation](provider)
          if (fault === 'wrong' && provider.namesNothing?.includes(operation)) return
          const before = countOf(provider, operation)
          provider.misbehave(operation, fault)
          const asked = prepared.ask(contextOf(provider)).then(failedOf)
          const failure = await failureOf(asked)
          assert.equal(failure.code, code)
          assert.equal(failure.providerCode !== undefined, fault === 'refuse')
          assert.equal(countOf(provider, operation) - before, 1)
          await assertDone(prepared, done)
        })
      }

      for (const [silence, done] of silences) {
        test(`${name}: a ${operation} that is ${silence} answered ends with its signal`, async (t) => {
          const provider = await start()
          t.after(() => provider.close())
          const prepared = await operations[operation](provider)
          const before = countOf(provider, operation)
          provider.misbehave(operation, silence)
          const reason = new Error('its time is up')
          const ending = new AbortController()
          const { signal } = ending
          const context = contextOf(provider, { signal })
          const ended = assert.rejects(
            prepared.ask(context),
            (error) =>
              error === reason ||
              (isQuittanceError(error) && error.code === 'provider_unreachable'),
          )
          await until(() => countOf(provider, operation) > before, { what: 'it is asked' })
          ending.abort(reason)
          await ended
          assert.equal(countOf(provider, operation) - before, 1)
          await assertDone(prepared, done)
        })
      }

      test(`${name}: a late answer to a ${operation} is waited for`, async (t) => {
        const provider = await start()
        t.after(() => provider.close())
        const prepared = await operations[operation](provider)
        provider.misbehave(operation, 'late')
        await prepared.ask(contextOf(provider))
      })
    }

    for (const [fault, code] of unreadable) {
      test(`${name}: a poll that is answered ${fault} says nothing of the payment`, async (t) => {
        const provider = await start()
        t.after(() => provider.close())
        const payment = await paid(provider)
        provider.misbehave('poll', fault)
        const failure = await failureOf(Promise.resolve(pollOf(provider, payment)))
        assert.equal(failure.code, code)
        assert.equal((await pollOf(provider, payment))?.standing, 'paid')
      })
    }
  })
}

async function assertDone({ done, found }: Prepared, expected: boolean): Promise<void> {
  if (done !== undefined) assert.equal(done(), expected ? 1 : 0)
  if (found !== undefined) assert.equal(await found(), expected)
}

function pollOf(provider: ProviderStandIn, payment: Payment) {
  return provider.gateway.poll?.({ payment, handedAt: now }, contextOf(provider))
}

/** A refund that the provider refuses may also be an answer: it has failed. */
function failedOf(reply: unknown): unknown {
  const { status, code } = (typeof reply === 'object' && reply !== null ? reply : {}) as {
    readonly status?: unknown
    readonly code?: string
  }
  if (status !== 'failed') return reply
  throw new QuittanceError('provider_refused', 'the reply says so', { providerCode: code })
}

function countOf({ asked }: ProviderStandIn, operation: Changing): number {
  return asked.filter(({ asking }) => asking === operation).length
}
