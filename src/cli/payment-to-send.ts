import type { BillingCore } from '../billing/types.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { Scenario } from '../gateways/scenario.ts'
import { signerOf, type SignedPayment } from '../gateways/sign-callback.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { paymentStatuses, type Payment, type PaymentStatus } from '../payments/payment.ts'

/** A declined payment can still be paid, so sending a failure and then a success needs no id. */
const unpaid: readonly PaymentStatus[] = ['pending', 'failed', 'canceled']

/** What the callback states instead of what is stored. */
export interface Stated {
  readonly payment?: string
  readonly amount?: number
  readonly currency?: string
}

/** What the callback states: the stored payment, with the amount and currency given. */
export async function paymentToSend(
  core: BillingCore,
  { gateway, scenario, asked }: { gateway: Gateway; scenario: Scenario; asked: Stated },
): Promise<SignedPayment> {
  const { payment: id, currency } = asked
  const amount = asked.amount === undefined ? undefined : BigInt(asked.amount)
  const { statesMoney = true } = signerOf(gateway)
  if (!statesMoney && (amount !== undefined || currency !== undefined)) {
    throw new QuittanceError(
      'usage',
      `a callback of ${gateway.name} states no money, so --amount and --currency say nothing`,
      { fix: 'Leave them out: it pays what was charged.' },
    )
  }
  const stored =
    id === undefined
      ? await newest(core, gateway, statusesFor(scenario))
      : await core.payments.get(id)
  if (stored !== undefined) {
    return { ...stored, amount: amount ?? stored.amount, currency: currency ?? stored.currency }
  }
  if (id !== undefined && amount !== undefined && currency !== undefined) {
    return { id, amount, currency }
  }
  throw notFound(gateway, { id, scenario, statesMoney })
}

/** Those of a payment that the scenario can be about; the ones in front are preferred. */
function statusesFor({ means }: Scenario): readonly (readonly PaymentStatus[])[] {
  // A look-up may find anything.
  if (means === 'looked up') return [paymentStatuses]
  // A card is saved with a payment, and removed after it: it need not be unpaid.
  if (means.every((one) => one.startsWith('payment_method:'))) return [['paid'], unpaid]
  if (!means.some((one) => /^(?:refund|dispute):/.test(one))) return [unpaid]
  // Some callbacks of a refund state the payment, too.
  return means.includes('payment:paid') ? [['paid'], unpaid] : [['paid']]
}

async function newest(
  core: BillingCore,
  { name: gateway }: Gateway,
  preferences: readonly (readonly PaymentStatus[])[],
): Promise<Payment | undefined> {
  for (const statuses of preferences) {
    const ofEach = statuses.map((status) => newestOf(core, { gateway, status }))
    const [found] = (await Promise.all(ofEach))
      .flatMap((one) => one ?? [])
      .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    if (found !== undefined) return found
  }
  return undefined
}

/** Further payments may lie before it than one page looks at. */
const mostPages = 20

async function newestOf(
  core: BillingCore,
  wanted: { readonly gateway: string; readonly status: PaymentStatus },
): Promise<Payment | undefined> {
  let cursor: string | null | undefined
  for (let page = 0; page < mostPages && cursor !== null; page += 1) {
    const { data, nextCursor } = await core.payments.list({
      ...wanted,
      limit: 1,
      ...(cursor !== undefined && { cursor }),
    })
    if (data[0] !== undefined) return data[0]
    cursor = nextCursor
  }
  return undefined
}

interface Wanted {
  readonly id: string | undefined
  readonly scenario: Scenario
  readonly statesMoney: boolean
}

function notFound({ name }: Gateway, { id, scenario, statesMoney }: Wanted): QuittanceError {
  if (id !== undefined) {
    const create = 'Create one with `quittance payments create`'
    const fix = statesMoney
      ? `${create}, or give --payment, --amount and --currency.`
      : `${create}.`
    return new QuittanceError('payment_not_found', `there is no payment ${JSON.stringify(id)}`, {
      fix,
    })
  }
  const needsPaid = statusesFor(scenario).every((statuses) => !statuses.includes('pending'))
  return needsPaid
    ? new QuittanceError('payment_not_found', `${name} has no paid payment`, {
        fix: `Pay one first: quittance send ${name}`,
      })
    : new QuittanceError('payment_not_found', `${name} has no payment that can still be paid`, {
        fix: 'Create one with `quittance payments create`.',
      })
}
