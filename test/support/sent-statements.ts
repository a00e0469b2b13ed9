import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** Names the file into which the processes of tests write the statements that the product sends. */
export const statementsVariable = 'QUITTANCE_TEST_STATEMENTS'

export interface SentStatement {
  readonly text: string
  /** Where it is sent from: file and line. */
  readonly place: string
}

const root = fileURLToPath(new URL('../../', import.meta.url))
/** They pass statements on. */
const passing =
  /^src\/(?:database\/(?:connect|limit-replies|named-statements)|listeners\/listener-scope)\.ts/

/** Writes down each statement that the product sends from now on, once. */
export function recordStatements(): void {
  const file = process.env[statementsVariable]
  if (file === undefined) return
  const known = new Set<string>()
  const { query } = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const recording = function (this: unknown, ...args: unknown[]) {
    const text = textOf(args[0])
    if (!known.has(text)) {
      known.add(text)
      const place = sender()
      if (text !== '' && place.startsWith('src/'))
        appendFileSync(file, `${JSON.stringify({ text, place })}\n`)
    }
    return query.apply(this, args)
  }
  Object.assign(pg.Client.prototype, { query: recording })
}

function textOf(statement: unknown): string {
  return typeof statement === 'object' && statement !== null && 'text' in statement
    ? String(statement.text)
    : String(statement)
}

/** The nearest line of the product or of a test that does not only pass it on. */
function sender(): string {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 100
  const { stack = '' } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  const places = [...stack.matchAll(/file:\/\/(\/[^\s)]+?\.ts:\d+)/g)]
    .map(([, path = '']) => relative(root, path))
    .filter((path) => /^(?:src|test)\//.test(path) && !/sent-statements/.test(path))
  return places.find((path) => !passing.test(path)) ?? 'nowhere'
}
