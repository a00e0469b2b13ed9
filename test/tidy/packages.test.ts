import assert from 'node:assert/strict'
import test from 'node:test'
import { section } from '../docs/markdown.ts'
import {
  importedPath,
  importsOf,
  productFiles,
  read,
  withoutComments,
  type SourceFile,
} from './source-files.ts'

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

const { dependencies, devDependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
  read('package.json'),
) as PackageFile

/** Of which a file is passed on, to browsers. */
function resolvedIn({ text }: SourceFile): readonly string[] {
  return Array.from(text.matchAll(/import\.meta\.resolve\('([^']+)'\)/g), ([, name = '']) => name)
}

/** Packages that product code imports: `kysely` for `kysely/migration`. */
const imported = new Set(
  productFiles().flatMap((file) =>
    [...importsOf(file), ...resolvedIn(file)]
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

test('the product imports nothing but its run-time dependencies and optional peers', () => {
  const missing = [...imported].filter(
    (name) => !(name in dependencies) && !(name in peerDependencies),
  )
  assert.deepEqual(missing, [])
})

/** What a file cannot be loaded without. */
function neededBy(file: SourceFile): readonly string[] {
  const code = withoutComments(file.text)
  const text = code.replaceAll(/^import type [^;]*? from .*$|\bimport\('[^']+'\)/gm, '')
  return importsOf({ ...file, text })
}

test('an optional peer is imported for its types alone, or loaded where it is used', () => {
  const needed = new Set(productFiles().flatMap(neededBy))
  assert.deepEqual(
    Object.keys(peerDependencies).filter((name) => needed.has(name)),
    [],
  )
})

function explained(heading: string): readonly string[] {
  const rows = section(read('docs/dependencies.md'), heading).matchAll(
    /^\| `([^`]+)` *\| \S.*\|$/gm,
  )
  return Array.from(rows, ([, name = '']) => name)
}

test('docs/dependencies.md gives a reason for every run-time dependency, and for no other', () => {
  assert.deepEqual(explained('1. At run time'), Object.keys(dependencies))
})

test('docs/dependencies.md says who needs each peer; none must be installed', () => {
  assert.deepEqual(explained('2. Optional peers'), Object.keys(peerDependencies))
  const optional = Object.entries(peerDependenciesMeta).filter(([, { optional }]) => optional)
  assert.deepEqual(
    optional.map(([name]) => name),
    Object.keys(peerDependencies),
  )
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
