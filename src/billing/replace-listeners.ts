import { QuittanceError } from '../kernel/errors.ts'
import {
  createListenerRegistry,
  type ListenerRegistry,
  type RegisteredListener,
} from '../listeners/listeners.ts'
import { registerOptionListeners } from './register-option-listeners.ts'

type Given = Readonly<Record<string, unknown>>

/**
 * Runs other functions under the same names. All else stays as the database knows it:
 * names and types decide which listeners an event has. Error: listener_too_late, and then nothing is
 * replaced.
 */
export function replaceListeners(
  registry: ListenerRegistry,
  { before, now }: { readonly before: Given; readonly now: Given },
): void {
  const others = createListenerRegistry()
  registerOptionListeners(others, now)
  const known = new Map(registry.all().map((listener) => [listener.name, addressOf(listener)]))
  const gone = Object.keys(before).find((name) => !Object.hasOwn(now, name))
  const changed = others
    .all()
    .find((one) => !Object.hasOwn(before, one.name) || known.get(one.name) !== addressOf(one))
  const name = gone ?? changed?.name
  if (name !== undefined) throw restartNeeded(name)
  registry.replace(others.all())
}

/** What decides which events reach it, and how. */
function addressOf({ types, queued, superseded }: RegisteredListener): string {
  return JSON.stringify([types.toSorted(), queued, superseded])
}

function restartNeeded(name: string): QuittanceError {
  return new QuittanceError(
    'listener_too_late',
    `listener ${name} was added, removed, or listens to something else since this process began`,
    { fix: 'Restart the process: only what a listener runs can be replaced.' },
  )
}
