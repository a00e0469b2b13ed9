import { sql } from 'kysely'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { Operations, PollReply } from '../../src/gateways/operations.ts'
import type { SubscriptionOperations } from '../../src/gateways/subscription-operations.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { TestBilling } from '../support/billing.ts'
import { openStated, type StatedBilling, type StatedOptions } from '../support/stated-billing.ts'
import type { TestEngine } from '../support/databases.ts'
import { stating } from '../support/stating-gateway.ts'

/** What the provider answers; a test changes it as it goes. */
export type Script = {
  -readonly [K in 'poll' | 'refund' | 'chargeSavedCard' | 'closeCheckout']?: Operations[K]
} & {
  /** How a subscription stands that the provider manages. */
  read?: SubscriptionOperations['read'] | undefined
} & { open?: (Operations['checkout'] & { kind: 'api' })['open'] }

/** A gateway whose callbacks state any outcome, and whose provider answers as the script says. */
export function scriptedGateway(script: Script): Gateway {
  const silent = () => {
    throw new QuittanceError('provider_unreachable', 'nothing is scripted')
  }
  return {
    ...stating,
    name: 'scripted',
    secretFields: [],
    partialRefund: true,
    checkout: { kind: 'api', open: async (...asked) => (script.open ?? silent)(...asked) },
    pollsPerMinute: 1_200,
    pollsRenewals: true,
    poll: async (...asked) => (script.poll ?? silent)(...asked),
    refund: async (...asked) => (script.refund ?? silent)(...asked),
    declines: new Map([
      ['no_money', 'soft'],
      ['stolen', 'hard'],
      ['confirm_it', 'authentication'],
    ]),
    chargeSavedCard: async (...asked) => (script.chargeSavedCard ?? silent)(...asked),
    closeCheckout: async (...asked) => (script.closeCheckout ?? silent)(...asked),
  }
}

/** A working billing with such a gateway, and one that only states. */
export async function openScripted(
  engine: TestEngine,
  options: StatedOptions = {},
): Promise<{ readonly billing: StatedBilling; readonly script: Script }> {
  const script: Script = {}
  const billing = await openStated(engine, {
    ...options,
    extraGateways: [stating, scriptedGateway(script)],
    providerTimeoutMs: 120_000,
  })
  return { billing, script }
}

/** Nothing is scripted any more, but that checkouts open. */
export function onlyOpens(script: Script): void {
  for (const key of Object.keys(script) as (keyof Script)[]) delete script[key]
  script.open = opensAt('https://provider.example/pay')
}

/** Lets so much time pass for a payment and its refunds; what is due, and when, stays as it is. */
export async function age(
  { database: { db } }: TestBilling,
  { id }: Pick<Payment, 'id'>,
  hours: number,
): Promise<void> {
  await sql`update billing.payments set
      created_at = created_at - make_interval(hours => ${hours}::int),
      handed_at = handed_at - make_interval(hours => ${hours}::int),
      expires_at = expires_at - make_interval(hours => ${hours}::int)
    where id = ${id} or parent_id = ${id}`.execute(db)
}

export const opensAt = (url: string) => async () => ({ url })

/** A poll's answer that says nothing, with these fields. */
export function pollReply(
  outcomes: readonly Outcome[] = [],
  fields: Partial<PollReply> = {},
): PollReply {
  return { outcomes, standing: 'open', listsRefunds: false, ...fields }
}

export const refusal = () =>
  new QuittanceError('provider_refused', 'the provider says no', { providerCode: 'no' })
