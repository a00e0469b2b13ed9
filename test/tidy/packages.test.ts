import assert from 'node:assert/strict'
import test from 'node:test'
import { importedPath, importsOf, productFiles, read } from './source-files.ts'

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const { dependencies, devDependencies } = JSON.parse(read('package.json')) as PackageFile

/** Packages that product code imports: `kysely` for `kysely/migration`. */
const imported = new Set(
  productFiles().flatMap((file) =>
    importsOf(file)
      .filter((specifier) => importedPath(file, specifier) === undefined)
      .filter((specifier) => !specifier.startsWith('node:'))
      .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier),
  ),
)

test('every run-time dependency is imported by the product, or types one that is', () => {
  const unused = Object.keys(dependencies).filter(
    (name) => !imported.has(name.replace(/^@types\//, '')),
  )
  assert.deepEqual(unused, [])
})

test('the product imports nothing but its run-time dependencies', () => {
  const missing = [...imported].filter((name) => !(name in dependencies))
  assert.deepEqual(missing, [])
})

test('docs/dependencies.md gives a reason for every run-time dependency, and for no other', () => {
  const rows = read('docs/dependencies.md').matchAll(/^\| `([^`]+)` *\| \S.*\|$/gm)
  const explained = Array.from(rows, ([, name = '']) => name)
  assert.deepEqual(explained, Object.keys(dependencies))
})

test('versions are exact', () => {
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+/.test(version),
  )
  assert.deepEqual(loose, [])
})

test('the lockfile names no place that packages come from', () => {
  assert.equal(read('package-lock.json').includes('"resolved"'), false)
})
