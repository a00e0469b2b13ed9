import { days, minutes } from '../../kernel/duration.ts'
import { assertNever } from '../../kernel/errors.ts'
import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Standing } from '../operations.ts'

/** How the charge of a saved card ends; README.md says what each means. */
export type FakeEnd =
  | 'paid'
  | 'soft'
  | 'hard'
  | 'gone'
  | 'authentication'
  | 'confirm'
  | 'waiting'
  | 'refused'
  | 'lost'
  | 'cut'
  | 'slow'
  | 'late'
  | 'bounced'
  | 'recovered'

/** The same, or that it depends on the day. */
export type Script = FakeEnd | 'payday'

/** By the last two digits of the amount in minor units; any others are paid. */
const byDigits: ReadonlyMap<bigint, Script> = new Map<bigint, Script>([
  [1n, 'soft'],
  [2n, 'hard'],
  [3n, 'authentication'],
  [4n, 'confirm'],
  [5n, 'waiting'],
  [6n, 'refused'],
  [7n, 'lost'],
  [8n, 'cut'],
  [9n, 'slow'],
  [11n, 'late'],
  [12n, 'bounced'],
  [13n, 'recovered'],
  [14n, 'payday'],
])

/** All of them. */
export const scripts: ReadonlySet<string> = new Set<Script>([...byDigits.values(), 'paid', 'gone'])

function isEnding(text: string): text is FakeEnd {
  return scripts.has(text) && text !== 'payday'
}

/** What is to become of a charge of this amount. */
export function scriptOf({ amount }: Pick<Payment, 'amount'>): Script {
  return byDigits.get(amount % 100n) ?? 'paid'
}

/** How a charge that is made now ends: on a payday, every second one, there is money. */
export function endingOf(script: Script, now: Date): FakeEnd {
  if (script !== 'payday') return script
  return Math.floor(now.getTime() / days(1)) % 2 === 0 ? 'paid' : 'soft'
}

/** How the references begin of charges that were answered like this. */
export function referencePrefix(ending: FakeEnd): string {
  return `fake_charge_${ending}_`
}

/** The gateway's id of a charge that was answered. */
export function chargeReference({ id }: Pick<Payment, 'id'>, ending: FakeEnd): string {
  return referencePrefix(ending) + id
}

const referenceGrammar = /^fake_charge_([a-z]+)_/

/**
 * How a charge has ended, long after it was requested. Nothing is remembered, so the payment must
 * tell: by the answer that it has; without one it was charged only if its amount says so.
 */
export function endedAs(payment: Payment): FakeEnd {
  if (payment.checkout === 'refused') return 'refused'
  const [, answered = ''] = referenceGrammar.exec(payment.providerReference ?? '') ?? []
  if (isEnding(answered)) return answered
  const script = scriptOf(payment)
  return script === 'cut' || script === 'slow' ? script : 'lost'
}

/** What the gateway says of a charge. */
export interface Stated {
  readonly outcomes: readonly Outcome[]
  readonly standing: Standing
}

/** When what is `late`, `bounced` or `recovered` is decided in the end. */
const decidedAfter = minutes(1)

/** What it says once so much time has gone by since the request. */
export function statedOf(
  payment: Payment,
  {
    ending,
    age,
    isOver,
  }: { readonly ending: FakeEnd; readonly age: number; readonly isOver: boolean },
): Stated {
  const isDecided = age >= decidedAfter
  switch (ending) {
    case 'paid':
    case 'cut':
    case 'slow':
      return paid(payment)
    case 'late':
      return isDecided ? paid(payment) : nothing(ending, 'undecided')
    case 'bounced':
      return isDecided ? declined(payment, 'insufficient_funds') : nothing(ending, 'undecided')
    case 'recovered':
      return isDecided ? paid(payment) : declined(payment, 'insufficient_funds')
    case 'soft':
      return declined(payment, 'insufficient_funds')
    case 'hard':
      return declined(payment, 'stolen_card')
    case 'gone':
      return declined(payment, 'no_such_card')
    case 'authentication':
      return declined(payment, 'authentication_required')
    case 'confirm':
    case 'waiting':
      return nothing(ending, isOver ? 'unpaid' : 'open')
    case 'refused':
    case 'lost':
      return nothing(ending, 'absent')
    default:
      return assertNever(ending)
  }
}

function paid({ id, amount, currency }: Payment): Stated {
  const outcome = { type: 'payment', payment: { id }, status: 'paid', amount, currency } as const
  return { outcomes: [outcome], standing: 'paid' }
}

function declined({ id }: Payment, declineCode: string): Stated {
  const outcome = { type: 'payment', payment: { id }, status: 'failed', declineCode } as const
  return { outcomes: [outcome], standing: 'unpaid' }
}

function nothing(ending: FakeEnd, standing: Standing): Stated {
  return { outcomes: [ignored('no_outcome', ending)], standing }
}
