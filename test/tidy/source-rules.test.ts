import assert from 'node:assert/strict'
import test from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { errorCatalogue } from '../../src/kernel/errors.ts'
import { filesIn, productFiles, topFiles, withoutComments } from './source-files.ts'

const files = productFiles()

/** Lines of product code, comments left out, that match; except in the files allowed to. */
function offences(pattern: RegExp, allowed: readonly RegExp[] = []): readonly string[] {
  return files
    .filter(({ path }) => !allowed.some((exception) => exception.test(path)))
    .flatMap(({ path, text }) =>
      withoutComments(text)
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    )
}

test('the environment is read in one file only', () => {
  assert.deepEqual(offences(/\bprocess\.env\b/, [/^src\/cli\/env\.ts$/]), [])
})

test('the time is read in one file only', () => {
  const pattern = /\bDate\.now\(|\bnew Date\(\)|(?<!new )\bDate\(\)/
  assert.deepEqual(offences(pattern, [/^src\/kernel\/clock\.ts$/]), [])
})

test('every transaction names its isolation level', () => {
  const bare = /\.transaction\(\)(?!\.setIsolationLevel)|\bquery\((['"`])begin\1/
  assert.deepEqual(offences(bare), [])
})

test('no random number is drawn outside the kernel', () => {
  assert.deepEqual(offences(/\bMath\.random\(/, [/^src\/kernel\/ids\.ts$/]), [])
})

/** As a word of its own or of a longer name: `acme`, `acmeApi`, `isAcme`, `ACME_KEY`. */
function spellings(name: string): string {
  const capitalised = name.charAt(0).toUpperCase() + name.slice(1)
  return [
    `(?<![A-Za-z])${name}(?![a-z])`,
    `(?<![A-Z])${capitalised}(?![a-z])`,
    `(?<![A-Z])${name.toUpperCase()}(?![A-Z])`,
  ].join('|')
}

test('no gateway is named outside its own folder', () => {
  const names = builtin.flatMap(({ name, aliases }) => [name, ...aliases])
  const pattern = new RegExp(names.map(spellings).join('|'))
  const allowed = [
    /^src\/gateways\/builtin(?:-summaries)?\.ts$/,
    // The development page stands in for a provider's checkout and exists for that gateway alone.
    /^src\/http\/pages\/fake-checkout[a-z-]*\.ts$/,
    /^src\/http\/app\.ts$/,
    // Its provider is that gateway alone.
    /^src\/rehearsal\//,
  ]
  const outside = files.filter(({ path }) => !/^src\/gateways\/[^/]+\//.test(path))
  const paths = new Set(outside.map(({ path }) => path))
  const found = offences(pattern, allowed).filter((line) => paths.has(line.split(':')[0] ?? ''))
  assert.deepEqual(found, [])
})

test('every error code is thrown somewhere', () => {
  const code = files.map(({ text }) => withoutComments(text)).join('\n')
  const throwing = /(?:new QuittanceError\(|\bcode:|fieldError\(|readInput\(\w+, \w+,)\s*'(\w+)'/g
  const thrown = new Set(Array.from(code.matchAll(throwing), ([, name]) => name))
  assert.deepEqual(
    Object.keys(errorCatalogue).filter((name) => !thrown.has(name)),
    [],
  )
})

test('every file of src but the schema keeps to 400 lines', () => {
  const long = filesIn('src', /\.ts$/)
    .filter(({ path }) => !path.startsWith('src/database/migrations/'))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > 400)
  assert.deepEqual(long, [])
})

test('no file names a folder of somebody’s machine or a package registry', () => {
  // In pieces, so that this file does not contain what it looks for.
  const folders = [
    ['work', 'main'],
    ['work', 'shared'],
    ['home', '[a-z]'],
    ['Users', '[a-z]'],
  ]
  const hosts = ['npmjs', 'yarnpkg'].map((name) => ['registry', name].join(String.raw`\.`))
  const pattern = new RegExp([...folders.map((parts) => `/${parts.join('/')}`), ...hosts].join('|'))
  const everything = [
    ...['src', 'test', 'docs', 'examples', 'bench', '.ci'].flatMap((folder) =>
      filesIn(folder, /\.[a-z]+$|run$/),
    ),
    ...topFiles(/\.(?:json|md)$|^\.npmrc$/),
  ]
  const found = everything.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
  assert.deepEqual(found, [])
})
