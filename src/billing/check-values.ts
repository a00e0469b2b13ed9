import { QuittanceError } from '../kernel/errors.ts'
import { hasFields } from '../kernel/has-fields.ts'
import { choiceAmong } from '../kernel/similar-name.ts'
import { camelCase, snakeCase } from '../kernel/field-names.ts'
import { isSetting, type Complete, type Setting, type Shape } from './setting.ts'

/** Values by name, in groups like their settings. */
export interface Values {
  readonly [name: string]: unknown
}

export interface Checked {
  /** The valid ones. */
  readonly values: Values
  readonly faults: readonly QuittanceError[]
}

/** Where values come from, so that a message names them as they are written there. */
export interface Place {
  /** Before a name: `option `. */
  readonly label: string
  /** The names of the enclosing groups. */
  readonly path?: readonly string[]
  /** The name of a setting as it is written there. */
  spell(name: string): string
  readonly fix: string
  /** Values that win over the ones given here, which are then not checked. */
  readonly winning?: Values
}

type OnRenamed = (from: string, to: string) => void

/** Accepts names of quittance.config.ts, such as `prune_after_days`, for those of the settings. */
export function camelCased(
  given: unknown,
  shape: Shape,
  { onRenamed, within = '' }: { readonly onRenamed?: OnRenamed; readonly within?: string } = {},
): unknown {
  if (!isGroup(given)) return given
  // If there are both, what is the object's own comes last, and counts.
  const keys = inherited(given, shape).concat(Object.keys(given))
  const entries = keys.map((key) => {
    const value = given[key]
    const camel = camelCase(key)
    // A setting that is given under both names stays a fault.
    const isOther = camel !== key && nodeOf(shape, camel) && !Object.hasOwn(given, camel)
    const name = isOther ? camel : key
    if (isOther) onRenamed?.(within + key, within + name)
    const node = nodeOf(shape, name)
    if (node === undefined || isSetting(node)) return [name, value] as const
    const inner = { ...(onRenamed && { onRenamed }), within: `${within}${name}.` }
    return [name, camelCased(value, node, inner)] as const
  })
  return Object.fromEntries(entries)
}

/** Names of settings that the object has, but not as its own: the getters of a class, for one. */
function inherited(given: Values, shape: Shape): readonly string[] {
  const names = new Set(Object.keys(shape).flatMap((name) => [name, snakeCase(name)]))
  return [...names].filter((name) => name in given && !Object.hasOwn(given, name))
}

/** Checks each value by its setting; a name without a setting is a fault. */
export function checkValues(given: unknown, shape: Shape, place: Place): Checked {
  if (!isGroup(given)) {
    const known = namesIn(shape, place).join(', ')
    return faulty(place, `${placed(place).trim()} must be an object with ${known}`)
  }
  const checked = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map((entry) => checkEntry(entry, shape, place))
  return {
    values: Object.assign({}, ...checked.map(({ values }) => values)) as Values,
    faults: checked.flatMap(({ faults }) => faults),
  }
}

function checkEntry([key, value]: readonly [string, unknown], shape: Shape, place: Place): Checked {
  const node = nodeOf(shape, key)
  const winning = place.winning?.[key]
  if (node === undefined) {
    return faulty(place, `${placed(place, key)} ${unknown(key, shape, place)}`)
  }
  if (isSetting(node)) {
    if (winning !== undefined) return { values: {}, faults: [] }
    const name = placed(place, place.spell(key))
    const { faults, ...checked } = checkValue(value, node, { name, fix: place.fix })
    return { values: { [key]: checked.value }, faults }
  }
  const { path = [] } = place
  const { values, faults } = checkValues(value, node, {
    ...place,
    path: [...path, key],
    winning: isGroup(winning) ? winning : {},
  })
  return { values: { [key]: values }, faults }
}

function unknown(key: string, shape: Shape, place: Place): string {
  const name = camelCase(key)
  // Only what is given under its own name as well has kept the other one.
  if (nodeOf(shape, name) !== undefined) return `is given twice, also as ${name}`
  return `is unknown${choiceAmong(key, namesIn(shape, place))}`
}

export interface Named {
  readonly name: string
  readonly fix: string
  /** What it must be and what was given, if that differs from the checked value. */
  readonly must?: string | undefined
  readonly given?: unknown
}

/** The setting's value from this input; undefined if it is wrong. */
export function checkValue(
  value: unknown,
  { type, code = 'setting_invalid', secret = false, ...setting }: Setting,
  { name, fix, must, given = value }: Named,
): { readonly value: unknown; readonly faults: readonly QuittanceError[] } {
  const parsed = type.safeParse(value)
  if (parsed.success) return { value: parsed.data, faults: [] }
  const { path = [], message = 'is wrong' } = parsed.error.issues[0] ?? {}
  const full = [name, ...path.filter((key) => typeof key === 'string')].join('.')
  const got = secret ? '' : shown(given === value ? valueAt(value, path) : given)
  const own = setting.fix ?? (code === 'setting_invalid' ? fix : undefined)
  const options = own === undefined ? {} : { fix: own }
  const fault = new QuittanceError(code, `${full} ${must ?? message}${got}`, options)
  return { value: undefined, faults: [fault] }
}

/** Every setting: from the first layer that has it, otherwise its default. */
export function completed<S extends Shape>(shape: S, layers: readonly Values[]): Complete<S> {
  const entries = Object.entries(shape).map(([name, node]) => {
    const own = layers.map((layer) => layer[name])
    if (!isSetting(node)) return [name, completed(node, own.filter(isGroup))]
    return [name, own.find((value) => value !== undefined && value !== null) ?? node.default]
  })
  return Object.fromEntries(entries) as Complete<S>
}

function faulty({ fix }: Place, message: string): Checked {
  return { values: {}, faults: [new QuittanceError('setting_invalid', message, { fix })] }
}

/** The place in words, and a name there. */
function placed({ label, path = [], spell }: Place, ...names: readonly string[]): string {
  return label + [...path.map(spell), ...names].join('.')
}

function namesIn(shape: Shape, { spell }: Place): readonly string[] {
  return Object.keys(shape).map(spell)
}

function nodeOf(shape: Shape, name: string): Setting | Shape | undefined {
  return Object.hasOwn(shape, name) ? shape[name] : undefined
}

function isGroup(value: unknown): value is Values {
  return hasFields(value)
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((inner, key) => (inner as Record<PropertyKey, unknown>)[key], value)
}

const mostShown = 100

/** A text may be a URL in the wrong place: it is shown without its user and password. */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    return `, got ${JSON.stringify(value.replace(/\/\/.*@/s, '//...@').slice(0, mostShown))}`
  }
  const isPlain = value === null || ['number', 'boolean'].includes(typeof value)
  return isPlain ? `, got ${String(value)}` : ''
}
