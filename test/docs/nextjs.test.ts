import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesIn, read } from '../tidy/source-files.ts'
import { codeBlocks } from './markdown.ts'

test('docs/11-nextjs.md shows every file of examples/nextjs, word for word', () => {
  const path = 'docs/11-nextjs.md'
  const shown = codeBlocks({ path, text: read(path) })
    .filter(({ language }) => /^tsx?$/.test(language))
    .map(({ code }) => code)
  const files = filesIn('examples/nextjs', /\.tsx?$/)
  assert.deepEqual(shown.toSorted(), files.map(({ text }) => text).toSorted())
  for (const { path: file, text } of files) {
    assert.equal(text.split('\n')[0], `// ${file.replace('examples/nextjs/', '')}`)
  }
})
