// Writes docs/exports.md from the doc comments: node test/docs/write-library.ts
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../tidy/source-files.ts'
import { entries, exportsOf, type Exported } from './exports.ts'

const exportsPage = 'docs/exports.md'
const opening = `# Exports

Everything that the package exports, with the first sentence of its doc comment. What most apps need
is in the [library reference](10-library.md).

`

function table(heading: string, rows: readonly Exported[]): string {
  if (rows.length === 0) return ''
  const lines = rows.map(({ name, meaning }) => `| \`${name}\` | ${meaning} |`)
  return [`| ${heading} | What it is |`, '| --- | --- |', ...lines].join('\n') + '\n\n'
}

const sections = Object.entries(entries).map(([entry, path]) => {
  const all = exportsOf(path)
  const of = (kind: Exported['kind']) => all.filter((one) => one.kind === kind)
  return `## ${entry}\n\n${table('Value', of('value'))}${table('Type', of('type'))}`
})
writeFileSync(join(root, exportsPage), `${opening}${sections.join('')}`.trimEnd() + '\n')
execFileSync(join(root, 'node_modules/.bin/oxfmt'), [exportsPage], { cwd: root, stdio: 'inherit' })
