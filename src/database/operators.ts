import { sql, type Kysely, type Selectable } from 'kysely'
import type { OperatorAccount, OperatorRole } from '../wire/operator.ts'
import type { OperatorsTable } from './operator-tables.ts'
import type { Tables } from './tables.ts'

export interface NewOperator {
  readonly id: string
  readonly name: string
  readonly role: OperatorRole
  readonly tokenHash: Uint8Array
  readonly expiresAt: Date | null
}

/** By the database's clock, as for everybody who asks. */
const isExpired = sql<boolean>`coalesce(expires_at <= statement_timestamp(), false)`.as(
  'is_expired',
)

const shown = ['id', 'name', 'role', 'created_at', 'expires_at'] as const

type Row = Pick<Selectable<OperatorsTable>, (typeof shown)[number]> & {
  readonly is_expired: boolean
}

/** Undefined: one of this name exists. */
export async function insertOperator(
  db: Kysely<Tables>,
  operator: NewOperator,
): Promise<OperatorAccount | undefined> {
  const row = await db
    .with('written', (given) =>
      given
        .insertInto('billing.operators')
        .values({
          id: operator.id,
          name: operator.name,
          role: operator.role,
          token_hash: Buffer.from(operator.tokenHash),
          expires_at: operator.expiresAt,
        })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning(shown),
    )
    .selectFrom('written')
    .select(shown)
    .select(isExpired)
    .executeTakeFirst()
  return row && toOperator(row)
}

/** Also of those whose token has expired. */
export async function listOperators(db: Kysely<Tables>): Promise<readonly OperatorAccount[]> {
  const rows = await db
    .selectFrom('billing.operators')
    .select(shown)
    .select(isExpired)
    .orderBy('name')
    .execute()
  return rows.map(toOperator)
}

export async function findOperatorByName(
  db: Kysely<Tables>,
  name: string,
): Promise<OperatorAccount | undefined> {
  const row = await db
    .selectFrom('billing.operators')
    .select(shown)
    .select(isExpired)
    .where('name', '=', name)
    .executeTakeFirst()
  return row && toOperator(row)
}

/** Whose tokens they are, while they hold, by the hash in hex. */
export async function findOperatorsByToken(
  db: Kysely<Tables>,
  hashes: readonly Buffer[],
): Promise<ReadonlyMap<string, OperatorAccount>> {
  const rows = await db
    .selectFrom('billing.operators')
    .select([...shown, 'token_hash'])
    .select(isExpired)
    .where(sql<boolean>`token_hash = any(${hashes}::bytea[])`)
    .execute()
  const valid = rows.filter((row) => !row.is_expired)
  return new Map(valid.map((row) => [row.token_hash.toString('hex'), toOperator(row)]))
}

/** The sessions of its token end with it. Undefined: there is none of this name. */
export async function deleteOperator(
  db: Kysely<Tables>,
  name: string,
): Promise<OperatorAccount | undefined> {
  const row = await db
    .with('deleted', (given) =>
      given.deleteFrom('billing.operators').where('name', '=', name).returning(shown),
    )
    .selectFrom('deleted')
    .select(shown)
    .select(isExpired)
    .executeTakeFirst()
  return row && toOperator(row)
}

function toOperator(row: Row): OperatorAccount {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    isExpired: row.is_expired,
  }
}
