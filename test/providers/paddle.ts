import { createHmac } from 'node:crypto'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { paddle } from '../../src/gateways/paddle/index.ts'
import type { AskedRequest } from '../support/stand-in.ts'
import {
  approve,
  createAccount,
  makeRefund,
  move,
  refundsOf,
  type Account,
  type PlatformEvent,
} from './paddle/account.ts'
import type { HeldTransaction } from './paddle/entities.ts'
import { livesIn, payCheckout, type Lives } from './paddle/life.ts'
import { problem } from './paddle/replies.ts'
import { understand } from './paddle/requests.ts'
import { startProvider, type ProviderStandIn, type Understood } from './provider-stand-in.ts'

/** Paddle's API: its own package can talk to it, too. */
export interface PaddleStandIn extends ProviderStandIn {
  readonly base: string
  readonly apiKey: string
  readonly account: Account
  /** What becomes of subscriptions without our asking. */
  readonly lives: Lives
  /**
   * All callbacks that were not taken before, in the order of what happened, or as `order` has it:
   * on their way they may be shuffled, doubled and lost.
   */
  takeCallbacks(
    order?: (events: readonly PlatformEvent[]) => readonly PlatformEvent[],
  ): readonly SignedCallback[]
}

interface Keys {
  readonly apiKey: string
  readonly signingSecret: string
  readonly clientToken: string
}

const keysOf = (owner: string): Keys => ({
  apiKey: `pdl_sdbx_apikey_01j8000000000000000000${owner}000000000000000000_AbC`,
  signingSecret: `pdl_ntfset_01j8000000000000000000${owner}0000000000000000000000`,
  clientToken: `test_7d279f61a3499fed520f7cd8c08${owner.replaceAll('_', '')}`,
})

/**
 * A sandbox account with a default payment link, and neither transactions nor destinations. Each
 * owner (a word of 8 letters) has keys of its own.
 */
export async function startPaddle(owner = 'stand_in'): Promise<PaddleStandIn> {
  const account = createAccount()
  const keys = keysOf(owner)
  const { apiKey } = keys
  const provider = await startProvider({
    understand: (asked) => checked(account, asked, apiKey),
    faults: account.faults,
    within: 'data',
  })
  const config = {
    signing_secret: keys.signingSecret,
    api_key: apiKey,
    api_base: provider.base,
    client_token: keys.clientToken,
  }
  const given = { gateway: paddle, namesNothing: ['remove'] as const, config, account, apiKey }
  let taken = 0
  const takeCallbacks: PaddleStandIn['takeCallbacks'] = (order = (events) => events) => {
    const events = order(account.events.slice(taken))
    taken = account.events.length
    return events.map((event) => signed(event, account.now(), keys))
  }
  const subscribed = { lives: livesIn(account), takeCallbacks }
  // A copy would lose what can be set.
  return Object.assign(provider, {
    ...given,
    ...happenings(account),
    ...tellings(account, keys),
    ...subscribed,
  })
}

function checked(account: Account, asked: AskedRequest, apiKey: string): Understood | undefined {
  const understood = understand(account, asked)
  const fault = headerFault(asked, apiKey)
  if (fault === undefined || understood === undefined) return understood
  account.faults.push(`${asked.method} ${asked.target}: ${fault}`)
  return { ...understood, perform: () => problem(403, 'invalid_token') }
}

function headerFault({ headers, body }: AskedRequest, apiKey: string): string | undefined {
  const [scheme, key] = (headers.authorization ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || key !== apiKey) return 'not the API key'
  if ((headers['paddle-version'] ?? '1') !== '1') return 'not version 1'
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  return body !== '' && !isJson ? 'the body is not said to be JSON' : undefined
}

/** What Paddle charges by itself was never opened. */
function isCheckoutOf(paymentId: string): (one: HeldTransaction) => boolean {
  return (one) => one.paymentId === paymentId && one.origin === undefined
}

function transactionOf({ transactions }: Account, paymentId: string): HeldTransaction {
  const found = transactions.findLast(isCheckoutOf(paymentId))
  if (found === undefined) throw new Error(`payment ${paymentId} was never opened at Paddle`)
  return found
}

type Happenings = Pick<
  ProviderStandIn,
  'pay' | 'decline' | 'expire' | 'refundByHand' | 'completeRefunds'
>

function happenings(account: Account): Happenings {
  return {
    pay: (paymentId) => payCheckout(account, transactionOf(account, paymentId)),
    decline(paymentId) {
      const transaction = transactionOf(account, paymentId)
      const attempts = ['error', ...transaction.attempts] as const
      move(account, transaction, { action: 'payment_failed', status: 'ready', attempts })
    },
    // Paddle ends no checkout by itself: somebody cancels it in the dashboard.
    expire: (paymentId) =>
      move(account, transactionOf(account, paymentId), { action: 'canceled', status: 'canceled' }),
    refundByHand(paymentId, amount) {
      const transaction = transactionOf(account, paymentId)
      const isWhole = amount === transaction.amount
      const reason = 'requested_by_customer'
      approve(account, makeRefund(account, { transaction, amount, isWhole, reason }))
    },
    completeRefunds(paymentId) {
      for (const one of refundsOf(account, transactionOf(account, paymentId))) {
        if (one.status === 'pending_approval') approve(account, one)
      }
    },
  }
}

type Tellings = Pick<
  ProviderStandIn,
  'refunds' | 'charges' | 'checkouts' | 'paymentCallback' | 'refundCallback'
>

function tellings(account: Account, keys: Keys): Tellings {
  const callback = (kind: string, paymentId: string) => {
    const { id } = transactionOf(account, paymentId)
    const event = account.events.findLast(
      (one) => one.event_type.startsWith(kind) && JSON.stringify(one.data).includes(id),
    )
    if (event === undefined) throw new Error(`no ${kind} event tells of payment ${paymentId}`)
    return signed(event, account.now(), keys)
  }
  return {
    refunds: (paymentId) =>
      refundsOf(account, transactionOf(account, paymentId)).map(({ amount, status }) => ({
        amount,
        status: status === 'approved' ? 'paid' : 'pending',
      })),
    // No saved card can be charged.
    charges: () => 0,
    checkouts: (paymentId) => account.transactions.filter(isCheckoutOf(paymentId)).length,
    paymentCallback: (paymentId) => callback('transaction.', paymentId),
    refundCallback: (paymentId) => callback('adjustment.', paymentId),
  }
}

/** Compact, keys in the order in which Paddle sends them, what is not ASCII escaped. */
function signed(event: PlatformEvent, now: Date, { signingSecret }: Keys): SignedCallback {
  const { data, event_id, event_type, occurred_at } = event
  const notification_id = event_id.replace('evt_', 'ntf_')
  const content = JSON.stringify({ data, event_id, event_type, occurred_at, notification_id })
  const body = content.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const ts = Math.floor(now.getTime() / 1000)
  const h1 = createHmac('sha256', signingSecret).update(`${ts}:${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Paddle',
    'paddle-signature': `ts=${ts};h1=${h1}`,
  }
  return { headers, body }
}
