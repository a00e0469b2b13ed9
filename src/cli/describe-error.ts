import { isQuittanceError, spelled } from '../kernel/errors.ts'
import { kebabCase } from '../kernel/field-names.ts'

/** One line: what, where, and how to fix it. */
export function describeError(error: unknown): string {
  if (isQuittanceError(error)) return oneLine(`${spelled(error, flagOf).message} — ${error.fix}`)
  if (error instanceof AggregateError && error.message === '') {
    return oneLine(error.errors.map(describeError).join('; '))
  }
  return oneLine(error instanceof Error ? error.message || error.name : String(error))
}

/** The same for programs. The code is null for what is not ours, such as a bug. */
export function errorView(error: unknown) {
  if (!isQuittanceError(error)) return { code: null, message: describeError(error), fix: null }
  const { code, fix, providerCode } = error
  const view = { code, message: spelled(error, flagOf).message, fix }
  return providerCode === undefined ? view : { ...view, provider_code: providerCode }
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

/** Flags that have another name than their field. */
const flags: Readonly<Record<string, string>> = {
  checkout: '--no-checkout',
  paymentMethodId: '--payment-method',
}

/** The flag of a field of the library: `--payable id` of `payable.id`. */
function flagOf(field: string): string {
  const [name = '', ...part] = field.split('.')
  return [flags[name] ?? `--${kebabCase(name)}`, ...part].join(' ')
}
