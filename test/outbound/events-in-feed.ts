import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'
import { newUuid } from '../../src/kernel/ids.ts'

/** Writes the row of an event, as whoever claims one does. Returns its id. */
export async function insertEvent(
  db: Kysely<Tables>,
  key: string = newUuid(),
  type = 'PaymentMethodAttached',
): Promise<string> {
  const id = newUuid()
  await sql`insert into billing.events (id, dedup_key, type, source, data)
    values (${id}::uuid, ${key}, ${type}, 'call', '{}')`.execute(db)
  return id
}

/** What the table holds, in the order of the feed. */
export async function storedOrder(db: Kysely<Tables>) {
  const { rows } = await sql<{ id: string; position: bigint | null }>`
    select id, position from billing.events order by position nulls last, id`.execute(db)
  return rows
}

/** 1, 2, 3 and so on. */
export function upTo(count: number): readonly bigint[] {
  return Array.from({ length: count }, (_, index) => BigInt(index + 1))
}
