import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { promisify } from 'node:util'
import { codeIn, section, tableRows } from '../docs/markdown.ts'
import { importedPath, read, root, withoutComments } from '../tidy/source-files.ts'

const run = promisify(execFile)

const { exports: entries } = JSON.parse(read('package.json')) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

/** The declarations behind every entry that is one file, e.g. `dist/index.d.ts`. */
const entryFiles = Object.values(entries).flatMap((entry) =>
  typeof entry === 'string' || entry.types.includes('*') ? [] : [entry.types.slice(2)],
)

interface Declarations {
  /** Text of what the file declares and exports, by name. */
  readonly declared: ReadonlyMap<string, string>
  /** Where a name that the file imports or passes on is declared. */
  readonly elsewhere: ReadonlyMap<string, string>
  readonly passedOn: readonly string[]
}

const known = new Map<string, Declarations>()

function declarationsOf(path: string): Declarations {
  const found = known.get(path) ?? readDeclarations(path)
  known.set(path, found)
  return found
}

function readDeclarations(path: string): Declarations {
  const text = withoutComments(read(path))
  const declared = new Map<string, string>()
  const elsewhere = new Map<string, string>()
  const passedOn: string[] = []
  for (const statement of text.split(/^(?=(?:export|import|declare|interface|type)\b)/m)) {
    const [, name] = /^export (?:declare )?\w+ (\w+)/.exec(statement) ?? []
    const [, kind, names, from = ''] =
      /^(import|export) (?:type )?\{([^}]*)\} from '(.*)'/s.exec(statement) ?? []
    if (names !== undefined) {
      const list = names.split(',').map((one) => one.replace(/^\s*type /, '').trim())
      const source = importedPath({ path, text }, from)?.replace(/\.[jt]s$/, '.d.ts')
      if (source !== undefined) for (const one of list) elsewhere.set(one, source)
      if (kind === 'export') passedOn.push(...list.filter((one) => one !== ''))
    } else if (name !== undefined) declared.set(name, statement)
  }
  return { declared, elsewhere, passedOn }
}

/** Follows a name that is only passed on to the file that declares it. */
function homeOf(name: string, path: string): string {
  const { declared, elsewhere } = declarationsOf(path)
  const next = elsewhere.get(name)
  return declared.has(name) || next === undefined ? path : homeOf(name, next)
}

/** Every public name, with the file that declares it. */
const publicNames = new Map(
  entryFiles.flatMap((path) => {
    const { declared, passedOn } = declarationsOf(path)
    return [...declared.keys(), ...passedOn].map((name) => [name, homeOf(name, path)] as const)
  }),
)

/** Of these an editor shows what they come to. */
const resolved: ReadonlySet<string> = new Set([
  'Option',
  'Values',
  'JsonValues',
  'FilterValues',
  'TypesFiredBy',
])

test('every type that a public declaration names is public itself', () => {
  assert.ok(publicNames.size > 50)
  const hidden = [...publicNames].flatMap(([name, path]) => {
    const { declared, elsewhere } = declarationsOf(path)
    const words = new Set(declared.get(name)?.match(/\b[A-Z]\w+\b/g))
    return [...words]
      .filter((word) => declared.has(word) || elsewhere.has(word))
      .filter((word) => !publicNames.has(word) && !resolved.has(word))
      .map((word) => `${name} names ${word}`)
  })
  assert.deepEqual(hidden, [])
})

test('every public declaration says what it is', () => {
  const silent = [...publicNames].filter(
    ([name, path]) => !new RegExp(`\\*/\nexport (?:declare )?\\w+ ${name}\\b`).test(read(path)),
  )
  assert.deepEqual(silent, [])
})

test('docs/10-library.md names the JSON type of every public type that has one', () => {
  const forms = new Set(
    [...publicNames].flatMap(([name, path]) =>
      Array.from(
        (declarationsOf(path).declared.get(name) ?? '').matchAll(/\btoJSON\(\): (\w+)/g),
        ([, form = '']) => `${name}: ${form}`,
      ),
    ),
  )
  const rows = tableRows(section(read('docs/10-library.md'), 'In JSON')).map((cells) =>
    cells.map(codeIn),
  )
  const named = rows.flatMap(([types = [], written = []]) =>
    types.map((type, at) => `${type}: ${written[at]}`),
  )
  assert.deepEqual(named.toSorted(), [...forms].toSorted())
})

/** Prints the packages that were resolved while the code ran, imports and `require` alike. */
const watchPackages = `
  import { registerHooks } from 'node:module'
  const seen = new Set()
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      seen.add(/.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(found.url)?.[1])
      return found
    },
  })
  process.on('exit', () => console.log(JSON.stringify([...seen])))
`

async function packagesLoadedBy(code: string): Promise<readonly string[]> {
  const hook = `data:text/javascript,${encodeURIComponent(watchPackages)}`
  const args = ['--import', hook, '--input-type=module', '--eval', code]
  const { stdout } = await run(process.execPath, args, { cwd: root })
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
  const loaded = JSON.parse(stdout) as readonly string[]
  return loaded.filter((name) => name in dependencies).sort()
}

test('a billing that is made loads nothing that it does not use yet', async () => {
  const loaded = await packagesLoadedBy(
    "import { createBilling } from 'quittance'; createBilling({ database: { memory: true } })",
  )
  const expected = 'currency-codes hono ipaddr.js kysely p-limit pg pino uuid zod'
  assert.deepEqual(loaded, expected.split(' '))
})

test('the contract of gateways loads only what is small and always needed', async () => {
  const loaded = await packagesLoadedBy("import 'quittance/gateways'")
  assert.deepEqual(loaded, ['currency-codes', 'p-limit'])
})

test('the parts that gateways share are reached through one entry alone', async () => {
  for (const path of ['body', 'signing', 'body/parse-json', 'fake/sign']) {
    await assert.rejects(import(`quittance/gateways/${path}`), { code: /NOT_FOUND|NOT_EXPORTED/ })
  }
})

test('an app in CommonJS requires each of them', async () => {
  const names = Object.keys(entries).filter((name) => !/[*]|package\.json/.test(name))
  const loads = names.map((name) => `require(${JSON.stringify(`quittance${name.slice(1)}`)})`)
  await run(process.execPath, ['--input-type=commonjs', '--eval', loads.join('\n')], { cwd: root })
  assert.ok(names.includes('./node'))
})
