import { isEventType } from '../events/catalogue.ts'
import { QuittanceError, type ErrorCode } from '../kernel/errors.ts'
import type { ListenerRegistry } from '../listeners/listeners.ts'
import { readListener } from '../listeners/read-listener.ts'

/** Registers what the option `listeners` holds, each under its key. */
export function registerOptionListeners(
  registry: ListenerRegistry,
  listeners: Readonly<Record<string, unknown>>,
): void {
  for (const [name, entry] of Object.entries(listeners)) {
    if (!isObject(entry) || !('on' in entry)) throw entryFault(name)
    const { on, run, ...options } = entry as Readonly<Record<string, unknown>>
    registry.add(readListener(name, { on, run, options }))
  }
}

/** The form before this one had events as its keys: then a name is what is missing. */
function entryFault(key: string): QuittanceError {
  const code = isEventType(key) ? 'listener_unnamed' : 'setting_invalid'
  return notTheForm(code, `listeners.${key} must be a name, with what it listens to as its \`on\``)
}

function notTheForm(code: ErrorCode, message: string): QuittanceError {
  return new QuittanceError(code, message, {
    fix: "Write listeners: { grantAccess: { on: 'PaymentSucceeded', run: listener } }.",
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
