import type { Context } from 'hono'
import { operatorOf } from './operator-name.ts'
import { isReader } from './reader.ts'

/** The name of who asks; the tokens of the settings have the names that the console gives them. */
export function askedBy(c: Context): string {
  return operatorOf(c) ?? (isReader(c) ? 'read' : 'api')
}
