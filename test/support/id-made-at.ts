import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'

/** In SQL: a new id, as it would have been made at this time, which is SQL as well. */
export function idMadeAt(time: string): string {
  return `(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0')
    || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid`
}

/** In SQL, of a call: that it came at this time, which its id says as well. */
export function cameAt(time: string): string {
  return `received_at = ${time}, id = ${idMadeAt(time)}`
}

/** Lets a call have come so many days ago. Returns its new id. */
export async function ageCall(db: Kysely<Tables>, id: string, days: number): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls set ${sql.raw(cameAt(`now() - make_interval(days => ${days})`))}
    where id = ${id}::uuid returning id`.execute(db)
  return rows[0]?.id ?? ''
}

/** Lets whatever moved a payment have happened an hour earlier. */
export async function ageMoves(db: Kysely<Tables>, payment: { readonly id: string }) {
  const anHourAgo = `at - interval '1 hour'`
  await sql`
    update billing.payment_transitions
    set at = ${sql.raw(anHourAgo)}, id = ${sql.raw(idMadeAt(anHourAgo))}
    where payment_id = ${payment.id}`.execute(db)
}
