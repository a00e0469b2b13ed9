// Writes the tables of exports in docs/10-library.md from the doc comments:
//   node test/docs/write-library.ts && npx oxfmt docs/10-library.md
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { read, root } from '../tidy/source-files.ts'
import { entries, exportsOf, type Exported } from './exports.ts'

const page = 'docs/10-library.md'
const begin = '<!-- From here on written by test/docs/write-library.ts -->\n'

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
const [handwritten = ''] = read(page).split(begin)
writeFileSync(join(root, page), `${handwritten}${begin}\n${sections.join('')}`.trimEnd() + '\n')
