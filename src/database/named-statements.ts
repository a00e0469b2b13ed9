import { sql, type RawBuilder } from 'kysely'
import type pg from 'pg'

/**
 * Begins a statement that is sent often: each connection prepares it once, under this name, and the
 * server plans it once. Its text must always be the same, and it must name its columns: a newer
 * version of the schema may have more of them.
 */
export function named(name: string): RawBuilder<never> {
  return sql.raw(nameComment(name))
}

/**
 * The same for a statement that is written as a text. The comment is ours alone: listeners send
 * theirs through the same connection, and a comment of their own names nothing.
 */
export function nameComment(name: string): string {
  return `/* quittance:${name} */ `
}

/** Behind `@` is the schema: see `schemaOf`. */
const beginsWithName = /^\s*\/\* quittance:([a-z-]+(?:@\w+)?) \*\//

/** Whether statements are prepared: behind a pooler, the next one may go to another server process. */
export interface Preparation {
  isOn: boolean
}

/** Lets a connection prepare its named statements while that is on. */
export function prepareNamed(client: pg.ClientBase, preparing: Preparation): void {
  const send = client.query.bind(client) as (...args: unknown[]) => unknown
  let forgets = false
  const query = (text: unknown, values: unknown, ...rest: unknown[]) => {
    // Sent by a listener: the driver would go on to believe that they are prepared.
    forgets ||= forgetting.test(textOf(text))
    const name = preparing.isOn && !forgets && typeof text === 'string' ? nameOf(text) : undefined
    return name === undefined ? send(text, values, ...rest) : send({ name, text, values }, ...rest)
  }
  client.query = query as typeof client.query
}

const forgetting = /\b(?:deallocate|discard)\b/i

function textOf(query: unknown): string {
  if (typeof query === 'string') return query
  return typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : ''
}

/** The name that a statement begins with. */
export function nameOf(text: string): string | undefined {
  return beginsWithName.exec(text)?.[1]
}
