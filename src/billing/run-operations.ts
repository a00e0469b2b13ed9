import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import { readInOrder } from '../database/read-in-order.ts'
import { findRun, insertRun, listRuns, type RunEstimate } from '../database/runs.ts'
import type { Tables } from '../database/tables.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import { failedRows } from '../upkeep/continue-runs.ts'
import { stopRun } from '../upkeep/leased-runs.ts'
import { runKinds, type Run, type RunFilter } from '../wire/run.ts'
import { handle, openedDatabase } from './handles.ts'
import { checked, runsQuery } from './list-queries.ts'
import { readRun } from './run-input.ts'
import type { RunOperations } from './run-types.ts'
import type { Runtime } from './runtime.ts'

/** `billing.runs` */
export function runOperations(runtime: Runtime): RunOperations {
  return {
    start: async (input) => start(await openedDatabase(runtime, 'billing.runs.start'), input),
    get: async (id) => {
      const db = await handle(runtime, 'billing.runs.get')
      return withUuid(id, (known) => findRun(db, known))
    },
    list: async (query = {}) =>
      listRuns(await handle(runtime, 'billing.runs.list'), checked(runsQuery, query)),
    stop: async (id) => {
      const db = await handle(runtime, 'billing.runs.stop')
      await withUuid(id, (known) => stopRun(db, known))
      return required(db, id)
    },
  }
}

async function start(database: Database, input: unknown): Promise<Run> {
  const { db } = database
  const { id, operator, filter } = readRun(input)
  const known = await findRun(db, id)
  if (known === undefined) {
    await insertRun(db, { id, operator, filter, estimate: await estimate(database, filter) })
  }
  const run = known ?? (await required(db, id))
  if (isDeepStrictEqual(run.filter, filter)) return run
  throw new QuittanceError('run_exists', `run ${id} was started with another filter`)
}

async function estimate(database: Database, filter: RunFilter): Promise<RunEstimate> {
  const kinds = filter.kind === null ? runKinds : [filter.kind]
  const all = await readInOrder(database, async (db) => {
    const counted: RunEstimate[] = []
    for (const kind of kinds) counted.push(await failedRows[kind].count(db, filter))
    return counted
  })
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    isLeast: all.some(({ isLeast }) => isLeast),
  }
}

async function required(db: Kysely<Tables>, id: string): Promise<Run> {
  const run = await withUuid(id, (known) => findRun(db, known))
  if (run !== undefined) return run
  throw new QuittanceError('run_not_found', `there is no run ${JSON.stringify(id)}`)
}
