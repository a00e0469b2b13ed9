import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { builtin } from '../../src/gateways/builtin.ts'
import { whileBusy } from '../support/deployment.ts'
import { freePort } from '../support/free-port.ts'
import { signedHeaders, sessionEvent, signingSecret } from '../support/stripe-callbacks.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { linksOf } from '../docs/markdown.ts'
import { filesIn, productFiles, read, root } from '../tidy/source-files.ts'

const { version, exports, devDependencies } = JSON.parse(read('package.json')) as {
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** What any shell has, and where npm finds packages; nothing of the run that we are part of. */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(?:HOME|TMPDIR|NODE_EXTRA_CA_CERTS|.*_proxy|npm_config_(?:registry|cache|userconfig))$/i.test(
        name,
      ),
    ),
  ),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
  // The Node of these tests brings its own certificates; npm may need those of the machine.
  NODE_USE_SYSTEM_CA: '1',
}

const execute = promisify(execFile)

/** Runs a program to its end; fails with what it said. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const ran = execute(program, args, { cwd, env: environment })
  const { stdout } = await ran.catch((error: { stdout: string; stderr: string }) =>
    assert.fail(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`),
  )
  return stdout
}

/** Whatever an app can import, each gateway by its name. */
const entries = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .flatMap((path) => builtin.map(({ name }) => path.replace('*', name)))
  .filter((path, at, all) => all.indexOf(path) === at)
  .map((path) => path.replace('.', 'quittance'))

let folder: TemporaryFolder
let tarball: string
let typescriptProject: string
let javascriptProject: string

const [, oldestForCommonJs = '(not said)'] =
  /`"module": "nodenext"` from TypeScript ([\d.]+) on/.exec(read('docs/start/express.md')) ?? []
const needs = `in TypeScript ${oldestForCommonJs} or later with \`"module": "nodenext"\``
assert.ok(read('README.md').includes(needs), `the README says: ${needs}`)

const papers = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md']
/** The build copies them. */
const data = ['dist/database/embedded/fresh-files.json', 'dist/http/api/openapi.json']
/** What the papers link to there. */
const linked = [
  ...['README.md', 'figures.svg', 'job.sql'].map((name) => `bench/${name}`),
  ...['Dockerfile', 'compose.yaml', 'proxy/Caddyfile', 'proxy/nginx.conf'].map(
    (name) => `deploy/${name}`,
  ),
  ...['.service', '-serve.conf', '-work.conf'].map((end) => `deploy/quittance${end}`),
  ...['quittance.rules.yml', 'quittance.rules.test.yml'].map((name) => `deploy/prometheus/${name}`),
  'deploy/grafana/quittance.json',
]

/** From a copy: `prepare` builds, and others may be reading the `dist` of this checkout. */
async function pack(): Promise<string> {
  const source = join(folder.path, 'source')
  mkdirSync(source)
  const settings = ['package.json', 'tsconfig.json', 'tsconfig.build.json']
  for (const name of ['src', 'docs', 'examples', ...linked, ...settings, ...papers]) {
    cpSync(join(root, name), join(source, name), { recursive: true })
  }
  // What may be there once an example has run.
  for (const name of ['.env', 'nextjs-shop/.env.local', 'apps/.quittance/postgres/PG_VERSION']) {
    const path = join(source, 'examples', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'private')
  }
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'))
  await run('npm', ['pack', '--pack-destination', folder.path], source)
  return join(folder.path, `quittance-${version}.tgz`)
}

async function makeProject(project: string, others: readonly string[]): Promise<void> {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=4']
  await run('npm', ['install', ...flags, tarball, ...others], project)
}

before(async () => {
  folder = temporaryFolder()
  tarball = await pack()
  javascriptProject = join(folder.path, 'javascript')
  typescriptProject = join(folder.path, 'typescript')
  const compiler = ['typescript', '@types/node'].map((name) => `${name}@${devDependencies[name]}`)
  const compilers = [...compiler, `oldest-typescript@npm:typescript@${oldestForCommonJs}`]
  await Promise.all([makeProject(javascriptProject, []), makeProject(typescriptProject, compilers)])
})
after(() => folder.remove())

/** The files of a folder, those of folders in it too. */
function listing(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.split(sep).join('/'))
}

test('the package holds what runs, its types, papers and examples, and nothing else', () => {
  const files = listing(join(javascriptProject, 'node_modules/quittance'))
  const sources = [...productFiles(), ...filesIn('src', /\.js$/)].map(({ path }) => path)
  const built = sources
    .filter((path) => !path.endsWith('.d.ts'))
    .flatMap((path) =>
      ['.js', '.d.ts'].map((end) => path.replace(/^src/, 'dist').replace(/\.[jt]s$/, end)),
    )
  const pages = ['docs', 'src/gateways'].flatMap((name) => filesIn(name, /\.(?:md|svg)$/))
  const examples = listing(join(root, 'examples')).map((path) => `examples/${path}`)
  const others = [...pages.map(({ path }) => path), ...examples, ...linked, ...data, 'package.json']
  assert.deepEqual(files.toSorted(), [...papers, ...others, ...built].toSorted())
})

test('every link of a packed page leads to a packed file or folder', () => {
  const installed = join(javascriptProject, 'node_modules/quittance')
  const found = listing(installed)
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => linksOf({ path, text: readFileSync(join(installed, path), 'utf8') }))
  assert.ok(found.length > 50)
  const dead = found.filter(({ target }) => !existsSync(join(installed, target)))
  assert.deepEqual(dead, [])
})

describe('in an empty TypeScript project', () => {
  before(() => {
    copyFileSync(join(root, 'test/package/typescript-app.ts'), join(typescriptProject, 'app.ts'))
    const lines = entries.map((path, at) => `export * as entry${at} from '${path}'\n`)
    for (const name of ['entries.ts', 'commonjs.cts']) {
      writeFileSync(join(typescriptProject, name), lines.join(''))
    }
  })

  const tscIn = (compiler: string, args: readonly string[]) =>
    run(process.execPath, [join('node_modules', compiler, 'bin/tsc'), ...args], typescriptProject)

  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2024']
  const resolutions = {
    nodenext: ['--module', 'nodenext', '--lib', 'es2024,esnext.disposable', '--types', 'node'],
    bundler: ['--module', 'preserve', '--moduleResolution', 'bundler', '--types', 'node'],
  }
  for (const [name, flags] of Object.entries(resolutions)) {
    test(`every entry type-checks, declarations of packages included (${name})`, async () => {
      const files = ['--skipLibCheck', 'false', 'app.ts', 'entries.ts']
      await tscIn('typescript', [...strict, ...flags, ...files])
    })
  }

  for (const [compiler, module] of [
    ['typescript', 'nodenext'],
    ['typescript', 'node20'],
    ['oldest-typescript', 'nodenext'],
  ] as const) {
    test(`every entry type-checks in CommonJS (${compiler}, ${module})`, async () => {
      const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', module]
      await tscIn(compiler, [...flags, '--types', 'node', '--skipLibCheck', 'commonjs.cts'])
    })
  }

  test('every entry loads', async () => {
    assert.ok(entries.length > builtin.length)
    await run(process.execPath, ['entries.ts'], typescriptProject)
  })

  test('a payment is settled in a test of the app', async () => {
    const said = await run(process.execPath, ['app.ts'], typescriptProject)
    const url = 'http://localhost:3000/billing/webhooks/acme'
    assert.deepEqual(said.trim().split('\n'), [
      `${version} true ${url} false`,
      'setting_invalid',
      'paid',
    ])
  })
})

describe('in an empty JavaScript project', () => {
  test('an app settles a payment, closes and ends by itself', async () => {
    copyFileSync(join(root, 'test/package/javascript-app.js'), join(javascriptProject, 'app.js'))
    assert.equal(await run(process.execPath, ['app.js'], javascriptProject), '200 true paid\n')
  })

  test('`npx quittance serve` takes callbacks, and the payments are listed as paid', async () => {
    await using service = await startService()
    const fakeId = /payment is pending: (\S+)/.exec(service.said())?.[1]
    const create = ['payments', 'create', '--gateway', 'stripe', '--amount', '4999']
    const about = ['--currency', 'USD', '--payable', 'order:43', '--no-checkout', '--json']
    const created = JSON.parse(await quittance([...create, ...about])) as { readonly id: string }

    const signed = JSON.stringify(
      sessionEvent({ payment: { id: created.id, amount: 4999n, currency: 'USD' } }),
    )
    const answers = await Promise.all([
      service.post('fake', JSON.stringify({ payment_id: fakeId, result: 'success' })),
      service.post('stripe', signed, signedHeaders(signed)),
      service.post('stripe', signed, signedHeaders(signed, 'whsec_somebody_elses_secret')),
    ])
    assert.deepEqual(answers, [200, 200, 403])
    assert.deepEqual(await paidIds(2), new Set([fakeId, created.id]))
    assert.deepEqual(await service.document(), JSON.parse(read('src/http/api/openapi.json')))
  })
})

function quittance(args: readonly string[]): Promise<string> {
  return run('npx', ['quittance', ...args], javascriptProject)
}

/** Processing follows the answer: looks again until so many are paid. */
async function paidIds(count: number): Promise<ReadonlySet<string>> {
  const deadline = performance.now() + 240_000
  for (;;) {
    const list = await quittance(['payments', 'list', '--status', 'paid', '--json'])
    const { data } = JSON.parse(list) as { readonly data: readonly { readonly id: string }[] }
    if (data.length >= count) return new Set(data.map(({ id }) => id))
    if (performance.now() > deadline) assert.fail(`paid: ${list}`)
  }
}

/** `npx quittance serve` on a free port; ends by SIGTERM, as one process group. */
async function startService() {
  const port = await freePort()
  const child = spawn('npx', ['quittance', 'serve'], {
    cwd: javascriptProject,
    env: { ...environment, PORT: String(port), STRIPE_SIGNING_SECRET: signingSecret },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = once(child, 'close')
  const lines: string[] = []
  let complaints = ''
  child.stderr.on('data', (text: Buffer) => (complaints += text.toString()))
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.startsWith('In a browser')) break
  }
  assert.equal(child.exitCode, null, complaints)
  return {
    said: () => lines.join('\n'),
    /** What clients of the management API are made of. */
    async document() {
      const answer = await fetch(`http://127.0.0.1:${port}/billing/api/openapi.json`)
      return answer.json()
    },
    async post(gateway: string, body: string, headers: Readonly<Record<string, string>> = {}) {
      const url = `http://127.0.0.1:${port}/billing/webhooks/${gateway}`
      return whileBusy(async () => (await fetch(url, { method: 'POST', body, headers })).status)
    },
    async [Symbol.asyncDispose]() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
      await ended
    },
  }
}
