import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { openBrowser } from '../console/browser.ts'
import { signIn } from '../console/console-service.ts'
import { codeBlocks, pages } from '../docs/markdown.ts'
import { beginRequest } from '../faults/raw-request.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { apiToken } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import {
  freePort,
  runCommand,
  startService,
  startWorker,
  type RunningService,
} from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { filesIn, read, root } from '../tidy/source-files.ts'

interface ShownPayment {
  readonly status: string
  readonly events: readonly { readonly type: string }[]
}

const readme = codeBlocks({ path: 'README.md', text: read('README.md') })
const besides = ['bench', 'examples'].flatMap((folder) => filesIn(folder, /\.md$/))
/** Every line of every shell block that users meet, and where. */
const lines = [...pages(), ...besides].flatMap((page) =>
  codeBlocks(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.trim().split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '')),
)
const prefix = 'npm run quittance -- '
const commands = lines.filter((line) => line.startsWith(prefix)).map(withoutPrefix)

function withoutPrefix(line: string): string {
  return line.replace(/^npm run (?:-s )?quittance -- /, '')
}

/** The lines that are not run by themselves here: what they come to, and where that is seen. */
const ranElsewhere: Readonly<Record<string, readonly [file: string, proof: string]>> = {
  'npm ci && npm start': ['package.json', '"start": "node src/cli/main.ts serve"'],
  'npm ci && npm test': ['.ci/run', '\nnpm ci\n'],
  'npm run package': ['deploy/Dockerfile', '\nRUN npm run package\n'],
  'docker compose -f deploy/compose.yaml up --build --detach': [
    'test/deploy/deploy.process.test.ts',
    "parse(read('deploy/compose.yaml')",
  ],
  'promtool test rules quittance.rules.test.yml': [
    'test/deploy/metrics-files.process.test.ts',
    "promtool('test', 'rules', join(root, testsPath))",
  ],
  'bun app.ts': ['test/runtimes/runtimes.process.test.ts', 'read(page)'],
  'deno serve --allow-env --allow-net --allow-read --allow-sys --allow-write --port 3000 app.ts': [
    'test/runtimes/runtimes.process.test.ts',
    'read(page)',
  ],
  'npx openapi-typescript http://localhost:3000/billing/api/openapi.json -o quittance.d.ts': [
    'test/clients/typescript.process.test.ts',
    'execute(program,',
  ],
  'cd examples/apps && npx node express.ts': [
    'test/examples/frameworks.process.test.ts',
    "'express.ts'",
  ],
  'npx quittance payments create --gateway fake --amount 1999 --currency USD --payable order:42': [
    'test/examples/frameworks.process.test.ts',
    'typedCommands(',
  ],
  'npx quittance send fake': ['test/examples/frameworks.process.test.ts', 'typedCommands('],
  'npm run bench': ['package.json', '"bench": "node bench/main.ts"'],
  'npm run bench -- --only intake': ['test/bench/measure.ts', "'--only'"],
  'npm run bench -- --json': ['test/bench/measure.ts', "'--json'"],
  'npm run bench -- --quick': ['test/bench/measure.ts', "'--quick'"],
  'openssl rand -base64 32': [
    'src/kernel/encryption.test.ts',
    "randomBytes(32).toString('base64')",
  ],
}
/** One block, which its test runs as it stands. */
const drill = [
  'pg_dump --format=custom --file=quittance.dump "$DATABASE_URL"',
  'pg_restore --no-owner --exit-on-error --dbname="$RESTORED_URL" quittance.dump',
  'export DATABASE_URL="$RESTORED_URL" DATABASE_DIRECT_URL="$RESTORED_URL"',
  'quittance migrate',
  'quittance subscriptions hold "restored from a backup"',
  'quittance payments list',
]
const exportLine = 'export DATABASE_URL=postgres://user:password@localhost:5432/billing'
/** Both run until they are stopped: the test on PostgreSQL starts them. */
const lasting = ['serve --no-worker', 'work']
/** The same test, for a running worker would miss that listener and end. */
const forget = 'listeners forget sendReceipt'

test('the pages show no other shell line than those that tests run', () => {
  const known = new Set([...Object.keys(ranElsewhere), ...drill, exportLine])
  const unknown = lines.filter((line) => !line.startsWith(prefix) && !known.has(line))
  assert.deepEqual(unknown, [])
  assert.deepEqual(
    [...known].filter((line) => !lines.includes(line)),
    [],
  )
  assert.ok(read('test/cli/backup-drill.process.test.ts').includes("includes('pg_restore')"))
  for (const [file, proof] of Object.values(ranElsewhere)) {
    assert.ok(read(file).includes(proof), `${file} lacks ${proof}`)
  }
})

let folder: TemporaryFolder
let service: RunningService
let database: pg.Client

/** What the README sets up, in a folder of its own: its configuration and its table. */
before(async () => {
  folder = temporaryFolder()
  const data = join(folder.path, '.quittance')
  fillDataFolder(data)
  mkdirSync(join(folder.path, 'node_modules'))
  symlinkSync(root, join(folder.path, 'node_modules/quittance'))
  const config = readme.find(({ code }) => code.startsWith('// quittance.config.ts'))
  assert.ok(config !== undefined)
  writeFileSync(join(folder.path, 'quittance.config.ts'), config.code)
  service = await startService({ cwd: folder.path })
  const socket = await findEmbedded(data)
  database = new pg.Client({ ...socket, user: 'quittance', database: 'quittance' })
  // The last test ends the service.
  database.on('error', () => {})
  await database.connect()
  const [table] = /create table orders [^`]+/.exec(read('README.md')) ?? []
  await database.query(table ?? '')
  await database.query("insert into orders values ('42', false)")
})
after(async () => {
  await service.kill()
  folder.remove()
})

const anyId = /[0-9a-f]{8}-[0-9a-f-]{27}/

/** Without what differs from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/^(Quittance [\d.]+)\+[0-9a-f]{12}$/gm, '$1')
    .replaceAll(/key=\S+/g, 'key=KEY')
    .replaceAll(new RegExp(anyId, 'g'), 'ID')
    .replaceAll(/(127\.0\.0\.1|localhost):\d+/g, '$1:PORT')
    .replaceAll(/(token of this run: |Bearer )[^\s']+/g, '$1TOKEN')
    .replaceAll(/\d\d-\d\d \d\d:\d\d/g, 'TIME')
    .trim()
}

function shown(language: string): string {
  return readme.find((block) => block.language === language)?.code ?? ''
}

test('the start prints what the README shows', async () => {
  await service.line(/^In a browser/)
  assert.equal(steady(service.stdout.join('\n')), steady(shown('text')))
})

test('it shows a token for the management API', async () => {
  const [, token = ''] = /token of this run: (\S+)/.exec(service.stdout.join('\n')) ?? []
  const ask = async (authorization: string) =>
    (await fetch(`${service.url}/billing/api/gateways`, { headers: { authorization } })).status
  assert.deepEqual([await ask(`Bearer ${token}`), await ask('Bearer guess')], [200, 401])
  await signIn(
    openBrowser((request) => fetch(request), service.url),
    token,
  )
})

test('it keeps the database in .quittance, which only its owner may enter', () => {
  assert.equal(statSync(join(folder.path, '.quittance')).mode & 0o777, 0o700)
})

test('a second service on that folder does not start, and leaves the first one alone', async () => {
  const env = { PORT: String(await freePort()) }
  const { code, stdout, stderr } = await runCommand(['serve'], { cwd: folder.path, env })
  assert.deepEqual([code, stdout, stderr.length], [1, [], 1], stderr.join('\n'))
  assert.match(stderr[0] ?? '', /^quittance: .*\.quittance.* — .*BILLING_DATA_DIR/)
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
})

const run = promisify(execFile)

/** A line as a reader types it: his own port and payment instead of those that are printed. */
async function typed(line: string): Promise<string> {
  const env = { PORT: new URL(service.url).port }
  if (line.startsWith('npm ')) {
    const { stdout } = await runHosted(withoutPrefix(line).split(' '), { cwd: folder.path, env })
    return stdout.join('\n')
  }
  // The link to the console has an id too.
  const sample = service.stdout.find((said) => said.startsWith('A sample payment')) ?? ''
  const [id = ''] = anyId.exec(sample) ?? []
  return runLine(line.replace('http://127.0.0.1:3000', service.url).replace(anyId, id))
}

/** As the shell runs it. */
async function runLine(line: string, env = process.env): Promise<string> {
  const { stdout } = await run('sh', ['-c', line.replace('curl ', 'curl --silent ')], { env })
  return stdout
}

test('the session of the README prints what it shows', async () => {
  const parts = shown('console').split(/^\$ /m).slice(1)
  assert.equal(parts.length, 2)
  for (const part of parts) {
    const [line = '', ...expected] = part.trim().split('\n')
    let printed = ''
    // Processing follows the answer: a reader takes longer than this to type the next line.
    await until(
      async () => {
        printed = steady(await typed(line))
        return !printed.includes('pending')
      },
      { what: 'the payment is settled' },
    )
    assert.equal(printed, steady(expected.join('\n')))
  }
  const settled = JSON.parse(await runLine(await service.line(/^ {2}curl -H /))) as ShownPayment
  assert.deepEqual([settled.status, settled.events.length], ['paid', 1])
})

const notTyped = new Set([...lasting, forget])
const typedInTurn = [...new Set(commands)].filter((one) => !notTyped.has(one))

test('the pages show commands', () => assert.ok(commands.length > 15))

for (const command of typedInTurn) {
  test(`a command that the pages show works: ${command}`, async () => {
    const env = { PORT: new URL(service.url).port }
    const { code, stderr } = await runHosted(command.split(' '), { cwd: folder.path, env })
    assert.deepEqual([code, stderr], [0, []])
  })
}

test('after the commands of the pages the listener has granted access', async () => {
  const isPaid = async () => {
    const { rows } = await database.query<{ paid: boolean }>('select paid from orders')
    return rows[0]?.paid === true
  }
  await until(isPaid, { what: 'the order is paid' })
})

/** What a listener that was removed for good leaves behind. */
async function rememberListener(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`insert into billing.listeners (name, event_types, queued)
      values ('sendReceipt', '{PaymentSucceeded}', true)`)
  } finally {
    await client.end()
  }
}

onPostgres((engine) => {
  test('the commands for PostgreSQL start an intake and a worker that settle a payment', async () => {
    const there = readme
      .find(({ code }) => code.includes(exportLine))
      ?.code.trim()
      .split('\n')
    assert.deepEqual(there?.slice(1).map(withoutPrefix), ['migrate', ...lasting])
    assert.ok(commands.includes(forget))
    const { url = '', drop } = await engine.createEmpty()
    await using ends = new AsyncDisposableStack()
    const place = ends.use(temporaryFolder())
    ends.defer(drop)
    const env = { DATABASE_URL: url, BILLING_API_TOKEN: apiToken }
    const options = { cwd: place.path, env }
    const succeed = async (command: string) => {
      const { code, stdout, stderr } = await runHosted(command.split(' '), options)
      assert.equal(code, 0, stderr.join('\n'))
      return stdout.join('\n')
    }
    await succeed('migrate')
    await rememberListener(url)
    await succeed(forget)
    const intake = await startService({ ...options, args: ['--no-worker'] })
    ends.defer(async () => void (await intake.kill()))
    // A configured token is not printed: the shell has it in its environment.
    const look = async () =>
      JSON.parse(
        await runLine(await intake.line(/^ {2}curl -H /), { ...process.env, ...env }),
      ) as ShownPayment
    await runLine(await intake.line(/^ {2}curl -X POST /))
    assert.equal(await succeed('payments list --status paid'), 'No payments.')
    assert.equal((await look()).status, 'pending')

    const operations = `http://127.0.0.1:${await freePort()}`
    const { port: BILLING_OPERATIONS_PORT } = new URL(operations)
    const worker = await startWorker({ ...options, env: { ...env, BILLING_OPERATIONS_PORT } })
    ends.defer(async () => void (await worker.kill()))
    await until(async () => (await look()).status === 'paid', { what: 'it is paid' })
    assert.deepEqual(
      (await look()).events.map(({ type }) => type),
      ['PaymentSucceeded'],
    )
    await signIn(
      openBrowser((request) => fetch(request), operations),
      apiToken,
    )
    assert.equal((await worker.stop()).code, 0)

    // A request that never ends keeps the stop in order waiting: a second signal does not.
    const { socket } = await beginRequest(intake.url, 100)
    socket.write('{')
    intake.child.kill('SIGTERM')
    await intake.line(/"stopping"/)
    const { code, signal, stdout, stderr } = await intake.stop()
    socket.destroy()
    assert.deepEqual([code, signal], [1, null])
    const said = [stdout, stderr, worker.stdout, worker.stderr].flat().join('\n')
    assert.ok(!said.includes(apiToken))
  })
})

test('a PANIC of the embedded database ends the service with one line', async () => {
  const data = join(folder.path, '.quittance')
  await database.query('create table doomed (value text storage external)')
  // Without its folder the next segment of the log cannot be made, which PostgreSQL cannot bear.
  renameSync(join(data, 'database/pg_wal'), join(data, 'aside'))
  await assert.rejects(
    // 64 MB that are not compressed: more than is left of any segment, and soon written.
    database.query("insert into doomed select repeat('x', 16000) from generate_series(1, 4000)"),
  )
  await database.end().catch(() => {})
  const { code, stderr } = await service.ended
  assert.equal(code, 1)
  const lines = stderr.filter((text) => text.startsWith('quittance: '))
  assert.equal(lines.length, 1, stderr.join('\n'))
  assert.match(lines[0] ?? '', /the embedded database in .* ended: .* — Start the service again/)
})
