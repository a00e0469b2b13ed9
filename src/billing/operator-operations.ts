import { listActions } from '../database/operator-actions.ts'
import { deleteSessionsOf } from '../database/operator-sessions.ts'
import {
  deleteOperator,
  findOperatorByName,
  findOperatorsByToken,
  insertOperator,
  listOperators,
} from '../database/operators.ts'
import { batched } from '../kernel/batched.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { endAction, recordAction } from '../operators/actions.ts'
import { isOperatorName, readOperator, settingOperators } from '../operators/operator-input.ts'
import { hashOf, looksLikeToken, newToken } from '../operators/tokens.ts'
import type { Operator } from './authenticate.ts'
import { handle } from './handles.ts'
import { actionsQuery, checked } from './list-queries.ts'
import type { AddedOperator, OperatorOperations } from './operator-types.ts'
import type { Runtime } from './runtime.ts'

/** So many look-ups go in one statement. */
const mostAtOnce = 100

/** `billing.operators` */
export function operatorOperations(runtime: Runtime): OperatorOperations {
  const opened = (what: string) => handle(runtime, `billing.operators.${what}`)
  // One statement at a time, however many strangers try a token.
  const lookUp = batched(mostAtOnce, async (hashes: readonly Buffer[]) => {
    const { database } = await runtime.opened()
    const found = await findOperatorsByToken(database.db, hashes)
    return hashes.map((hash) => found.get(hash.toString('hex')))
  })
  return {
    list: async () => listOperators(await opened('list')),
    add: (input) => add(runtime, input),
    remove: async (name) => {
      const db = await opened('remove')
      const removed = isOperatorName(name) ? await deleteOperator(db, name) : undefined
      if (removed !== undefined) return removed
      throw noSuchOperator(name)
    },
    signOut: async (name) => {
      const db = await opened('signOut')
      const isSetting = settingOperators.has(name)
      if (!isSetting && !(await isThere(db, name))) throw noSuchOperator(name)
      return deleteSessionsOf(db, name)
    },
    find: async (token): Promise<Operator | undefined> => {
      await opened('find')
      const found = looksLikeToken(token) ? await lookUp(hashOf(token)) : undefined
      return found && { name: found.name, role: found.role }
    },
    actions: async (query = {}) =>
      listActions(await opened('actions'), checked(actionsQuery, query)),
    recordAction: async (input) => recordAction(await opened('recordAction'), input),
    endAction: async (id, outcome) => endAction(await opened('endAction'), id, outcome),
  }
}

async function add(runtime: Runtime, input: unknown): Promise<AddedOperator> {
  const db = await handle(runtime, 'billing.operators.add')
  const read = readOperator(input, runtime.settings.clock())
  const token = newToken()
  const operator = await insertOperator(db, { ...read, id: newUuid(), tokenHash: hashOf(token) })
  if (operator !== undefined) return { operator, token }
  throw new QuittanceError('operator_exists', `there is an operator called ${read.name}`)
}

async function isThere(db: Awaited<ReturnType<typeof handle>>, name: string): Promise<boolean> {
  return isOperatorName(name) && (await findOperatorByName(db, name)) !== undefined
}

function noSuchOperator(name: string): QuittanceError {
  return new QuittanceError('operator_not_found', `there is no operator ${JSON.stringify(name)}`)
}
