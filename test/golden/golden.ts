import assert from 'node:assert/strict'
import { createProgram } from '../../src/cli/run.ts'
import document from '../../src/http/api/openapi.json' with { type: 'json' }
import { consolePages } from '../console/console-pages.ts'
import { commandLines, printedBy } from './commands.ts'
import { exportsStructure } from './exports.ts'
import { helpStructure } from './help.ts'
import { metricsStructure } from './metrics.ts'
import { openApiStructure } from './openapi.ts'
import { shapeOf, isFields, type Structure } from './shape.ts'
import { openGoldenWorld, type GoldenWorld } from './world.ts'

/** What the outside relies on, by the names of the files. */
export async function goldenStructures(): Promise<Readonly<Record<string, Structure>>> {
  const help = helpStructure(await createProgram())
  await using world = await openGoldenWorld()
  return {
    openapi: openApiStructure(document),
    help,
    exports: await exportsStructure(),
    csv: await csvStructure(world),
    metrics: metricsStructure((await world.core.metrics()).text),
    json: await jsonStructure(world, help),
  }
}

/** The columns of each table, in their order. */
async function csvStructure({ core, values }: GoldenWorld): Promise<Structure> {
  const pages = consolePages(core)
  const today = new Date().toISOString().slice(0, 10)
  const paths = {
    payments: '/payments/export',
    totals: `/totals/export?from=${today}&to=${today}`,
    invoices: `/invoices/export?month=${values['month']}`,
  }
  const columns: Record<string, Structure> = {}
  for (const [name, path] of Object.entries(paths)) {
    const { status, html } = await pages.get(path)
    assert.equal(status, 200, path)
    const [head = ''] = html.replace('\u{feff}', '').split('\r\n')
    columns[name] = head.split(',')
  }
  return columns
}

async function jsonStructure(world: GoldenWorld, help: Structure): Promise<Structure> {
  const fieldsOfWords = new Set(['check', ...fieldsWithWords(document)])
  const shapes: Record<string, Structure> = {}
  for (const line of commandLines) {
    shapes[line] = shapeOf(await printedBy(line, world), fieldsOfWords)
  }
  const all = Object.keys(help).filter((command) => command !== 'quittance')
  const missing = all.filter(
    (command) => !commandLines.some((line) => `${line} `.startsWith(`${command} `)),
  )
  assert.deepEqual(missing, [], 'add these commands to test/golden/commands.ts')
  return shapes
}

/** The names of the fields that the document of the API lists words for. */
function fieldsWithWords(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsWithWords)
  if (!isFields(value)) return []
  const { properties } = value
  const own = isFields(properties) ? Object.entries(properties) : []
  const named = own.filter(
    ([, schema]) => isFields(schema) && ('enum' in schema || 'const' in schema),
  )
  return [...named.map(([name]) => name), ...Object.values(value).flatMap(fieldsWithWords)]
}
