import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { variableNames } from '../../src/cli/read-variables.ts'
import { commitIn } from '../../src/cli/version.ts'
import { settlesOnce } from '../examples/example.ts'
import { onPostgres } from '../support/databases.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { muchPatience } from '../support/patience.ts'
import { freePort, startProcess, type RunningProcess } from '../support/process.ts'
import { signingSecret } from '../support/stripe-callbacks.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { read, root } from '../tidy/source-files.ts'
import { runDockerfile, type Stage } from './dockerfile.ts'

type Variables = Readonly<Record<string, string>>

interface Service {
  readonly command?: readonly string[]
  readonly environment: Variables
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly stop_grace_period: string
  readonly init?: boolean
}

const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<'postgres' | 'migrate' | 'serve' | 'work', Service>>
}
/** Of the unit, the last value of each key. */
const unit = Object.fromEntries(
  Array.from(read('deploy/quittance.service').matchAll(/^(\w+)=(.*)$/gm), ([, key, value]) => [
    key ?? '',
    value ?? '',
  ]),
)
const config = `import { defineConfig } from 'quittance'
export default defineConfig({
  listeners: {
    grantAccess: {
      on: 'PaymentSucceeded',
      run: ({ payment }) => console.log(\`paid: order \${payment.payable.id}\`),
    },
  },
})`

let folder: TemporaryFolder
let image: Stage
/** What `npm run package` made in the image's first stage, as the second one got it. */
let made: string

before(() => {
  folder = temporaryFolder()
  image = runDockerfile('deploy/Dockerfile', folder.path)
  made = join(image.files, image.workdir)
  writeFileSync(join(made, 'quittance.config.ts'), config)
})
after(() => folder.remove())

/** A process that gets these variables and no other. */
function start(words: readonly string[], cwd: string, env: Variables): RunningProcess {
  const variables = Object.entries(env).map((entry) => entry.join('='))
  const own = words.map((word) => (/^(?:\/usr\/bin\/)?node$/.test(word) ? process.execPath : word))
  return startProcess(['-i', ...variables, ...own], { cwd, runtime: '/usr/bin/env' })
}

async function succeeds(running: RunningProcess): Promise<void> {
  const { code, stderr } = await running.ended
  assert.equal(code, 0, stderr.join('\n'))
}

async function endsInOrder(running: RunningProcess): Promise<void> {
  assert.equal((await running.stop()).code, 0, running.stderr.join('\n'))
}

/** A signed callback is settled once, and the listener of the configuration beside it runs. */
async function settles(core: BillingCore, port: string, worker: RunningProcess): Promise<void> {
  await settlesOnce(core, `http://127.0.0.1:${port}`, fetch)
  await worker.line(/^paid: order 42$/)
  await core.close()
}

test('the package holds what runs and nothing that builds or tests', () => {
  assert.deepEqual(readdirSync(made).toSorted(), [
    'LICENSE',
    'dist',
    'node_modules',
    'package.json',
    'quittance.config.ts',
  ])
  const { gitHead } = JSON.parse(readFileSync(join(made, 'package.json'), 'utf8')) as {
    readonly gitHead?: string
  }
  assert.equal(gitHead, commitIn(root))
  for (const name of ['typescript', 'stripe', 'oxlint', 'next']) {
    assert.ok(!existsSync(join(made, 'node_modules', name)), name)
  }
  const everything = readdirSync(made, { recursive: true, encoding: 'utf8' })
  const sizes = everything.map((name) => statSync(join(made, name)).size)
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6
  assert.ok(megabytes < 70, `${megabytes} MB`)
})

test('the package runs in another place, with nothing set', async () => {
  using elsewhere = temporaryFolder()
  const place = join(elsewhere.path, 'quittance')
  cpSync(made, place, { recursive: true, verbatimSymlinks: true })
  const dataDir = join(place, '.quittance')
  fillDataFolder(dataDir)
  const port = String(await freePort())
  const env = { PORT: port, STRIPE_SIGNING_SECRET: signingSecret }
  const running = start(['node', 'dist/cli/main.js', 'serve'], place, env)
  await running.line(/^In a browser/)
  await settles(
    createCore({ database: { dataDir, attach: true } }, { patience: muchPatience }),
    port,
    running,
  )
  await endsInOrder(running)
})

test('a folder with something else in it is not replaced, such as a package with data of its user', async () => {
  using other = temporaryFolder()
  for (const name of ['dist', 'package.json', '.env']) writeFileSync(join(other.path, name), '')
  const file = join(import.meta.dirname, '../../deploy/make-package.ts')
  const { code, stderr } = await startProcess([other.path], { file }).ended
  assert.equal(code, 1)
  assert.match(stderr.join('\n'), /holds something else \(\.env\)/)
  assert.deepEqual(readdirSync(other.path).toSorted(), ['.env', 'dist', 'package.json'])
})

test('the package of another name is not replaced, whatever it holds', async () => {
  using other = temporaryFolder()
  const text = '{ "name": "shop" }'
  for (const name of ['dist', 'LICENSE', 'package.json']) {
    writeFileSync(join(other.path, name), text)
  }
  const file = join(import.meta.dirname, '../../deploy/make-package.ts')
  const { code, stderr } = await startProcess([other.path], { file }).ended
  assert.equal(code, 1)
  assert.match(stderr.join('\n'), /holds another package/)
  assert.equal(readFileSync(join(other.path, 'package.json'), 'utf8'), text)
})

test('the image is of the Node that the tests run on, and the service is nobody special in it', () => {
  const [major] = process.versions.node.split('.')
  assert.equal(image.base, `node:${major}-slim`)
  assert.equal(image.user, 'node')
})

test('Docker and systemd wait longer than the service takes to stop', () => {
  const [, seconds] = /stopTimeoutMs = (\d+)_000/.exec(read('src/cli/service-process.ts')) ?? []
  const least = Number(seconds) + 5
  for (const name of ['migrate', 'serve', 'work'] as const) {
    assert.equal(services[name].stop_grace_period, `${least}s`)
    assert.equal(services[name].init, true)
  }
  assert.equal(unit['TimeoutStopSec'], String(least))
})

test('compose.yaml sets variables that are read, and knows no secret', () => {
  for (const name of ['migrate', 'serve', 'work'] as const) {
    const unread = Object.keys(services[name].environment).filter(
      (variable) => !(variableNames as readonly string[]).includes(variable),
    )
    assert.deepEqual(unread, [])
    assert.match(services[name].environment['DATABASE_URL'] ?? '', /:\$\{POSTGRES_PASSWORD:\?/)
  }
  const { POSTGRES_PASSWORD } = services.postgres.environment
  assert.match(POSTGRES_PASSWORD ?? '', /^\$\{POSTGRES_PASSWORD:\?/)
})

onPostgres((engine) => {
  test('the processes of compose.yaml settle a callback in production', async () => {
    await using ends = new AsyncDisposableStack()
    const database = await engine.createEmpty()
    ends.defer(() => database.drop())
    const url = database.url ?? ''
    const port = String(await freePort())
    const inContainer = (name: 'migrate' | 'serve' | 'work', words?: readonly string[]) => {
      const { environment, command = [] } = services[name]
      // As if copied from .env.example: a blank value is none.
      const file = { NODE_ENV: '', HOST: '', STRIPE_SIGNING_SECRET: signingSecret }
      const own = { ...image.env, ...file, ...environment, DATABASE_URL: url, PORT: port }
      const running = start(words ?? [...image.entrypoint, ...command], made, {
        ...own,
        APP_URL: 'https://pay.example.com',
      })
      ends.defer(async () => void (await running.kill()))
      return running
    }
    await succeeds(inContainer('migrate'))
    const work = inContainer('work')
    const serve = inContainer('serve')
    await Promise.all([work.line(/waiting for calls/), serve.line(/listening/)])
    await settles(createCore({ database: { url } }, { patience: muchPatience }), port, work)
    const [kind, ...check] = services.serve.healthcheck?.test ?? []
    assert.equal(kind, 'CMD')
    const words = check.map((word) => word.replace(':3000', `:${port}`))
    await succeeds(inContainer('serve', words))
    await endsInOrder(work)
    await endsInOrder(serve)
    assert.equal((await inContainer('serve', words).ended).code, 1)
  })

  test('the commands of quittance.service settle a callback, in production whatever the file says', async () => {
    await using ends = new AsyncDisposableStack()
    const database = await engine.createEmpty()
    ends.defer(() => database.drop())
    const url = database.url ?? ''
    const port = String(await freePort())
    const env = {
      NODE_ENV: '',
      APP_URL: 'https://pay.example.com',
      DATABASE_URL: url,
      PORT: port,
      STRIPE_SIGNING_SECRET: signingSecret,
    }
    await succeeds(start(unit['ExecStartPre']?.split(' ') ?? [], made, env))
    const running = start(unit['ExecStart']?.split(' ') ?? [], made, env)
    ends.defer(async () => void (await running.kill()))
    await running.line(/listening/)
    await settles(createCore({ database: { url } }, { patience: muchPatience }), port, running)
    const callback = { method: 'POST', body: '{}' }
    const fake = await fetch(`http://127.0.0.1:${port}/billing/webhooks/fake`, callback)
    // Outside production it would be read: 422.
    assert.equal(fake.status, 403)
    await endsInOrder(running)
  })
})

const analyze = '/usr/bin/systemd-analyze'
const missing = existsSync(analyze)
  ? false
  : `NO SYSTEMD: ${analyze} is missing; install Debian's package systemd`
if (missing !== false) process.stderr.write(`\n${missing}\n\n`)

test(
  'systemd understands the unit, and finds little that it is exposed to',
  { skip: missing },
  () => {
    const file = join(folder.path, 'quittance.service')
    const text = read('deploy/quittance.service').replaceAll('/usr/bin/node', process.execPath)
    writeFileSync(file, text)
    const run = (...args: readonly string[]) =>
      execFileSync(analyze, [...args, file], { encoding: 'utf8', stdio: 'pipe' })
    assert.equal(run('verify', '--man=no'), '')
    // Of 10; it throws where the exposure is more than two.
    run('security', '--offline=yes', '--threshold=20')
  },
)

test(
  'systemd understands the two units of the drop-ins, which run what compose.yaml runs',
  { skip: missing },
  () => {
    const units = join(folder.path, 'units')
    const nodeHere = (path: string) => read(path).replaceAll('/usr/bin/node', process.execPath)
    for (const [name, role] of [
      ['quittance', 'serve'],
      ['quittance-work', 'work'],
    ] as const) {
      const file = join(units, `${name}.service`)
      mkdirSync(`${file}.d`, { recursive: true })
      writeFileSync(file, nodeHere('deploy/quittance.service'))
      const own = nodeHere(`deploy/quittance-${role}.conf`)
      writeFileSync(join(`${file}.d`, 'command.conf'), own)
      assert.ok(own.startsWith(`# /etc/systemd/system/${name}.service.d/command.conf: `))
      const [, words = ''] = /^ExecStart=.* dist\/cli\/main\.js (.*)$/m.exec(own) ?? []
      assert.deepEqual(words.split(' '), services[role].command)
      // A port that both have in their file would keep one of them from starting.
      const ports =
        /^ExecStart=\/usr\/bin\/env .* BILLING_OPERATIONS_PORT=\$\{WORK_OPERATIONS_PORT\} /m
      assert.equal(ports.test(own), role === 'work')
      const env = { SYSTEMD_UNIT_PATH: `${units}:` }
      const said = execFileSync(analyze, ['verify', '--man=no', file], { encoding: 'utf8', env })
      assert.equal(said, '')
    }
  },
)
