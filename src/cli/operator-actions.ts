import type { Command } from 'commander'
import type { BillingCore } from '../billing/types.ts'
import { counted } from '../kernel/counted.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { factsOf } from '../kernel/noun-text.ts'
import { inWords, type Noun } from '../kernel/noun.ts'
import { isOperatorName } from '../operators/operator-input.ts'
import {
  actionFilters,
  actionNoun,
  operatorFields,
  operatorView,
  type OperatorRole,
  type OperatorAccount,
} from '../wire/operator.ts'
import { asksJson, printPage, printRows, queryOf } from './noun.ts'
import { withCore } from './open-core.ts'
import { print, printJson, shortTime, visible } from './output.ts'

export interface AddOptions {
  readonly role: OperatorRole
  readonly expires?: Date
  readonly json?: boolean
}

const operatorNoun: Noun<OperatorAccount> = {
  plural: 'operators',
  facts: {
    ...operatorFields,
    expiresAt: inWords(
      ({ expiresAt }: OperatorAccount) => (expiresAt === null ? 'never' : shortTime(expiresAt)),
      { label: 'expires (UTC)' },
    ),
    token: inWords(({ isExpired }: OperatorAccount) => (isExpired ? 'expired' : 'works')),
  },
  filters: {},
  columns: ['name', 'role', 'createdAt', 'expiresAt', 'token'],
  view: operatorView,
}

export async function list(command: Command): Promise<void> {
  const operators = await withCore((core) => core.operators.list())
  if (asksJson(command)) printJson({ data: operators.map(operatorView) })
  else if (operators.length === 0) print('No operators.')
  else await printRows(operators, operatorNoun)
}

export async function add(name: string, command: Command): Promise<void> {
  const { role, expires } = command.optsWithGlobals<AddOptions>()
  const input = { name, role, expiresAt: expires }
  const added = await acting('addOperator', name, (core) => core.operators.add(input))
  const { operator, token } = added
  if (asksJson(command)) {
    printJson({ ...operatorView(operator), token })
    return
  }
  const facts = factsOf(operatorFields, operator, ['id'])
  for (const [label, text] of [...facts, ['token', token]]) print(label.padEnd(12) + text)
  print('The token is shown this once: give it to nobody but its operator.')
}

export async function remove(name: string, command: Command): Promise<void> {
  const removed = await acting('removeOperator', name, (core) => core.operators.remove(name))
  if (asksJson(command)) printJson(operatorView(removed))
  else print(`Removed ${visible(name)}: its token no longer works.`)
}

export async function signOut(name: string, command: Command): Promise<void> {
  const ended = await acting('signOutOperator', name, (core) => core.operators.signOut(name))
  if (asksJson(command)) printJson({ operator: name, ended_sessions: ended })
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
  const page = await withCore(async (core) =>
    core.operators.actions(await queryOf(core, command, actionFilters)),
  )
  await printPage(page, command, actionNoun)
}
