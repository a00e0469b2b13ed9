/**
 * A process that charges saved cards through a provider over HTTP: the product's own worker on due
 * subscriptions, or the loop of a merchant who charges the cards without it.
 */
import { coreOf } from '../src/billing/create-core.ts'
import type { BillingCore } from '../src/billing/types.ts'
import { createRuntime } from '../src/billing/runtime.ts'
import type { Gateway } from '../src/gateways/gateway.ts'
import type { ChargeReply } from '../src/gateways/operations.ts'
import type { Payment } from '../src/payments/payment.ts'
import { stating } from '../test/support/stating-gateway.ts'
import { gatewayName } from './renewals-provider.ts'
import { readCards } from './renewals-rows.ts'

/** What the process is told to do. */
export interface RenewalsOrder {
  readonly url: string
  /** Of the provider. */
  readonly base: string
  /** Cards charged at the same time. */
  readonly lanes: number
  /** Which of all saved cards to charge; left out: whatever the due subscriptions need. */
  readonly share?: { readonly index: number; readonly processes: number }
}

const order = JSON.parse(process.env['RENEWALS'] ?? '') as RenewalsOrder
const { url, base, lanes, share } = order

const gateway: Gateway = {
  ...stating,
  name: gatewayName,
  secretFields: [],
  chargesPerMinute: 1_000_000,
  chargeSavedCard: async ({ payment }): Promise<ChargeReply> => {
    const response = await fetch(`${base}/charge/${payment.id}`, { method: 'POST' })
    await response.body?.cancel()
    return { outcomes: [paid(payment)] }
  },
}

function paid({ id, amount, currency }: Payment) {
  return { type: 'payment', payment: { id }, status: 'paid', amount, currency } as const
}

const runtime = createRuntime({
  database: { url },
  extraGateways: [gateway],
  subscriptions: { chargesAtOnce: lanes },
})
const core = coreOf(runtime)
const { processing } = await runtime.entitledContext()
const all = share === undefined ? [] : await readCards(processing.database)
const cards = all.filter((_, index) => index % (share?.processes ?? 1) === share?.index)
process.stdout.write('{}\n')
// The provider holds this back until every process is there.
await fetch(`${base}/ready`, { method: 'POST' })
if (share === undefined) await core.work()
else await chargeAll(core, cards)

async function chargeAll({ payments }: BillingCore, all: readonly string[]): Promise<void> {
  const rest = all.values()
  const lane = async () => {
    for (const paymentMethodId of rest) {
      await payments.create({
        gateway: gatewayName,
        amount: 4999n,
        currency: 'USD',
        payable: { type: 'account', id: paymentMethodId },
        paymentMethodId,
        initiatedBy: 'merchant',
      })
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
