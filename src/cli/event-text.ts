import { z } from 'zod'
import { moneyText } from '../kernel/money.ts'

const payable = z.object({ type: z.string(), id: z.string() })
const money = { amount: z.int(), currency: z.string() }
const priced = { id: z.string(), status: z.string(), payable, ...money }

/** What a line says of each subject, of the JSON that goes out. */
const subjects = z.object({
  payment: z.object({ ...priced, type: z.string() }).nullish(),
  payment_method: z
    .object({
      id: z.string(),
      status: z.string(),
      brand: z.string().nullable(),
      last_four: z.string().nullable(),
    })
    .optional(),
  dispute: z.object({ status: z.string() }).optional(),
  subscription: z.object(priced).optional(),
  period: z.object({ number: z.int() }).optional(),
  quota: z.string().optional(),
  invoice: z
    .object({
      id: z.string(),
      number: z.string().nullable(),
      status: z.string(),
      payable,
      total: z.int(),
      currency: z.string(),
    })
    .optional(),
})

type Subjects = z.output<typeof subjects>

/** An event as JSON, in a list or in the feed. */
interface EventJson {
  readonly superseded: boolean
  readonly data: unknown
}

/**
 * What an event is about, as that stands now: `payment 7c9e...`, `order:42`, `19.99 UAH`, `paid`; at
 * the end `superseded` if it holds no longer. Nothing of what cannot be read.
 */
export function aboutEvent({ data, superseded }: EventJson): readonly string[] {
  const read = subjects.safeParse(data)
  const about = read.success ? aboutSubjects(read.data) : []
  return superseded ? [...about, 'superseded'] : about
}

function aboutSubjects({ dispute, ...about }: Subjects): readonly string[] {
  const { subscription, period, quota, invoice, payment_method: card, payment } = about
  if (subscription !== undefined) {
    const part = period === undefined ? quota : `period ${period.number}`
    return ['subscription', ...aboutPriced(subscription), ...(part === undefined ? [] : [part])]
  }
  if (invoice !== undefined) {
    const { id, number, total: amount } = invoice
    return ['document', ...aboutPriced({ ...invoice, id: number ?? id, amount })]
  }
  if (card !== undefined) {
    const name = [card.brand, card.last_four].filter((part) => part !== null).join(' ')
    return ['card', card.id, ...(name === '' ? [] : [name]), card.status]
  }
  if (payment == null) return []
  const disputed = dispute === undefined ? [] : [`dispute ${dispute.status}`]
  return [payment.type === 'refund' ? 'refund' : 'payment', ...aboutPriced(payment), ...disputed]
}

interface Priced {
  readonly id: string
  readonly payable: { readonly type: string; readonly id: string }
  readonly amount: number
  readonly currency: string
  readonly status: string
}

function aboutPriced({ id, payable, amount, currency, status }: Priced): readonly string[] {
  const price = moneyText({ amount: BigInt(amount), currency })
  return [id, `${payable.type}:${payable.id}`, price, status]
}
