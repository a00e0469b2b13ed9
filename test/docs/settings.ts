import assert from 'node:assert/strict'
import { z } from 'zod'
import {
  isSetting,
  settingsIn,
  variablesOf,
  type PlacedSetting,
  type Shape,
} from '../../src/billing/setting.ts'
import {
  fileSettings,
  optionSettings,
  variableSettings,
} from '../../src/billing/settings-schema.ts'
import { snakeCase } from '../../src/kernel/field-names.ts'
import { read } from '../tidy/source-files.ts'
import { codes, type Table } from './table.ts'

const schema = 'src/billing/settings-schema.ts'
const ownFiles = ['brand', 'http', 'subscription', 'invoice', 'process', 'forward']
const files = [schema, ...ownFiles.map((group) => `src/billing/${group}-settings.ts`)]
const placeOf = ({ path }: PlacedSetting) => path.join('.')

/** The lines of each setting's doc comment, by its place: `webhook.pruneAfterDays`. */
function readComments(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  let comment: string[] = []
  let groups: { readonly name: string; readonly depth: number }[] = []
  for (const line of files.flatMap((file) => read(file).split('\n'))) {
    const depth = line.search(/\S/)
    const text = line.trim()
    const [, group] = /^(?:export const |const )?(\w+)(?: =|:) \{$/.exec(text) ?? []
    const [, name] = /^(?:export const )?(\w+)(?:: | = )setting\(/.exec(text) ?? []
    if (text.startsWith('/**')) comment = [text]
    else if (text.startsWith('*')) comment.push(` ${text}`)
    else if (group !== undefined) groups.push({ name: group, depth })
    else if (name !== undefined) {
      const within = groups.map((one) => one.name.replace(/^(?:http)Settings$/, 'http'))
      const path = within.filter((one) => !/^shared$|Settings$/.test(one))
      found.set([...path, name].join('.'), comment)
    } else if (/^\},?$/.test(text)) groups = groups.filter((one) => one.depth < depth)
  }
  return found
}

const comments = readComments()

/** What a doc comment says, as a cell of a table in docs/configuration.md. */
export function aboutSetting(place: string) {
  const text = (comments.get(place) ?? [])
    .map((line) => line.replace(/^\/\*\*|\*\/$/g, '').replace(/^ \* ?/, ''))
    .join(' ')
    .trim()
  const [meaning = '', preset = ''] = text.split(/\s*@default /)
  return { meaning: meaning.replaceAll(/docs\/([\w-]+)\.md(#[\w-]+)?/g, link), preset }
}

function link(_: string, page: string, anchor = ''): string {
  const words = anchor === '' ? page.replace(/^\d+-/, '') : anchor.slice(1)
  return `[${words.replaceAll('-', ' ')}](${page === 'configuration' ? '' : `${page}.md`}${anchor})`
}

/** A default that is one value is written like one. */
function defaultCell({ setting, path }: PlacedSetting): string {
  const { preset } = aboutSetting(path.join('.'))
  const { default: value } = setting
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
  if (isPlain) assert.equal(preset, String(value), `the comment on ${path.join('.')} says so`)
  return /^[^\s`]+$/.test(preset) ? codes([preset]) : preset
}

const inFile = new Set(settingsIn(fileSettings).map(placeOf))

/** Every setting of the service, by variable and by key. */
function settingsTable(): readonly (readonly string[])[] {
  return [
    ['Variable', 'Key', 'Meaning', 'Default'],
    ...settingsIn(variableSettings).map((one) => [
      codes(variablesOf(one)),
      inFile.has(placeOf(one)) ? codes([one.path.map(snakeCase).join('.')]) : '',
      aboutSetting(placeOf(one)).meaning,
      defaultCell(one),
    ]),
  ]
}

/** The options that only `createBilling` takes. */
function optionsTable(): readonly (readonly string[])[] {
  return [
    ['Option', 'Meaning', 'Default'],
    ...settingsIn(optionSettings)
      .filter((one) => !inFile.has(placeOf(one)))
      .map((one) => [codes([placeOf(one)]), aboutSetting(placeOf(one)).meaning, defaultCell(one)]),
  ]
}

const page = 'docs/configuration.md'

export const settingsTables: readonly Table[] = [
  { page, under: 'Settings', rows: settingsTable() },
  { page, under: 'createBilling', rows: optionsTable() },
]

/** src/billing/config-file-options.ts: an editor shows the comments of names that stand somewhere. */
export function configFileOptions(): string {
  return `// Written by "npm run tables" from ${schema}.
import type { Option } from './setting.ts'
import type { fileSettings as file } from './settings-schema.ts'

/** What quittance.config.ts may hold. The code that opens the billing sets the rest. */
export interface ConfigFileOptions {
${membersOf(fileSettings, [])}
}
`
}

/** In words where it is plain: an editor shows that of a whole group as it stands here. */
function typeOf({ path, setting: { type } }: PlacedSetting): string {
  const names = [z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }).type].flat()
  const plain = names.map((name) => (name === 'integer' ? 'number' : name))
  const isPlain = plain.every((name) => /^(?:string|number|boolean|null)$/.test(name ?? ''))
  return isPlain ? plain.join(' | ') : `Option<typeof ${['file', ...path].join('.')}>`
}

function membersOf(shape: Shape, within: readonly string[]): string {
  const indent = '  '.repeat(within.length + 1)
  const members = Object.entries(shape).map(([name, node]) => {
    const path = [...within, name]
    const key = `${indent}readonly ${snakeCase(name)}?: `
    if (!isSetting(node)) return `${key}{\n${membersOf(node, path)}\n${indent}}`
    const comment = (comments.get(path.join('.')) ?? []).map((line) => `${indent}${line}\n`)
    return `${comment.join('')}${key}${typeOf({ path, setting: node })} | undefined`
  })
  return members.join('\n')
}
