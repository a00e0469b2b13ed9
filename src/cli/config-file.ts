import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { camelCased, checkValues, type Checked, type Values } from '../billing/check-values.ts'
import { fileSettings } from '../billing/settings-schema.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { snakeCase } from '../kernel/field-names.ts'

const fileNames = ['ts', 'mts', 'js', 'mjs'].map((end) => `quittance.config.${end}`)

/** The configuration file of the folder, if any. */
export function configFileName(folder: string): string | undefined {
  return fileNames.find((candidate) => existsSync(join(folder, candidate)))
}

const fix = 'Correct the file; docs/configuration.md describes it.'

/** What the folder's quittance.config file says; without a file, nothing. */
export async function loadConfigFile(folder: string, winning: Values): Promise<Checked> {
  const name = configFileName(folder)
  if (name === undefined) return { values: {}, faults: [] }
  try {
    const config = await importDefault(join(folder, name), name)
    const place = { label: `${name}: `, spell: snakeCase, fix, winning }
    return checkValues(camelCased(config, fileSettings), fileSettings, place)
  } catch (error) {
    const isOurs = error instanceof QuittanceError
    return { values: {}, faults: [isOurs ? error : invalidFile(name, messageOf(error), error)] }
  }
}

async function importDefault(path: string, name: string): Promise<unknown> {
  let loaded: { readonly default?: unknown }
  try {
    loaded = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
  } catch (error) {
    throw invalidFile(placeOf(error, name), messageOf(error), error)
  }
  if (loaded.default === undefined) {
    throw invalidFile(
      name,
      'it has no default export; write `export default defineConfig({ ... })`',
    )
  }
  return loaded.default
}

/** The file, with the line if Node gives it. */
function placeOf(error: unknown, name: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const [, line] = /quittance\.config\.\w+:(\d+)/.exec(stack) ?? []
  return line === undefined ? name : `${name}:${line}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function invalidFile(place: string, reason: string, cause?: unknown): QuittanceError {
  return new QuittanceError('setting_invalid', `${place}: ${reason}`, { cause, fix })
}
