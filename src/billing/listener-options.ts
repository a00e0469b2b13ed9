import { QuittanceError } from '../kernel/errors.ts'
import { isEventType, type EventType } from '../events/catalogue.ts'
import type { ListenerEntry, ListenersOption } from './listeners-option.ts'
import type { ListenerRegistry } from '../listeners/listeners.ts'

/** Registers what the option `listeners` names: a function, an entry with options, or a list. */
export function registerOptionListeners(
  registry: ListenerRegistry,
  listeners: ListenersOption,
): void {
  for (const [type, entries] of Object.entries(listeners)) {
    if (!isEventType(type)) {
      throw new QuittanceError('event_type_unknown', `listeners.${type}: there is no such event`)
    }
    const list = (
      Array.isArray(entries) ? entries : [entries]
    ) as readonly ListenerEntry<EventType>[]
    for (const entry of list) registerEntry(registry, type, entry)
  }
}

function registerEntry(
  registry: ListenerRegistry,
  type: EventType,
  entry: ListenerEntry<EventType>,
): void {
  if (typeof entry === 'function') {
    registry.add({ name: entry.name, type, queued: false, superseded: false, run: entry })
    return
  }
  const { listener: run, queued = false, superseded = false } = entry ?? {}
  if (typeof run !== 'function') {
    throw new QuittanceError(
      'setting_invalid',
      `listeners.${type} must be a function, or an object with the function as its \`listener\``,
      { fix: 'Correct the listeners in quittance.config.ts, or those given to createBilling.' },
    )
  }
  registry.add({ name: entry.name ?? run.name, type, queued, superseded, run })
}
