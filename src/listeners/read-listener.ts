import { isEventType, type EventType } from '../events/catalogue.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { hasFields } from '../kernel/has-fields.ts'
import { text } from '../kernel/input-rules.ts'
import type { RegisteredListener } from './listeners.ts'

const longestName = 200
const nameRule = text(longestName).refine((name) => name.trim() !== '')

/** A listener as it was registered: in JavaScript nobody has looked at it yet. */
export interface GivenListener {
  readonly on: unknown
  readonly run: unknown
  readonly options: unknown
}

interface GivenOptions {
  readonly queued?: unknown
  readonly superseded?: unknown
}

/** Errors: listener_unnamed, event_type_unknown, setting_invalid. */
export function readListener(
  name: unknown,
  { on, run, options }: GivenListener,
): RegisteredListener {
  const list: readonly unknown[] = Array.isArray(on) ? on : [on]
  requireName(name, list)
  const types = [...new Set(list.map((type) => readType(name, type)))]
  if (types.length === 0) throw invalid(name, 'the list of its events is empty')
  if (!hasFields(options)) throw invalid(name, 'its options must be an object')
  const { queued = false, superseded = false, ...others }: GivenOptions = options
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalid(name, `there is no option ${JSON.stringify(other)}`)
  if (!isFunction(run)) throw invalid(name, 'what it runs must be a function')
  if (typeof queued !== 'boolean') throw invalid(name, '`queued` must be true or false')
  if (typeof superseded !== 'boolean') throw invalid(name, '`superseded` must be true or false')
  return { name, types, queued, superseded, run }
}

function requireName(name: unknown, types: readonly unknown[]): asserts name is string {
  if (nameRule.safeParse(name).success) return
  throw new QuittanceError(
    'listener_unnamed',
    `the name of a listener of ${types.map(shown).join(', ')} must be text of 1 to ` +
      `${longestName} characters without control characters, got ${shown(name)}`,
  )
}

function readType(name: string, type: unknown): EventType {
  if (isEventType(type)) return type
  throw new QuittanceError(
    'event_type_unknown',
    `listener ${name}: there is no event ${shown(type)}`,
  )
}

function invalid(name: string, fault: string): QuittanceError {
  return new QuittanceError('setting_invalid', `listener ${name}: ${fault}`, {
    fix: 'Register it in the form that docs/4-listeners.md shows.',
  })
}

function isFunction(value: unknown): value is RegisteredListener['run'] {
  return typeof value === 'function'
}

/** Whatever it is, in a few printable characters. */
function shown(value: unknown): string {
  if (typeof value !== 'string') return typeof value
  return /^\w+$/.test(value) ? value : JSON.stringify(value.slice(0, 80))
}
