import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { filesIn, read, root, topFiles } from '../tidy/source-files.ts'
import { arrowsOf } from './diagrams.ts'
import { anchorsOf, codeBlocks, codeIn, linksOf, pages } from './markdown.ts'

const documents = [
  ...topFiles(/\.md$/),
  ...['docs', 'src', 'bench', 'examples'].flatMap((folder) => filesIn(folder, /\.md$/)),
]

const links = documents.flatMap(linksOf)

test('every link between documents leads to a file or folder', () => {
  assert.ok(links.length > 50)
  const dead = links.filter(({ target }) => !existsSync(join(root, target)))
  assert.deepEqual(dead, [])
})

test('every link to a part of a document leads to a heading', () => {
  const inside = links.filter(({ anchor, target }) => anchor !== '' && target.endsWith('.md'))
  const dead = inside.filter(({ anchor, target }) => !anchorsOf(read(target)).includes(anchor))
  assert.deepEqual(dead, [])
})

test('the index leads to every page', () => {
  const listed = linksOf({ path: 'docs/README.md', text: read('docs/README.md') })
  const missing = filesIn('docs', /\.md$/)
    .map(({ path }) => path)
    .filter((path) => path !== 'docs/README.md')
    .filter((path) => !listed.some(({ target }) => target === path))
  assert.deepEqual(missing, [])
})

test('the examples’ page leads to every example', () => {
  const path = 'examples/README.md'
  const listed = linksOf({ path, text: read(path) }).map(({ target }) => target)
  const missing = readdirSync(join(root, 'examples'))
    .filter((name) => name !== 'README.md' && !name.startsWith('.'))
    .filter((name) => !listed.some((target) => target.split('/')[1] === name))
  assert.deepEqual(missing, [])
})

test('files of the repository that the pages name in code marks exist', () => {
  const named = pages().flatMap(({ path, text }) =>
    codeIn(text.replaceAll(/^```.*?^```$/gms, ''))
      .filter((code) => /^(?:src|test|docs|bench|examples|deploy)\/[\w./-]+$/.test(code))
      .map((code) => ({ path, code })),
  )
  const missing = named.filter(({ code }) => !existsSync(join(root, code)))
  assert.deepEqual(missing, [])
})

test('every line of every diagram is one that Mermaid reads', () => {
  const diagrams = documents.flatMap(codeBlocks).filter(({ language }) => language === 'mermaid')
  assert.ok(diagrams.length > 3)
  for (const diagram of diagrams) assert.ok(arrowsOf(diagram).length > 1, diagram.path)
})
