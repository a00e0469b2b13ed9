import type { Values } from './check-values.ts'
import { settingsIn, variablesOf, type Shape } from './setting.ts'

/** A setting that is not as it is by default. */
export interface ShownSetting {
  /** As an option: `webhook.pruneAfterDays`. */
  readonly name: string
  /** Its variables; the first that is set counts. None: it can be set in a file or as an option alone. */
  readonly variables: readonly string[]
  /** Never shown. */
  readonly secret: boolean
  /** Null: it is set, and what to is a secret, or no text. */
  readonly value: string | null
}

/**
 * Those of a shape that are not as they are by default; of secrets, nothing but that they are set.
 * `scrub`: a secret may have been written into the wrong setting.
 */
export function shownSettings(
  shape: Shape,
  values: Values,
  scrub: (text: string) => string,
): readonly ShownSetting[] {
  return settingsIn(shape).flatMap((placed) => {
    const { path, setting } = placed
    const value = valueAt(values, path)
    if (value === undefined || value === null || isSame(value, setting.default)) return []
    const secret = setting.secret === true
    const variables = variablesOf(placed)
    const text = secret ? null : textOf(value)
    return [{ name: path.join('.'), variables, secret, value: text === null ? null : scrub(text) }]
  })
}

export function valueAt(values: Values, path: readonly string[]): unknown {
  let found: unknown = values
  for (const name of path) found = isFields(found) ? found[name] : undefined
  return found
}

function isFields(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSame(value: unknown, other: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(other)) {
    return value.length === other.length && value.every((one, at) => isSame(one, other[at]))
  }
  if (!isFields(value) || !isFields(other)) return value === other
  const names = Object.keys(value)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => isSame(value[name], other[name]))
  )
}

/** Null for what is no text, nor a list of texts. */
function textOf(value: unknown): string | null {
  if (Array.isArray(value)) {
    const texts = value.map(textOf)
    return texts.every((text) => text !== null) ? texts.join(', ') : null
  }
  if (typeof value === 'string') return withoutKeys(value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

/** Of a URL only where it leads: the rest may be as good as a key. */
function withoutKeys(text: string): string {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? URL.parse(text) : null
  if (url === null) return text
  const { protocol, host, pathname, search, hash, username } = url
  const origin = `${protocol}//${host}`
  const isOrigin = pathname.length <= 1 && search === '' && hash === '' && username === ''
  return isOrigin ? origin : `${origin}/…`
}
