import type { Gateway } from '../../src/gateways/gateway.ts'
import type { CheckoutRequest } from '../../src/gateways/operations.ts'
import type {
  SubscriptionOperations,
  SubscriptionWishRequest,
} from '../../src/gateways/subscription-operations.ts'
import type { PaymentOutcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { SubscriptionStatement } from '../../src/subscriptions/statement.ts'
import { pollReply, scriptedGateway, type Script } from '../money/scripted.ts'

/** What the provider was asked for, in order: `cancel now`, `pause period_end`, `resume`. */
export interface Asked extends SubscriptionWishRequest {
  readonly what: string
}

/** A provider that manages subscriptions: what it was asked for, and how it says they stand. */
export interface ManagingProvider {
  readonly gateway: Gateway
  readonly script: Script
  /** Every checkout that it was asked for. */
  readonly checkouts: CheckoutRequest[]
  readonly asked: Asked[]
  /** By its id of them. */
  readonly stated: Map<string, SubscriptionStatement>
  /** What it does next to a wish instead of carrying it out. */
  readonly odd: ((asked: Asked) => Promise<void>)[]
  /** The payer has completed the checkout: the subscription is there, and its first charge. */
  begin(payment: Payment, fields?: Partial<SubscriptionStatement>): Begun
}

export interface Begun {
  readonly reference: string
  /** What a callback says of its first charge. */
  readonly paid: PaymentOutcome
}

export function managingProvider(): ManagingProvider {
  const script: Script = {}
  const checkouts: CheckoutRequest[] = []
  const asked: Asked[] = []
  const stated = new Map<string, SubscriptionStatement>()
  const odd: ManagingProvider['odd'] = []
  const completed = new Map<string, Begun>()
  script.open = async (request) => {
    checkouts.push(request)
    return { url: 'https://provider.example/subscribe', checkoutReference: request.payment.id }
  }
  script.closeCheckout = async ({ payment }) => (completed.has(payment.id) ? 'not_open' : 'closed')
  script.poll = async ({ payment }) => {
    const begun = completed.get(payment.id)
    return begun === undefined
      ? pollReply([], { standing: 'open' })
      : pollReply([begun.paid], { standing: 'paid' })
  }
  const provider: ManagingProvider = {
    gateway: { ...scriptedGateway(script), subscriptions: operationsOf({ asked, stated, odd }) },
    script,
    checkouts,
    asked,
    stated,
    odd,
    begin(payment, fields = {}) {
      const request = checkouts.findLast((one) => one.payment.id === payment.id)
      if (request?.recurring === undefined) throw new Error('no such checkout')
      const { every, trialEndsAt } = request.recurring
      const reference = `sub_${payment.id}`
      const startsAt = new Date()
      const endsAt = trialEndsAt ?? new Date(startsAt.getTime() + 30 * 86_400_000)
      const { amount, currency } = request.payment
      stated.set(reference, {
        reference,
        status: trialEndsAt === null ? 'active' : 'trialing',
        amount,
        currency,
        every,
        currentPeriod: { startsAt, endsAt },
        trialEndsAt,
        cancelAt: null,
        pauseAt: null,
        resumeAt: null,
        endedAt: null,
        failure: null,
        payment: { id: payment.id },
        ...fields,
      })
      const { id } = payment
      const begun: Begun = {
        reference,
        paid: {
          type: 'payment',
          payment: { id },
          status: 'paid',
          amount: trialEndsAt === null ? amount : 0n,
          currency,
          subscriptionReference: reference,
          period: { startsAt, endsAt },
        },
      }
      completed.set(id, begun)
      return begun
    },
  }
  return provider
}

function operationsOf({
  asked,
  stated,
  odd,
}: Pick<ManagingProvider, 'asked' | 'stated' | 'odd'>): SubscriptionOperations {
  const wish = async (
    one: Asked,
    change: (now: SubscriptionStatement) => Partial<SubscriptionStatement>,
  ) => {
    asked.push(one)
    const instead = odd.shift()
    if (instead !== undefined) return instead(one)
    const now = stated.get(one.reference)
    if (now !== undefined) stated.set(one.reference, { ...now, ...change(now) })
    return undefined
  }
  const wished = ({ reference, merchantAccount, live, wishId }: SubscriptionWishRequest) => ({
    reference,
    merchantAccount,
    live,
    wishId,
  })
  return {
    intervalFault: ({ unit, count }) =>
      unit === 'year' && count > 1 ? 'a period may be a year at most' : undefined,
    read: async ({ reference }) => {
      const statement = stated.get(reference)
      return statement && { statement, outcomes: [] }
    },
    cancel: (request) =>
      wish({ ...wished(request), what: `cancel ${request.at}` }, ({ currentPeriod }) =>
        request.at === 'now'
          ? { status: 'canceled', endedAt: new Date() }
          : { cancelAt: currentPeriod?.endsAt ?? null },
      ),
    pause: (request) =>
      wish({ ...wished(request), what: `pause ${request.at}` }, ({ currentPeriod }) =>
        request.at === 'now'
          ? { status: 'paused', resumeAt: request.until }
          : { pauseAt: currentPeriod?.endsAt ?? null, resumeAt: request.until },
      ),
    resume: (request) =>
      wish({ ...wished(request), what: 'resume' }, ({ status }) => ({
        ...(status === 'paused' && { status: 'active' }),
        cancelAt: null,
        pauseAt: null,
        resumeAt: null,
      })),
  }
}
