import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { productFiles } from '../tidy/source-files.ts'
import { arrowsOf } from './diagrams.ts'
import { codeBlocks } from './markdown.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/ARCHITECTURE.md'), 'utf8')
const texts = new Map(productFiles().map(({ path, text }) => [path, text]))

test('every file that the walk of a callback names is there', () => {
  const named = [...page.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path = '']) => `src/${path}`)
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter((path) => !texts.has(path)),
    [],
  )
})

test('every function that the walk names is exported by the file beside it', () => {
  const named = [...page.matchAll(/`([\w/-]+\.ts)` `(\w+)`/g)]
  assert.ok(named.length > 10)
  const missing = named.filter(([, path = '', name = '']) => {
    const exported = new RegExp(`^export (?:async )?function ${name}\\b`, 'm')
    return !exported.test(texts.get(`src/${path}`) ?? '')
  })
  assert.deepEqual(
    missing.map(([line]) => line),
    [],
  )
})

test('every room that the picture names is a folder', () => {
  const rooms = new Set([...texts.keys()].map((path) => path.split('/')[1] ?? ''))
  const [picture] = codeBlocks({ path: 'docs/ARCHITECTURE.md', text: page })
  const drawn = picture === undefined ? [] : arrowsOf(picture).flatMap(({ from, to }) => [from, to])
  assert.ok(drawn.length > 10)
  assert.deepEqual(
    drawn.filter((room) => !rooms.has(room)),
    [],
  )
})
