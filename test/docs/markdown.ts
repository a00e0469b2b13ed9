import assert from 'node:assert/strict'
import { dirname, join, normalize } from 'node:path'
import { filesIn, read, topFiles, type SourceFile } from '../tidy/source-files.ts'

/** What users read: the README and the pages. */
export function pages(): readonly SourceFile[] {
  return [...topFiles(/^README\.md$/), ...filesIn('docs', /\.md$/)]
}

export interface CodeBlock {
  readonly path: string
  readonly language: string
  readonly code: string
}

export function codeBlocks({ path, text }: SourceFile): readonly CodeBlock[] {
  const found = text.matchAll(/^```(\w*)\n(.*?)^```$/gms)
  return Array.from(found, ([, language = '', code = '']) => ({ path, language, code }))
}

/** The commands of `npx quittance` that a page lets a reader type about a payment, in a list. */
export function typedCommands(path: string): readonly string[] {
  return Array.from(
    read(path).matchAll(/^ {3}- `npx quittance ([^`]*)`$/gm),
    ([, line = '']) => line,
  )
}

/** Cells of every row of the tables in a text, headings included. */
export function tableRows(markdown: string): readonly (readonly string[])[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s|:-]+\|$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

/** What stands in code marks. */
export function codeIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, name = '']) => name)
}

/** Names that the first column of a table lists in code marks. */
export function namesIn(markdown: string): readonly string[] {
  return tableRows(markdown).flatMap(([first = '']) => codeIn(first))
}

/** The text under a heading of the second level. */
export function section(markdown: string, heading: string): string {
  const [, rest] = markdown.split(`\n## ${heading}\n`)
  assert.ok(rest !== undefined, `no section ${heading}`)
  return rest.split('\n## ')[0] ?? ''
}

/** The names that links of the form `page.md#name` may use, made as GitHub makes them. */
export function anchorsOf(markdown: string): readonly string[] {
  const prose = markdown.replaceAll(/^```.*?^```$/gms, '')
  return Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** A link between documents. */
export interface Link {
  readonly from: string
  readonly target: string
  readonly anchor: string
}

/** Links that stay within the repository, written in brackets or as `[name]: target`. */
export function linksOf({ path, text }: SourceFile): readonly Link[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '')
  const found = prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)
  return Array.from(found, ([, inline, reference]) => inline ?? reference ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link): Link => {
      const [file = '', anchor = ''] = link.split('#')
      return {
        from: path,
        target: file === '' ? path : normalize(join(dirname(path), file)),
        anchor,
      }
    })
}
