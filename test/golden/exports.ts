import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createBilling } from '../../src/index.ts'
import { exportsOf } from '../docs/exports.ts'
import { read, root } from '../tidy/source-files.ts'
import { isFields, sortedFields, type Structure } from './shape.ts'

const { exports: entries } = JSON.parse(read('package.json')) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** Every entry of the package with the names that it has, and what a billing can do. */
export async function exportsStructure(): Promise<Structure> {
  const found = Object.entries(entries).flatMap(([entry, target]) => filesOf(entry, target))
  const named = found.map(async ([entry, file]) => [entry, await namesIn(file)] as const)
  await using billing = createBilling({ database: { memory: true } })
  const members = { 'a billing': membersOf(billing).toSorted() }
  return { ...sortedFields(await Promise.all(named)), ...members }
}

/** The files behind an entry; a pattern has one for each folder that it fits. */
function filesOf(
  entry: string,
  target: string | { readonly default: string },
): readonly (readonly [string, string])[] {
  const name = `quittance${entry.slice(1)}`
  if (typeof target === 'string') return [[name, target.slice(2)]]
  const file = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts')
  const [folder = '', end] = file.split('/*')
  if (end === undefined) return [[name, file]]
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => `/${path}`.endsWith(end) && `/${path}` !== end)
    .map((path) => path.slice(0, -end.length).replaceAll('\\', '/'))
    .map((part) => [name.replace('*', part), `${folder}/${part}${end}`] as const)
}

async function namesIn(file: string): Promise<Structure> {
  if (!file.endsWith('.ts')) return file
  const values = Object.keys((await import(join(root, file))) as object)
  const types = exportsOf(file).flatMap(({ name, kind }) => (kind === 'type' ? [name] : []))
  return { values: values.toSorted(), types: types.toSorted() }
}

/** `payments.create` for what lies one level down. */
function membersOf(value: object, prefix = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    isFields(member) ? membersOf(member, `${prefix}${name}.`) : [prefix + name],
  )
}
