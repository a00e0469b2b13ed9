// Writes what follows from the settings, the tables in docs/configuration.md and the type of
// quittance.config.ts:
//   node test/docs/write-configuration.ts
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { read, root } from '../tidy/source-files.ts'
import { configFileOptions, optionsTable, settingsTable } from './settings.ts'

function withTable(page: string, rows: readonly (readonly string[])[]): string {
  const [heading = [], ...others] = rows
  const lines = [heading, heading.map(() => '---'), ...others].map(
    (row) => `| ${row.join(' | ')} |`,
  )
  const old = new RegExp(String.raw`^\| ${heading[0]} .*\n(?:\|.*\n)+`, 'm')
  return page.replace(old, () => `${lines.join('\n')}\n`)
}

const page = 'docs/configuration.md'
writeFileSync(join(root, page), withTable(withTable(read(page), settingsTable()), optionsTable()))
writeFileSync(join(root, 'src/billing/config-file-options.ts'), configFileOptions())
execFileSync(join(root, 'node_modules/.bin/oxfmt'), [page], { cwd: root, stdio: 'inherit' })
