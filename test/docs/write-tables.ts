// Writes what follows from the code: the tables of the settings and of the gateways, the list of
// exports, .env.example, what help says of the gateways and the type of quittance.config.ts: npm run tables
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { read, root } from '../tidy/source-files.ts'
import { entries, exportsOf, type Exported } from './exports.ts'
import {
  builtinSummaries,
  exampleVariables,
  gatewayTables,
  namesInReadme,
} from './gateway-tables.ts'
import { metricTables } from './metric-tables.ts'
import { configFileOptions, optionsTable, settingsTable } from './settings.ts'

type Rows = readonly (readonly string[])[]

const written = new Set<string>()

function write(path: string, text: string): void {
  writeFileSync(join(root, path), text)
  if (/\.md$|-summaries\.ts$/.test(path)) written.add(path)
}

/** Puts a text behind the first group of what stands there. */
function replace(path: string, pattern: RegExp, text: string): void {
  const before = read(path)
  if (!pattern.test(before)) throw new Error(`${path} has no place for it: ${pattern}`)
  write(
    path,
    before.replace(pattern, (_all, start: string) => start + text),
  )
}

function tableOf([heading = [], ...rows]: Rows): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [line(heading), line(heading.map(() => '---')), ...rows.map(line)].join('')
}

const settingsPage = 'docs/configuration.md'
for (const rows of [settingsTable(), optionsTable()]) {
  const [[heading = ''] = []] = rows
  const place = new RegExp(String.raw`()^\| ${heading} .*\n(?:\|.*\n)+`, 'm')
  replace(settingsPage, place, tableOf(rows))
}
write('src/billing/config-file-options.ts', configFileOptions())

for (const { page, under, rows } of [...gatewayTables, ...metricTables]) {
  const heading = under.replaceAll('.', String.raw`\.`)
  // The first table under the heading.
  const place = new RegExp(String.raw`(^#+ ${heading}\n(?:(?!#|\|).*\n)*)(?:\|.*\n)+`, 'm')
  replace(page, place, tableOf(rows))
}
replace(
  'src/gateways/builtin-summaries.ts',
  /(builtinSummaries: readonly GatewaySummary\[\] = )\[[\s\S]*$/,
  `${JSON.stringify(builtinSummaries)}\n`,
)
const variables = `${exampleVariables.split('\n').slice(1).join('\n')}\n`
replace('.env.example', /(\n# Fake gateway\n)[\s\S]*$/, variables)
replace('README.md', /(\n## Gateways\n\n)(?:`\w+`(?:,\s)?)+/, namesInReadme)

const opening = `# Exports

Everything that the package exports, with the first sentence of its doc comment. What most apps need
is in the [library reference](10-library.md).

`

function exportsTable(heading: string, exported: readonly Exported[]): string {
  if (exported.length === 0) return ''
  const rows = exported.map(({ name, meaning }) => [`\`${name}\``, meaning])
  return `${tableOf([[heading, 'What it is'], ...rows])}\n`
}

const sections = Object.entries(entries).map(([entry, path]) => {
  const all = exportsOf(path)
  const of = (kind: Exported['kind']) => all.filter((one) => one.kind === kind)
  return `## ${entry}\n\n${exportsTable('Value', of('value'))}${exportsTable('Type', of('type'))}`
})
write('docs/exports.md', `${opening}${sections.join('')}`.trimEnd() + '\n')

execFileSync(join(root, 'node_modules/.bin/oxfmt'), [...written], { cwd: root, stdio: 'inherit' })
