import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { codeBlocks } from '../docs/markdown.ts'
import { settlesOnce } from '../examples/example.ts'
import { idle, newPayment } from '../support/billing.ts'
import { embedded, onPostgres, postgres, type TestEngine } from '../support/databases.ts'
import { whileBusy } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { installedProject } from '../support/installed-project.ts'
import { muchPatience } from '../support/patience.ts'
import { freePort, startProcess, type RunningProcess } from '../support/process.ts'
import { sessionEvent, signedHeaders, signingSecret } from '../support/stripe-callbacks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { read, root } from '../tidy/source-files.ts'

const page = 'docs/start/bun-deno.md'
const blocks = codeBlocks({ path: page, text: read(page) })
/** Its files, each named by its first line. */
const files = blocks
  .filter(({ language }) => language === 'ts')
  .map(({ code }) => [/^\/\/ (\S+)/.exec(code)?.[1] ?? '', code] as const)
type Change = (code: string) => string
/** How the page starts it. */
const commands = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code.trim())

const runtimes = await installedProject('test/runtimes')

/** Where their npm packages leave the programs; the commands beside them need install scripts. */
function programOf(name: string): string {
  assert.ok('folder' in runtimes)
  const { platform, arch } = process
  const modules = join(runtimes.folder, 'node_modules')
  return name === 'bun'
    ? join(modules, `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}/bin/bun`)
    : join(modules, `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}/deno`)
}

interface Project extends AsyncDisposable {
  readonly url: string
  readonly dataDir: string
  start(): Promise<RunningProcess>
  /** Another process on the same database. */
  connect(): BillingCore
}

/** A program in a project of its own, on a database of its own. */
async function openProject(
  command: string,
  engine: TestEngine,
  change: Change = (code) => code,
): Promise<Project> {
  const ends = new AsyncDisposableStack()
  // Deno has rules of its own for what lies below /dev, where the folder would be otherwise.
  const cwd = ends.use(temporaryFolder(tmpdir())).path
  mkdirSync(join(cwd, 'node_modules'))
  symlinkSync(root, join(cwd, 'node_modules/quittance'))
  writeFileSync(join(cwd, 'package.json'), '{"private": true, "type": "module"}')
  for (const [name, code] of files) writeFileSync(join(cwd, name), change(code))
  const created = engine === postgres ? await engine.create() : undefined
  ends.defer(async () => created?.drop())
  const dataDir = join(cwd, '.quittance')
  if (created === undefined) fillDataFolder(dataDir)
  const database = created?.url === undefined ? { dataDir, attach: true } : { url: created.url }
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const [name = '', ...words] = command.replace('--port 3000', `--port ${port}`).split(' ')
  const start = async (tries = 3): Promise<RunningProcess> => {
    const running = startProcess(words, {
      cwd,
      runtime: programOf(name),
      env: {
        PORT: port,
        STRIPE_SIGNING_SECRET: signingSecret,
        DENO_NO_UPDATE_CHECK: '1',
        ...(created?.url !== undefined && { DATABASE_URL: created.url }),
      },
    })
    ends.defer(async () => void (await running.kill()))
    try {
      await running.line(/listening|started/i)
      return running
    } catch (error) {
      // A runtime that loads its modules on a busy machine is late for the first connection.
      if (tries > 1 && /no database answers/.test(String(error))) return start(tries - 1)
      throw error
    }
  }
  const connect = () => createCore({ database }, { patience: muchPatience })
  return { url, dataDir, start, connect, [Symbol.asyncDispose]: () => ends.disposeAsync() }
}

async function settles(project: Project, running: RunningProcess): Promise<void> {
  const core = project.connect()
  await settlesOnce(core, project.url, fetch)
  await running.line(/^paid: order 42$/)
  await core.close()
}

async function settlesAgain(project: Project): Promise<void> {
  const running = await project.start()
  const core = project.connect()
  const payment = await newPayment(core, { gateway: 'stripe' })
  const body = JSON.stringify(sessionEvent({ payment }))
  const callback = { method: 'POST', headers: signedHeaders(body), body }
  const send = async () => (await fetch(`${project.url}/billing/webhooks/stripe`, callback)).status
  assert.equal(await whileBusy(send), 200)
  await running.line(/^paid: order 42$/)
  await idle(core)
  assert.equal((await core.payments.get(payment.id))?.status, 'paid')
  await core.close()
  assert.equal((await running.stop()).code, 0)
}

test('the page starts its program on Bun and on Deno', () => {
  assert.deepEqual(
    commands.map((command) => command.split(' ')[0]),
    ['bun', 'deno'],
  )
})

for (const command of commands) {
  const [name = ''] = command.split(' ')
  describe(`on ${name}`, { skip: runtimes.missing, concurrency: 3 }, () => {
    test("the embedded database settles a callback, is one process's alone and outlives a kill", async () => {
      await using project = await openProject(command, embedded)
      const { dataDir } = project
      const first = await project.start()
      await settles(project, first)
      const beside = createCore({ database: { dataDir } }, { patience: muchPatience })
      await assert.rejects(beside.migrate(), { code: 'embedded_in_use' })
      await first.kill()

      const here = createCore({ database: { dataDir } }, { patience: muchPatience })
      await here.migrate()
      await assert.rejects(project.start(), /in use by process \d+/)
      await here.close()
      await settlesAgain(project)
    })

    onPostgres((engine) => {
      test('a callback is settled on PostgreSQL, before a kill and after it', async () => {
        await using project = await openProject(command, engine)
        const first = await project.start()
        await settles(project, first)
        await first.kill()
        await settlesAgain(project)
      })

      test('senders are told apart by their addresses', async () => {
        const throttled: Change = (code) =>
          code
            .replace('{ defineConfig }', '{ defineConfig, throttle }')
            .replace('Config({', "Config({\n  webhook: { middleware: [throttle('1 per minute')] },")
        await using project = await openProject(command, engine, throttled)
        await project.start()
        const statuses = []
        for (const from of ['127.0.0.1', '127.0.0.1', '127.0.0.2']) {
          statuses.push(await statusFrom(from, `${project.url}/billing/webhooks/stripe`))
        }
        assert.deepEqual(statuses, [403, 429, 403])
      })
    })
  })
}

/** What an unsigned callback from this address of the machine is answered. */
function statusFrom(localAddress: string, url: string): Promise<number | undefined> {
  return new Promise((answered, failed) => {
    const sent = request(url, { method: 'POST', localAddress }, (response) => {
      response.resume()
      answered(response.statusCode)
    })
    sent.once('error', failed).end('{}')
  })
}
