import { read } from '../tidy/source-files.ts'
import { secret } from '../../src/kernel/secret.ts'
import { bodyOf } from '../../src/outbound/body.ts'
import { recordedReasons } from '../../src/payments/reasons.ts'
import { signedHeaders } from '../../src/outbound/sign.ts'
import { eventExamples } from '../openapi/examples.ts'
import { alertRules } from './alert-rules.ts'
import { apiTables } from './api-tables.ts'
import { eventTables } from './event-tables.ts'
import { entries, exportsOf, type Exported } from './exports.ts'
import {
  builtinSummaries,
  exampleVariables,
  gatewayTables,
  namesInReadme,
} from './gateway-tables.ts'
import { tableRows } from './markdown.ts'
import { metricTables } from './metric-tables.ts'
import { configFileOptions, settingsTables } from './settings.ts'
import { stateTables } from './state-tables.ts'
import { codes, type Table } from './table.ts'

export const tables: readonly Table[] = [
  ...settingsTables,
  ...gatewayTables,
  ...metricTables,
  ...eventTables,
  ...stateTables,
  ...apiTables,
]

function tableOf([heading = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [line(heading), line(heading.map(() => '---')), ...rows.map(line)].join('')
}

/** The first table under its heading, and what stands between. */
function placeOf({ under }: Table): RegExp {
  const heading = under.replaceAll('.', String.raw`\.`)
  return new RegExp(String.raw`(^#+ ${heading}\n(?:(?!#|\|).*\n)*)((?:\|.*\n)+)`, 'm')
}

/** The rows of the table; where a row is new, what the page has to say is empty. */
export function filled(table: Table, page = read(table.page)): readonly (readonly string[])[] {
  const [, , shown = ''] = placeOf(table).exec(page) ?? []
  const said = new Map(tableRows(shown).map(([name, ...cells]) => [name, cells]))
  return table.rows.map(([name = '', ...cells]) => [
    name,
    ...cells.map((cell, at) => cell ?? said.get(name)?.[at] ?? ''),
  ])
}

/** What follows from the code, by file, before it is formatted. */
export function generated(): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  /** Puts a text behind the first group of what stands there. */
  const replace = (path: string, place: RegExp, make: (page: string) => string) => {
    const page = files.get(path) ?? read(path)
    if (!place.test(page)) throw new Error(`${path} has no place for it: ${place}`)
    const text = make(page)
    files.set(
      path,
      page.replace(place, (_all, start: string) => start + text),
    )
  }
  for (const table of tables) {
    replace(table.page, placeOf(table), (page) => tableOf(filled(table, page)))
  }
  replace(
    'src/gateways/builtin-summaries.ts',
    /(builtinSummaries = )\[[\s\S]*$/,
    () => `${JSON.stringify(builtinSummaries)} as const satisfies readonly GatewaySummary[]\n`,
  )
  const variables = `${exampleVariables.split('\n').slice(1).join('\n')}\n`
  replace('.env.example', /(\n# Fake gateway\n)[\s\S]*$/, () => variables)
  replace('README.md', /(\n## Gateways\n\n)(?:`\w+`(?:,\s)?)+/, () => namesInReadme)
  replace(
    'deploy/prometheus/quittance.rules.yml',
    /( {2}- name: quittance-health\n {4}rules:\n)[\s\S]*$/,
    alertRules,
  )
  const facts = codes(recordedReasons)
  replace('docs/5-operations.md', /(\n {2}Recorded facts: )(?:`\w+`(?:,\s+)?)+/, () => facts)
  replace('docs/18-webhooks-out.md', /(\n```http\n)[^`]*/, signedExample)
  files.set('docs/exports.md', exportsPage())
  return files.set('src/billing/config-file-options.ts', configFileOptions())
}

/** The secret that the page declares its endpoint with. */
function signedExample(page: string): string {
  const event = eventExamples.PaymentSucceeded
  const [, key = ''] = /BILLING_FORWARD_SECRET=(\S+)/.exec(page) ?? []
  if (event === undefined) throw new Error('there is no example of the event')
  const body = bodyOf(event, 'full')
  const at = new Date(event.createdAt.getTime() + 1_000)
  const headers = { ...signedHeaders({ id: event.id, body }, [secret(key)], at) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = ['POST /hooks HTTP/1.1', 'content-type: application/json', ...lines]
  return `${head.join('\n')}\n\n${body}\n`
}

const opening = `# Exports

Everything that the package exports, with the first sentence of its doc comment. What most apps need
is in the [library reference](10-library.md).

`

function exportsPage(): string {
  const sections = Object.entries(entries).map(([entry, path]) => {
    const all = exportsOf(path)
    const of = (kind: Exported['kind']) => all.filter((one) => one.kind === kind)
    return `## ${entry}\n\n${exportsTable('Value', of('value'))}${exportsTable('Type', of('type'))}`
  })
  return `${opening}${sections.join('')}`.trimEnd() + '\n'
}

function exportsTable(heading: string, exported: readonly Exported[]): string {
  if (exported.length === 0) return ''
  const rows = exported.map(({ name, meaning }) => [`\`${name}\``, meaning])
  return `${tableOf([[heading, 'What it is'], ...rows])}\n`
}
