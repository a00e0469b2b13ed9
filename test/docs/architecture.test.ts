import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { productFiles } from '../tidy/source-files.ts'

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
