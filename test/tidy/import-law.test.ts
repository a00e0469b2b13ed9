import assert from 'node:assert/strict'
import test from 'node:test'
import { namesIn, section } from '../docs/markdown.ts'
import { importedPath, importsOf, productFiles, read, type SourceFile } from './source-files.ts'

/** A file imports only from its own folder or from one above it in this list. */
const order = [
  'kernel',
  'payments',
  'subscriptions',
  'invoices',
  'events',
  'wire',
  'gateways',
  'database',
  'leases',
  'numbers',
  'queue',
  'intake',
  'checkout',
  'outcomes',
  'listeners',
  'processing',
  'money',
  'upkeep',
  'worker',
  'usage',
  'outbound',
  'operators',
  'inspect',
  'health',
  'billing',
  'http',
  'console',
  'rehearsal',
  'cli',
  'index.ts',
  'testing',
] as const

/** index.ts is made of one more file at the top. */
function placeOf(first: string): string {
  return first === 'create-billing.ts' ? 'index.ts' : first
}

const pure = new Set(['payments', 'subscriptions', 'invoices', 'events'])

function rank(path: string): number {
  const [, first = ''] = path.split('/')
  return (order as readonly string[]).indexOf(placeOf(first))
}

const files = productFiles()

test('the import order has every folder of src, and no other', () => {
  const first = files.map(({ path }) => placeOf(path.split('/')[1] ?? ''))
  assert.deepEqual([...new Set(first)].toSorted(), order.toSorted())
})

test('CONTRIBUTING.md shows the import order', () => {
  const shown = namesIn(section(read('CONTRIBUTING.md'), 'Layout and import law'))
  assert.deepEqual(
    shown.map((name) => name.replace('/', '')),
    [...order],
  )
})

test('no file imports from a folder below its own', () => {
  const offences = files.flatMap((file) =>
    importsOf(file).flatMap((specifier) => {
      const target = importedPath(file, specifier)
      if (target === undefined || !target.startsWith('src/')) return []
      return rank(target) > rank(file.path) ? [`${file.path} imports ${target}`] : []
    }),
  )
  assert.deepEqual(offences, [])
})

test('no files import each other in a circle, nor by a later `await import`', () => {
  const left = new Map(
    files.map((file) => [file.path, importsOf(file).map((one) => importedPath(file, one) ?? '')]),
  )
  // What is in no circle imports nothing that is left, or nothing that is left imports it.
  for (let before = Infinity; left.size < before;) {
    before = left.size
    const imported = new Set([...left.values()].flat())
    for (const [path, targets] of left) {
      if (!imported.has(path) || !targets.some((target) => left.has(target))) left.delete(path)
    }
  }
  assert.deepEqual([...left.keys()], [])
})

test('no file of the product imports what is for tests', () => {
  const offences = files.flatMap((file) =>
    importsOf(file)
      .map((specifier) => importedPath(file, specifier))
      .filter((target) => target !== undefined && !target.startsWith('src/'))
      .map((target) => `${file.path} imports ${target}`),
  )
  assert.deepEqual(offences, [])
})

test('a gateway imports nothing from another gateway', () => {
  const folderOf = (path: string) => /^src\/gateways\/([^/]+)\//.exec(path)?.[1]
  const shared = new Set(['api', 'body', 'signing', undefined])
  const offences = files.flatMap((file) => {
    const own = folderOf(file.path)
    if (own === undefined || shared.has(own)) return []
    return importsOf(file)
      .map((specifier) => importedPath(file, specifier))
      .filter((target) => target !== undefined)
      .filter((target) => !shared.has(folderOf(target)) && folderOf(target) !== own)
      .map((target) => `${file.path} imports ${target}`)
  })
  assert.deepEqual(offences, [])
})

test('the pure folders import no package and nothing of Node', () => {
  const isPure = ({ path }: SourceFile) => pure.has(path.split('/')[1] ?? '')
  const offences = files.filter(isPure).flatMap((file) =>
    importsOf(file)
      .filter((specifier) => importedPath(file, specifier) === undefined)
      .map((specifier) => `${file.path} imports ${specifier}`),
  )
  assert.deepEqual(offences, [])
})

test('the import reader sees every form of import', () => {
  const text = [
    "import a from './a.ts'",
    "import type { B } from './b.ts'",
    "import {\n  c,\n  type D,\n} from './c.ts'",
    "export { e } from './e.ts'",
    "import './f.ts'",
    "const { g } = await import('./g.ts')",
    "// import h from './h.ts'",
  ].join('\n')
  const found = importsOf({ path: 'src/x.ts', text })
  assert.deepEqual([...found].sort(), ['./a.ts', './b.ts', './c.ts', './e.ts', './f.ts', './g.ts'])
})
