import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import type { TestBilling } from '../support/billing.ts'
import { idMadeAt } from '../support/id-made-at.ts'

/** A change of a payment of its own. */
export interface WrittenMove {
  /** When it happened, by the database. */
  readonly at: string
  /** When its id was made, by the clock of the process; the same, if left out. */
  readonly madeAt?: string
  readonly kind?: 'paid' | 'refunded' | 'returned' | 'failed'
  readonly amount?: bigint
  readonly currency?: string
  readonly gateway?: string
  readonly account?: string
  readonly live?: boolean
}

/** Writes a payment that changed at this time, as a past of it would have. Returns its id. */
export async function writeMove(
  { database }: Pick<TestBilling, 'database'>,
  move: WrittenMove,
): Promise<string> {
  const { at, madeAt = at, kind = 'paid', amount = 100n, currency = 'USD' } = move
  const { gateway = 'fake', account = null, live = null } = move
  const isRefund = kind === 'refunded' || kind === 'returned'
  const [from, to] = {
    paid: ['pending', 'paid'],
    refunded: ['pending', 'paid'],
    returned: ['paid', 'failed'],
    failed: ['pending', 'failed'],
  }[kind]
  const [id, parent] = [newUuid(), newUuid()]
  for (const [own, type] of [
    ...(isRefund ? ([[parent, 'charge']] as const) : []),
    [id, isRefund ? 'refund' : 'charge'] as const,
  ]) {
    await sql`insert into billing.payments (id, type, parent_id, gateway, merchant_account, live, status,
        amount, currency, payable_type, payable_id)
      values (${own}::uuid, ${type}, ${own === id && isRefund ? parent : null}::uuid, ${gateway},
        ${account}, ${live}, ${own === id ? to : 'paid'}, ${amount}, ${currency}, 'order', '1')`.execute(
      database.db,
    )
  }
  await sql`insert into billing.payment_transitions
      (id, payment_id, payment_type, from_status, to_status, cause, at)
    values (${sql.raw(idMadeAt(`timestamptz '${madeAt}'`))}, ${id}::uuid,
      ${isRefund ? 'refund' : 'charge'}, ${from}, ${to}, 'call', ${at}::timestamptz)`.execute(
    database.db,
  )
  return id
}
