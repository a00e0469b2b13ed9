import { isEventType } from '../events/catalogue.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { hasFields } from '../kernel/has-fields.ts'
import type { ListenerRegistry } from '../listeners/listeners.ts'
import { readListener } from '../listeners/read-listener.ts'

/** Registers the listeners of the option `listeners`, each under its key. */
export function registerOptionListeners(
  registry: ListenerRegistry,
  listeners: Readonly<Record<string, unknown>>,
): void {
  for (const [name, entry] of Object.entries(listeners)) {
    if (!hasFields(entry) || !('on' in entry)) throw entryFault(name)
    const { on, run, ...options } = entry as Readonly<Record<string, unknown>>
    registry.add(readListener(name, { on, run, options }))
  }
}

/** In the previous form the keys were events: then the name is missing. */
function entryFault(key: string): QuittanceError {
  const fix = "Write listeners: { grantAccess: { on: 'PaymentSucceeded', run: listener } }."
  return isEventType(key)
    ? new QuittanceError(
        'listener_unnamed',
        `listeners.${key} is an event: a key must be the name of a listener`,
        { fix },
      )
    : new QuittanceError(
        'setting_invalid',
        `listeners.${key} must be an object that says in \`on\` what it listens to`,
        { fix },
      )
}
