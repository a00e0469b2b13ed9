import type { Gateway } from '../../../src/gateways/gateway.ts'
import type { ChargeReply, PollReply } from '../../../src/gateways/operations.ts'
import { days, hours, minutes } from '../../../src/kernel/duration.ts'
import { assertNever, QuittanceError } from '../../../src/kernel/errors.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { stating, type Statement } from '../../support/stating-gateway.ts'
import { diceOf, type Dice } from './dice.ts'
import { fateOf, hash, type Fate } from './fates.ts'

/** Money that the provider has taken, and whether only because it broke its word. */
export interface Debit {
  readonly id: string
  readonly isBroken: boolean
}

/** A callback that is under way; or what the provider, or the payer, does of itself. */
export interface Callback {
  readonly at: number
  readonly statements: readonly Statement[]
  readonly act?: () => void
}

/** How the provider answers, for as long as nothing is calm. */
export interface TillOptions {
  readonly seed: number
  readonly now: () => Date
}

type Standing = 'deciding' | 'offered' | 'paid' | 'declined' | 'closed'

interface Known {
  readonly payment: Payment
  readonly dice: Dice
  standing: Standing
  code: string
}

/** The other side: it outlives every process and database of ours, and knows what it has taken. */
export interface Till {
  readonly gateway: Gateway
  readonly debits: readonly Debit[]
  /** How often what has happened. */
  readonly tally: Map<string, number>
  /** What it calls back by now; each is sent once, by whoever takes it. */
  takeCallbacks(): readonly Callback[]
  /** When it calls back next. */
  nextCallback(): number
  /** From then on it takes money at once and answers. */
  calmDown(): void
}

const declines = new Map([
  ['no_money', 'soft'],
  ['stolen', 'hard'],
  ['confirm_it', 'authentication'],
] as const)

interface Book {
  readonly seed: number
  readonly now: () => Date
  readonly known: Map<string, Known>
  readonly debits: Debit[]
  readonly tally: Map<string, number>
  callbacks: Callback[]
  isCalm: boolean
}

export function createTill({ seed, now }: TillOptions): Till {
  const book: Book = {
    seed,
    now,
    known: new Map(),
    debits: [],
    tally: new Map(),
    callbacks: [],
    isCalm: false,
  }
  return {
    gateway: gatewayOf(book),
    debits: book.debits,
    tally: book.tally,
    takeCallbacks: () => {
      const isDue = ({ at }: Callback) => at <= now().getTime()
      const due = book.callbacks.filter(isDue)
      book.callbacks = book.callbacks.filter((one) => !isDue(one))
      // Those that come together come in no order.
      return due.toSorted((a, b) => hash(`${seed} ${a.at}`) - hash(`${seed} ${b.at}`))
    },
    nextCallback: () => Math.min(...book.callbacks.map(({ at }) => at)),
    calmDown: () => {
      book.isCalm = true
    },
  }
}

function gatewayOf(book: Book): Gateway {
  return {
    ...stating,
    name: 'scripted',
    secretFields: [],
    declines,
    chargesPerMinute: 600_000,
    pollsPerMinute: 60_000,
    checkout: {
      kind: 'api',
      open: async ({ payment }) => openPage(book, payment),
    },
    chargeSavedCard: async ({ payment }) => charge(book, payment),
    poll: async ({ payment }) => poll(book, payment),
    closeCheckout: async ({ payment }) => close(book, payment),
  }
}

const unanswered = () => new QuittanceError('provider_unreachable', 'no answer came')

function count(book: Book, what: string): void {
  book.tally.set(what, (book.tally.get(what) ?? 0) + 1)
}

function charge(book: Book, payment: Payment): ChargeReply {
  const before = book.known.get(payment.id)
  // A repeated request is answered as the first one was.
  if (before !== undefined) {
    count(book, 'asked again')
    return replyOf(before)
  }
  const dice = diceOf(hash(`${book.seed} ${payment.id}`))
  const fate = book.isCalm ? 'paid' : fateOf(dice)
  count(book, fate)
  if (fate === 'refused') {
    throw new QuittanceError('provider_refused', 'the key has expired', { providerCode: 'key' })
  }
  const one: Known = { payment, dice, standing: 'deciding', code: 'no_money' }
  if (fate === 'never arrives') throw unanswered()
  if (fate === 'arrives after days') {
    later(book, hours(2) + days(dice.roll() * 10), () => {
      if (book.known.has(payment.id)) return
      book.known.set(payment.id, one)
      pay(book, one, { isBroken: true })
    })
    throw unanswered()
  }
  book.known.set(payment.id, one)
  return follow(book, one, fate)
}

function follow(
  book: Book,
  one: Known,
  fate: Exclude<Fate, 'never arrives' | 'arrives after days' | 'refused'>,
): ChargeReply {
  const { dice } = one
  switch (fate) {
    case 'paid':
      pay(book, one)
      return replyOf(one)
    case 'paid, unanswered':
      pay(book, one)
      throw unanswered()
    case 'declined, then paid':
      decline(book, one, 'no_money')
      later(book, days(dice.roll() * 12), () => pay(book, one, { isBroken: true }))
      return replyOf(one)
    case 'decided later':
      later(book, days(dice.roll() * 3), () =>
        dice.chance(0.6) ? pay(book, one) : decline(book, one, 'no_money'),
      )
      return replyOf(one)
    case 'needs its payer':
      offer(book, one)
      return replyOf(one)
    case 'no_money':
    case 'stolen':
    case 'confirm_it':
      decline(book, one, fate)
      return replyOf(one)
    default:
      return assertNever(fate)
  }
}

function replyOf({ payment, standing, code }: Known): ChargeReply {
  const confirming = { redirectUrl: `https://provider.example/confirm/${payment.id}` }
  return {
    outcomes: outcomesOf({ payment, standing, code }),
    ...(standing === 'offered' && confirming),
  }
}

function outcomesOf({ payment, standing, code }: Pick<Known, 'payment' | 'standing' | 'code'>) {
  const { id, amount, currency } = payment
  const about = { type: 'payment', payment: { id } } as const
  if (standing === 'paid') return [{ ...about, status: 'paid', amount, currency } as const]
  if (standing === 'closed') return [{ ...about, status: 'canceled' } as const]
  return standing === 'declined' ? [{ ...about, status: 'failed', declineCode: code } as const] : []
}

/** The payer comes, or does not. */
function offer(book: Book, one: Known): void {
  const { dice } = one
  one.standing = 'offered'
  if (dice.chance(0.25)) return
  later(book, minutes(dice.below(90)), () => {
    if (one.standing !== 'offered') return
    if (dice.chance(0.8)) pay(book, one, { savesCard: one.payment.paymentMethodId === null })
    else if (one.payment.paymentMethodId !== null) decline(book, one, 'confirm_it')
  })
}

function openPage(book: Book, payment: Payment) {
  const known = book.known.get(payment.id)
  const dice = known?.dice ?? diceOf(hash(`${book.seed} ${payment.id}`))
  count(book, 'page')
  if (known === undefined) {
    const one: Known = { payment, dice, standing: 'offered', code: 'no_money' }
    book.known.set(payment.id, one)
    offer(book, one)
  }
  if (!book.isCalm && dice.chance(0.1)) throw unanswered()
  return { url: `https://provider.example/pay/${payment.id}` }
}

function close(book: Book, { id }: Payment): 'closed' | 'not_open' {
  const one = book.known.get(id)
  if (!book.isCalm && one?.dice.chance(0.1) === true) throw unanswered()
  if (one?.standing !== 'offered') return 'not_open'
  count(book, 'closed')
  one.standing = 'closed'
  return 'closed'
}

const standings = {
  deciding: 'undecided',
  offered: 'open',
  paid: 'paid',
  declined: 'unpaid',
  closed: 'unpaid',
} as const

function poll(book: Book, { id }: Payment): PollReply {
  const one = book.known.get(id)
  count(book, 'poll')
  if (one === undefined) return { outcomes: [], standing: 'absent', listsRefunds: false }
  if (!book.isCalm && one.dice.chance(0.05)) throw unanswered()
  const outcomes = outcomesOf(one)
  return { outcomes, standing: standings[one.standing], listsRefunds: false }
}

interface PayOptions {
  readonly isBroken?: boolean
  readonly savesCard?: boolean
}

function pay(book: Book, one: Known, { isBroken = false, savesCard = false }: PayOptions = {}) {
  if (one.standing === 'paid') return
  const { id } = one.payment
  one.standing = 'paid'
  book.debits.push({ id, isBroken })
  if (isBroken) count(book, 'debited after all')
  const card = {
    type: 'payment_method',
    status: 'attached',
    reference: `pm_${id}`,
    payment: { id },
  }
  callBack(book, one, { mustCome: isBroken, also: savesCard ? [card as Statement] : [] })
}

function decline(book: Book, one: Known, code: string): void {
  if (one.standing === 'paid') return
  one.standing = 'declined'
  one.code = code
  callBack(book, one, { mustCome: false, also: [] })
}

/** Late, several times, or never; what is not known otherwise comes once at least. */
function callBack(
  book: Book,
  one: Known,
  { mustCome, also }: { readonly mustCome: boolean; readonly also: readonly Statement[] },
): void {
  const { dice } = one
  const many = book.isCalm ? 0 : dice.below(4)
  const times = Math.max(many, mustCome || also.length > 0 ? 1 : 0)
  const statements = [...outcomesOf(one), ...also]
  for (let time = 0; time < times; time += 1) {
    const wait = dice.chance(0.7) ? minutes(dice.roll() * 10) : days(dice.roll() * 6)
    book.callbacks.push({ at: book.now().getTime() + wait, statements })
  }
}

function later(book: Book, wait: number, act: () => void): void {
  book.callbacks.push({ at: book.now().getTime() + wait, statements: [], act })
}
