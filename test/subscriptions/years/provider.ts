import type { Dice } from './dice.ts'

/** What a provider says of a payment. */
export type Verdict =
  | { readonly kind: 'paid' }
  | { readonly kind: 'declined'; readonly decline: 'soft' | 'hard' | 'authentication' }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'ours' }
  | { readonly kind: 'needs_payer' }

/** How charges go at a time: a merchant's customers, and his provider. */
export interface Mood {
  readonly paid: number
  /** The rest are split evenly among soft, hard, authentication and the payer's confirmation. */
  readonly ours: number
}

interface Known {
  verdict: Verdict
  debitedAt: number | null
}

/** The other side: it knows our ids, outlives our database, and answers a repeated request alike. */
export interface Provider {
  readonly charge: (id: string, at: number, mood: Mood) => Verdict
  readonly openPage: (id: string) => void
  /** The payer pays. False: it was closed, or is decided. */
  readonly pay: (id: string, at: number) => boolean
  readonly close: (id: string) => boolean
  readonly decline: (id: string) => boolean
  /** It takes money for what it has declined, or says that it never heard of. */
  readonly debitAfterAll: (id: string, at: number) => boolean
  /** Undefined: it never heard of it. */
  readonly ask: (id: string) => Verdict | undefined
  readonly debits: () => ReadonlyMap<string, number>
}

export function createProvider(dice: Dice): Provider {
  const known = new Map<string, Known>()
  const debits = new Map<string, number>()
  const debit = (one: Known, id: string, at: number) => {
    one.verdict = { kind: 'paid' }
    one.debitedAt = at
    debits.set(id, at)
  }
  const isOpen = (one: Known | undefined) => one?.verdict.kind === 'needs_payer'
  return {
    charge(id, at, mood) {
      const before = known.get(id)
      // A repeated request is answered as the first one was; one refused for a fault is tried anew.
      if (before !== undefined && before.verdict.kind !== 'ours') return before.verdict
      const one: Known = { verdict: verdictOf(dice, mood), debitedAt: null }
      known.set(id, one)
      if (one.verdict.kind === 'paid') debit(one, id, at)
      return one.verdict
    },
    openPage(id) {
      if (!known.has(id)) known.set(id, { verdict: { kind: 'needs_payer' }, debitedAt: null })
    },
    pay(id, at) {
      const one = known.get(id)
      if (one === undefined || !isOpen(one)) return false
      debit(one, id, at)
      return true
    },
    close: (id) => settle(known.get(id), { kind: 'canceled' }),
    decline: (id) => settle(known.get(id), { kind: 'declined', decline: 'authentication' }),
    debitAfterAll(id, at) {
      const one = known.get(id) ?? { verdict: { kind: 'canceled' }, debitedAt: null }
      if (one.debitedAt !== null) return false
      known.set(id, one)
      debit(one, id, at)
      return true
    },
    ask: (id) => known.get(id)?.verdict,
    debits: () => debits,
  }
}

function settle(one: Known | undefined, verdict: Verdict): boolean {
  if (one?.verdict.kind !== 'needs_payer') return false
  one.verdict = verdict
  return true
}

function verdictOf(dice: Dice, { paid, ours }: Mood): Verdict {
  const roll = dice.roll()
  if (roll < paid) return { kind: 'paid' }
  if (roll < paid + ours) return { kind: 'ours' }
  return dice.pick<Verdict>([
    { kind: 'declined', decline: 'soft' },
    { kind: 'declined', decline: 'soft' },
    { kind: 'declined', decline: 'hard' },
    { kind: 'declined', decline: 'authentication' },
    { kind: 'needs_payer' },
  ])
}
