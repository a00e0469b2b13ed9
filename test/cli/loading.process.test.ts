import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const marker = 'loaded '

/** Prints at the end what the process has loaded. */
const script = `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
  process.on('exit', () => process.stderr.write('${marker}' + JSON.stringify(urls) + '\\n'))`
const nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(script)}`]

interface Loaded {
  readonly packages: readonly string[]
  /** Paths below `src`. */
  readonly files: readonly string[]
  /** Modules of Node itself. */
  readonly builtins: readonly string[]
}

async function loadedBy(args: string): Promise<Loaded> {
  using folder = temporaryFolder()
  const options = { cwd: folder.path, nodeFlags }
  const { code, stderr } = await runCommand(args.split(' '), options)
  assert.equal(code, 0, stderr.join('\n'))
  const line = stderr.find((one) => one.startsWith(marker)) ?? ''
  const urls = JSON.parse(line.slice(marker.length)) as readonly string[]
  const found = (pattern: RegExp) => [
    ...new Set(urls.flatMap((url) => pattern.exec(url)?.[1] ?? [])),
  ]
  return {
    packages: found(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/),
    files: found(/\/src\/(.*)$/),
    builtins: found(/^node:(.*)$/),
  }
}

const light = new Set([
  'cli',
  'cli/commands',
  'database',
  'events',
  'gateways',
  'invoices',
  'kernel',
  'payments',
  'subscriptions',
  'wire',
])
const ofServers = new Set(['cluster', 'http', 'https', 'net', 'sqlite', 'tls'])
const ofDatabaseOrServer = new Set([
  '@electric-sql/pglite',
  '@hono/node-server',
  'hono',
  'kysely',
  'ky',
  'pg',
])

// Every file costs a part of a millisecond, and people wait for these.
for (const args of ['--help', '--version', 'payments --help', 'serve --help']) {
  test(`quittance ${args} loads no package but commander, no gateway and no server`, async () => {
    const { packages, files, builtins } = await loadedBy(args)
    assert.deepEqual(packages, ['commander'])
    assert.ok(files.includes('cli/run.ts'))
    const folders = files.map((path) => path.split('/').slice(0, -1).join('/'))
    assert.deepEqual(
      folders.filter((folder) => !light.has(folder)),
      [],
    )
    assert.deepEqual(
      builtins.filter((name) => ofServers.has(name)),
      [],
    )
  })
}

for (const args of ['gateways', 'send fake --list']) {
  test(`quittance ${args} loads no log, no other command, and nothing of a database or server`, async () => {
    const { packages, files } = await loadedBy(args)
    assert.deepEqual(
      packages.filter((name) => ofDatabaseOrServer.has(name) || name === 'pino'),
      [],
    )
    const [command = ''] = args.split(' ')
    assert.deepEqual(
      files.filter((path) => path.startsWith('cli/commands/')),
      [`cli/commands/${command}.ts`],
    )
    assert.ok(files.includes('gateways/fake/index.ts'))
  })
}

test('an older Node is told so in one line', async () => {
  // The check runs before anything else is loaded; this Node only claims to be older.
  const claim =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.0' } })"
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(claim)}`]
  const { code, stdout, stderr } = await runCommand(['serve'], { nodeFlags: flags })
  assert.deepEqual([code, stdout, stderr.length], [1, [], 1])
  assert.match(stderr[0] ?? '', /Node 20\.20\.0 is too old — .*22\.18/)
})
