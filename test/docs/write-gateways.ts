// Writes what the pages say of all gateways: node test/docs/write-gateways.ts
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { read, root } from '../tidy/source-files.ts'
import {
  exampleVariables,
  gatewayTables,
  namesInReadme,
  type GatewayTable,
} from './gateway-tables.ts'

function tableOf({ rows: [heading = [], ...rows] }: GatewayTable): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [line(heading), line(heading.map(() => '---')), ...rows.map(line)].join('')
}

function replace(path: string, pattern: RegExp, text: string): void {
  const before = read(path)
  if (!pattern.test(before)) throw new Error(`${path} has no place for it: ${pattern}`)
  writeFileSync(
    join(root, path),
    before.replace(pattern, (_all, start: string) => start + text),
  )
}

for (const table of gatewayTables) {
  const heading = table.under.replaceAll('.', String.raw`\.`)
  // The first table under the heading.
  const place = new RegExp(String.raw`(^#+ ${heading}\n(?:(?!#|\|).*\n)*)(?:\|.*\n)+`, 'm')
  replace(table.page, place, tableOf(table))
}
replace(
  '.env.example',
  /(\n# Fake gateway\n)[\s\S]*$/,
  `${exampleVariables.split('\n').slice(1).join('\n')}\n`,
)
replace('README.md', /(\n## Gateways\n\n)(?:`\w+`(?:,\s)?)+/, namesInReadme)
const pages = new Set(['README.md', ...gatewayTables.map(({ page }) => page)])
execFileSync(join(root, 'node_modules/.bin/oxfmt'), [...pages], { cwd: root, stdio: 'inherit' })
