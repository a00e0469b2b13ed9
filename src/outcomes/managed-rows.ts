import type { Kysely } from 'kysely'
import {
  findManaged,
  findManagedOfPeriods,
  type ManagedName,
} from '../database/managed-subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import { requireOperation } from '../gateways/require.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import type { ApplyContext, Entry } from './applied.ts'
import type { FoundPayments } from './find-payments.ts'

/** The subscriptions that providers manage, as far as reports are about them; not locked yet. */
export interface ManagedRows {
  /** In any order. */
  readonly ids: readonly string[]
  /** The one that it names; else the one that was made here with the payment that it is about. */
  rowOf(entry: Entry): Subscription | undefined
}

const none: ManagedRows = { ids: [], rowOf: () => undefined }

/**
 * Finds them once the payments are locked, so that one made by another transaction with the same
 * payment is seen. No statement where no report names a subscription that a provider could manage.
 */
export async function findManagedRows(
  db: Kysely<Tables>,
  found: Omit<FoundPayments, 'renewals'> & {
    readonly entries: readonly Entry[]
    readonly renewals: Pick<FoundPayments['renewals'], 'firsts'>
  },
  context: Pick<ApplyContext, 'gateways'>,
): Promise<ManagedRows> {
  const named = new Map(
    found.entries.flatMap((entry) => {
      const name = managedNameOf(entry, context)
      return name === undefined ? [] : [[entry, name] as const]
    }),
  )
  if (named.size === 0) return none
  const periods = new Map([...named.keys()].map((entry) => [entry, periodIdOf(entry, found)]))
  const byName = await findManaged(db, [...named.values()])
  const periodIds = [...periods.values()].filter((id) => id !== null)
  const byPeriod = await findManagedOfPeriods(db, [...new Set(periodIds)])
  const rowOf = (entry: Entry) => {
    const name = named.get(entry)
    if (name === undefined) return undefined
    return best(byName, name, entry) ?? byPeriod.get(periods.get(entry) ?? '')
  }
  const rows = [...byName, ...byPeriod.values()]
  return { ids: [...new Set(rows.map(({ id }) => id))], rowOf }
}

/** Which subscription a report is about, if its gateway's provider may manage it. */
export function managedNameOf(
  { report: { gateway }, outcome }: Entry,
  { gateways }: Pick<ApplyContext, 'gateways'>,
): ManagedName | undefined {
  const reference =
    outcome.type === 'subscription'
      ? outcome.reference
      : outcome.type === 'payment' && outcome.status === 'paid'
        ? outcome.subscriptionReference
        : undefined
  if (reference === undefined) return undefined
  return gateways.find(gateway)?.gateway.subscriptions && { gateway, reference }
}

/** Of the payment that it is about, or renews. */
function periodIdOf(
  entry: Entry,
  {
    payments,
    ids,
    renewals,
  }: Pick<FoundPayments, 'payments' | 'ids'> & {
    readonly renewals: Pick<FoundPayments['renewals'], 'firsts'>
  },
): string | null {
  const first = [...renewals.firsts].find(([renewal]) => renewal === entry)?.[1].first
  return (first ?? payments.get(ids.get(entry) ?? ''))?.periodId ?? null
}

/** Ids of a provider are unique within an account: one of another is found where there is no other. */
function best(
  rows: readonly Subscription[],
  { gateway, reference }: ManagedName,
  { outcome }: Entry,
): Subscription | undefined {
  const account = 'merchantAccount' in outcome ? (outcome.merchantAccount ?? null) : null
  const same = rows.filter((row) => row.gateway === gateway && row.providerReference === reference)
  return same.find(({ merchantAccount }) => merchantAccount === account) ?? same[0]
}

/** Without a key for its API nobody can say how it stands. */
export function canBeAsked(gateway: string, { gateways }: Pick<ApplyContext, 'gateways'>): boolean {
  const found = gateways.find(gateway)
  if (found === undefined) return false
  try {
    requireOperation(found, 'subscriptions')
    return true
  } catch (error) {
    if (isQuittanceError(error)) return false
    throw error
  }
}
