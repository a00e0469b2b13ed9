import type { Context } from 'hono'

const mark = 'quittance:operator'

/** Says who asks: what is done then is done by this name. */
export function markOperator(c: Context, name: string): void {
  c.set(mark, name)
}

/** The name of who asks, for a route behind a guard; a token of the settings says none. */
export function operatorOf(c: Context): string | undefined {
  return c.get(mark) as string | undefined
}

/** An app's guard may say any name; a text of the database has no control characters. */
export function printableName(name: string): string {
  return name
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\u{fffd}')
    .slice(0, 200)
    .toWellFormed()
}
