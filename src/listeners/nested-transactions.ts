import type pg from 'pg'

/** A transaction that a listener has begun inside its own: a savepoint. */
export interface NestedTransaction {
  readonly savepoint: string
  /** Which connection of a pool has begun it; undefined: the client itself. */
  readonly connection: object | undefined
}

/** What their names begin with; listeners end them as they began them, not by name. */
export const nestedSavepoint = 'quittance_nested_'

type Send = (text: string) => Promise<pg.QueryResult | pg.QueryResult[]>

/** Counts as open from now on, not from its answer: what is sent next comes behind it. */
export async function beginNested(
  open: NestedTransaction[],
  connection: object | undefined,
  send: Send,
): Promise<pg.QueryResult> {
  const begun = { savepoint: `${nestedSavepoint}${open.length + 1}`, connection }
  open.push(begun)
  try {
    return answer('BEGIN', await send(`savepoint ${begun.savepoint}`))
  } catch (error) {
    remove(open, begun)
    throw error
  }
}

/**
 * Where that fails, it stays open and can be rolled back. Thus to commit an aborted one throws;
 * PostgreSQL would answer with a rollback, which few read.
 */
export async function endNested(
  open: NestedTransaction[],
  last: NestedTransaction,
  { how, send }: { readonly how: 'commit' | 'rollback'; readonly send: Send },
): Promise<pg.QueryResult> {
  const undo = how === 'rollback' ? `rollback to savepoint ${last.savepoint}; ` : ''
  const result = await send(`${undo}release savepoint ${last.savepoint}`)
  remove(open, last)
  return answer(how.toUpperCase(), result)
}

function remove(open: NestedTransaction[], one: NestedTransaction): void {
  open.splice(open.indexOf(one), 1)
}

/** As the server would answer the statement that was asked for. */
function answer(command: string, result: pg.QueryResult | pg.QueryResult[]): pg.QueryResult {
  const last = [result].flat().at(-1) as pg.QueryResult
  return { ...last, command }
}
