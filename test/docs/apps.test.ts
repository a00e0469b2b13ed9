import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesIn, read } from '../tidy/source-files.ts'
import { codeBlocks, typedCommands } from './markdown.ts'

/** What a page of an app shows, in its order. */
function shownBy(path: string): readonly string[] {
  return codeBlocks({ path, text: read(path) })
    .filter(({ language }) => /^tsx?$/.test(language))
    .map(({ code }) => code)
}

/** The files of an example; the first line of each names it. */
function filesOf(example: string): ReadonlyMap<string, string> {
  return new Map(
    filesIn(example, /\.tsx?$/).map(({ path, text }) => {
      const name = path.replace(`${example}/`, '')
      assert.equal(text.split('\n')[0], `// ${name}`)
      return [name, text]
    }),
  )
}

test('docs/11-nextjs.md shows every file of examples/nextjs, word for word', () => {
  const files = filesOf('examples/nextjs')
  assert.deepEqual(shownBy('docs/11-nextjs.md').toSorted(), [...files.values()].toSorted())
})

const pages = ['express', 'fastify', 'hono', 'node-http', 'bun-deno']
const common = ['listeners.ts', 'quittance.config.ts', 'billing.ts']

test('every other page of an app shows the same files and its server, word for word', () => {
  const files = filesOf('examples/apps')
  assert.equal(files.size, common.length + pages.length - 1)
  for (const page of pages) {
    const own = files.get(`${page}.ts`)
    const shown = shownBy(`docs/start/${page}.md`)
    assert.deepEqual(
      shown.slice(0, common.length),
      common.map((name) => files.get(name)),
    )
    if (own !== undefined) assert.deepEqual(shown.slice(common.length), [own])
  }
})

test('it ends in the same first payment', () => {
  const paths = filesIn('docs/start', /\.md$/).map(({ path }) => path)
  const apps = paths.filter((path) => !/(?:service|php-python)\.md$/.test(path))
  assert.equal(apps.length, pages.length)
  for (const path of apps) {
    assert.deepEqual(typedCommands(path), typedCommands('docs/start/express.md'), path)
  }
  assert.equal(typedCommands('docs/start/express.md').length, 4)
})

test('a blank variable counts as not set in the examples, too', () => {
  const passed = filesIn('examples', /\.tsx?$/).filter(({ text }) =>
    /\b(?:PORT|BILLING_DATA_DIR)(?: \?\?| = ')/.test(text),
  )
  assert.deepEqual(
    passed.map(({ path }) => path),
    [],
  )
})
