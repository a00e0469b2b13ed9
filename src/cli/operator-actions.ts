import type { Command } from 'commander'
import type { BillingCore } from '../billing/types.ts'
import { counted } from '../kernel/counted.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { isOperatorName } from '../operators/operator-input.ts'
import { actionView, addedOperatorView, operatorView } from '../wire/operator.ts'
import { pageView } from '../wire/page.ts'
import type { AddOptions } from './commands/operators.ts'
import { withCore } from './open-core.ts'
import { print, printJson, printTable, shortTime, visible } from './output.ts'
import type { PagingOptions } from './paging.ts'

export async function list(command: Command): Promise<void> {
  const operators = await withCore((core) => core.operators.list())
  if (isJson(command)) printJson({ data: operators.map(operatorView) })
  else if (operators.length === 0) print('No operators.')
  else {
    const rows = operators.map((one) => [
      one.name,
      one.role,
      shortTime(one.createdAt),
      one.expiresAt === null ? 'never' : shortTime(one.expiresAt),
      one.isExpired ? 'expired' : 'works',
    ])
    printTable({ headings: ['name', 'role', 'created (UTC)', 'expires (UTC)', 'token'], rows })
  }
}

export async function add(name: string, command: Command): Promise<void> {
  const { role, expires } = command.optsWithGlobals<AddOptions>()
  const input = { name, role, expiresAt: expires }
  const added = await acting('addOperator', name, (core) => core.operators.add(input))
  if (isJson(command)) {
    printJson(addedOperatorView(added))
    return
  }
  const { created_at: created, expires_at: ends } = operatorView(added.operator)
  print(`name        ${name}`)
  print(`role        ${role}`)
  print(`created     ${created}`)
  if (ends !== null) print(`expires     ${ends}`)
  print(`token       ${added.token}`)
  print('The token is shown this once: give it to nobody but its operator.')
}

export async function remove(name: string, command: Command): Promise<void> {
  const removed = await acting('removeOperator', name, (core) => core.operators.remove(name))
  if (isJson(command)) printJson(operatorView(removed))
  else print(`Removed ${visible(name)}: its token no longer works.`)
}

export async function signOut(name: string, command: Command): Promise<void> {
  const ended = await acting('signOutOperator', name, (core) => core.operators.signOut(name))
  if (isJson(command)) printJson({ operator: name, ended_sessions: ended })
  else print(`Signed ${visible(name)} out: ${counted(ended, 'session')} ended.`)
}

/** Recorded as what a command did: who types it, nobody knows. */
function acting<T>(
  action: string,
  subject: string,
  act: (core: BillingCore) => Promise<T>,
): Promise<T> {
  return withCore(async (core) => {
    const { operators } = core
    const id = newUuid()
    const recorded = { id, operator: 'cli', via: 'cli', action, subject: shown(subject) } as const
    await operators.recordAction(recorded)
    // Where its outcome cannot be written it stays unknown; what is said is what came of the action.
    const end = (outcome: string) => operators.endAction(id, outcome).catch(() => {})
    const done = await act(core).catch(async (error: unknown) => {
      // It may have been done if its answer was lost: then nobody knows.
      if (isQuittanceError(error)) await end('failed')
      throw error
    })
    await end('done')
    return done
  })
}

/** A name that is none may be a secret that was put in the wrong place. */
function shown(name: string): string | null {
  return isOperatorName(name) ? name : null
}

export async function listActions(command: Command): Promise<void> {
  const options = command.optsWithGlobals<PagingOptions & ActionFilters>()
  const { limit, cursor, operator, subject } = options
  const query = {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...(operator !== undefined && { operator }),
    ...(subject !== undefined && { subject }),
  }
  const page = await withCore((core) => core.operators.actions(query))
  if (isJson(command)) printJson(pageView(page, actionView))
  else if (page.data.length === 0) print('No actions.')
  else {
    const rows = page.data.map((one) => [
      one.operator,
      one.via,
      one.action,
      one.outcome ?? 'unknown',
      shortTime(one.at),
    ])
    const notes = page.data.map(({ subject: about }) => [about ?? ''])
    printTable({
      headings: ['operator', 'via', 'action', 'outcome', 'time (UTC)'],
      rows,
      notes: { headings: ['subject'], rows: notes },
    })
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}

interface ActionFilters {
  readonly operator?: string
  readonly subject?: string
}

function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true
}
