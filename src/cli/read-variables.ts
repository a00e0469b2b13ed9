import { checkValue, type Checked } from '../billing/check-values.ts'
import { settingsIn, variablesOf, type Setting } from '../billing/setting.ts'
import { variableSettings } from '../billing/settings-schema.ts'
import { errorCatalogue } from '../kernel/errors.ts'

const placed = settingsIn(variableSettings)

/** Every variable that belongs to no gateway; gateways name their own in their descriptors. */
export const variableNames = placed.flatMap(variablesOf)

interface Reader {
  /** A text in the wrong form stays as it is, and fails the check of its setting. */
  read(text: string): unknown
  /** What the text must be, if the setting says that of another value. */
  readonly must?: string
}

const words: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['off', false],
])
const readers: Readonly<Record<string, Reader>> = {
  number: { read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : text) },
  boolean: { read: (text) => words.get(text) ?? text, must: 'must be on or off' },
  array: { read: (text) => text.split(',').map((one) => one.trim()) },
}

function readerOf({ type, read }: Setting): Reader {
  return read === undefined ? (readers[type.def.type] ?? { read: (text) => text }) : { read }
}

/** What the variables say, in the groups of the settings. */
export function readVariables(environment: Readonly<Record<string, string>>): Checked {
  const checked = placed.flatMap(({ path, setting }) =>
    variablesOf({ path, setting }).flatMap((name) => {
      const given = environment[name]
      if (given === undefined) return []
      const { read, must } = readerOf(setting)
      const named = { name, fix: errorCatalogue.setting_invalid, must, given }
      return [{ path, ...checkValue(read(given), setting, named) }]
    }),
  )
  const values = {}
  // If a setting has two variables, the first one counts.
  for (const { path, value, faults } of checked.toReversed()) {
    if (faults.length === 0) place(values, path, value)
  }
  return { values, faults: checked.flatMap(({ faults }) => faults) }
}

function place(group: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) group[name] = value
  else place((group[name] ??= {}) as Record<string, unknown>, rest, value)
}
