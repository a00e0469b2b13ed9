import type { Kysely, Selectable } from 'kysely'
import type { FilterValues } from '../kernel/noun.ts'
import { actionFilters, type ActionVia, type OperatorAction } from '../wire/operator.ts'
import { conditionsOf } from './conditions.ts'
import type { OperatorActionsTable } from './operator-tables.ts'
import { newestOf, toPage, type Page, type PageQuery } from './page.ts'
import type { Tables } from './tables.ts'

/** What is written before an operator acts. */
export interface NewAction {
  /** Of the caller: what is written under the same id again is the same action. */
  readonly id: string
  readonly operator: string
  readonly via: ActionVia
  readonly action: string
  readonly subject: string | null
  /** JSON. */
  readonly detail: string
}

/** Which actions to list; all of them if left out. */
export interface ActionsQuery extends PageQuery, FilterValues<typeof actionFilters> {}

/** False: an action of this id is there already, and stays as it is. */
export async function insertAction(db: Kysely<Tables>, action: NewAction): Promise<boolean> {
  const { id, operator, via, action: what, subject, detail } = action
  const row = await db
    .insertInto('billing.operator_actions')
    .values({ id, operator, via, action: what, subject, detail })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** The first outcome that is known stays. */
export async function writeOutcome(db: Kysely<Tables>, id: string, outcome: string): Promise<void> {
  await db
    .updateTable('billing.operator_actions')
    .set({ outcome })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .execute()
}

/** By time and id: an id may be anybody's. */
export async function listActions(
  db: Kysely<Tables>,
  query: ActionsQuery,
): Promise<Page<OperatorAction>> {
  const conditions = conditionsOf(actionFilters, query)
  const rows = await db
    .selectFrom('billing.operator_actions')
    .selectAll()
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'id', 'at'))
    .execute()
  return toPage(rows.map(toAction), query, ({ at, id }) => ({ at, id }))
}

/** What was done to any of these, newest first. */
export async function actionsOn(
  db: Kysely<Tables>,
  subjects: readonly string[],
  limit: number,
): Promise<readonly OperatorAction[]> {
  const rows = await db
    .selectFrom('billing.operator_actions')
    .selectAll()
    .where('subject', 'in', [...subjects])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toAction)
}

function toAction(row: Selectable<OperatorActionsTable>): OperatorAction {
  return { ...row, detail: JSON.parse(row.detail) as OperatorAction['detail'] }
}
