import { isQuittanceError } from '../kernel/errors.ts'

/** One line: what, where, and how to fix it. */
export function describeError(error: unknown): string {
  if (isQuittanceError(error)) return oneLine(`${error.message} — ${atTheShell(error.fix)}`)
  if (error instanceof AggregateError && error.message === '') {
    return oneLine(error.errors.map(describeError).join('; '))
  }
  return oneLine(error instanceof Error ? error.message || error.name : String(error))
}

/** What a fix tells callers of the library to pass, as an option of the command. */
const spellings = [['say checkout: false', 'give --no-checkout']] as const

function atTheShell(fix: string): string {
  return spellings.reduce((text, [there, here]) => text.replaceAll(there, here), fix)
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim()
}

/** The code at the bottom of a network error: `fetch` and several addresses wrap it. */
export function codeOf(error: unknown): string {
  const root = rootOf(error)
  return root instanceof Error && 'code' in root ? String(root.code) : ''
}

export function rootOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (error.cause instanceof Error) return rootOf(error.cause)
  return error instanceof AggregateError ? rootOf(error.errors[0]) : error
}
