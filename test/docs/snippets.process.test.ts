import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { signedRequest } from '../../src/testing/index.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import { shellEnvironment, startProgram } from './program.ts'
import { postgres, type TestDatabase } from '../support/databases.ts'
import { whileBusy } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { freePort } from '../support/free-port.ts'
import { runHosted } from '../support/command-host.ts'
import { runCommand } from '../support/process.ts'
import { startStandIn } from '../support/stand-in.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { read, root } from '../tidy/source-files.ts'
import { codeBlocks, pages, type CodeBlock } from './markdown.ts'

const run = promisify(execFile)

/** A block whose first line names a file is that file; the others are modules without a name. */
interface Snippet extends CodeBlock {
  readonly folder: string
  readonly file: string
  readonly named: boolean
}

/** Next.js builds the files of its page: test/examples/nextjs.process.test.ts. */
const ofNode = pages().filter(({ path }) => path !== 'docs/11-nextjs.md')

const snippets = ofNode.flatMap((page) =>
  codeBlocks(page)
    .filter(({ language }) => /^[jt]sx?$/.test(language))
    // What imports Prisma is checked, and run, where that is installed: test/orm/prisma.process.test.ts.
    .filter(({ code }) => !code.includes('@prisma/'))
    .map((block, index): Snippet => {
      const [, name] = /^\/\/ ([\w.-]+)\n/.exec(block.code) ?? []
      const folder = basename(page.path, '.md')
      return { ...block, folder, file: name ?? `module-${index}.ts`, named: name !== undefined }
    }),
)
/** What modules import on pages that show none of their own. */
const otherBilling = `
  import { createBilling } from 'quittance'
  export const billing = createBilling({
    url: 'https://pay.example.com',
    environment: process.env,
    database: { url: process.env.DATABASE_URL },
  })
  await billing.migrate()
  await billing.work()`

let folder: TemporaryFolder
let database: TestDatabase

/** A project as a reader has it: the package and others installed, one folder a page. */
before(async () => {
  database = await postgres.createEmpty()
  folder = temporaryFolder()
  const modules = join(folder.path, 'node_modules')
  mkdirSync(modules)
  symlinkSync(root, join(modules, 'quittance'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(folder.path, 'package.json'), '{"private": true, "type": "module"}')
  for (const snippet of snippets) {
    const path = join(folder.path, snippet.folder)
    mkdirSync(path, { recursive: true })
    assert.ok(!existsSync(join(path, snippet.file)) || !snippet.named, `${snippet.file} twice`)
    writeFileSync(join(path, snippet.file), snippet.code)
  }
  for (const name of new Set(snippets.map((one) => one.folder))) {
    const path = join(folder.path, name, 'billing.ts')
    if (!existsSync(path)) writeFileSync(path, otherBilling)
  }
})
after(async () => {
  folder.remove()
  await database.drop()
})

test('every TypeScript block of the README and the pages type-checks against the package', async () => {
  assert.ok(snippets.length > 15)
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitReturns: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  }
  const include = ['**/*.ts']
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const checked = run(process.execPath, [compiler, '-p', folder.path], { cwd: folder.path })
  await checked.catch((error: { stdout: string }) => assert.fail(error.stdout))
})

test('every configuration file of the pages is taken by the service', async () => {
  const files = snippets.filter(({ file }) => file === 'quittance.config.ts')
  assert.ok(files.length > 3)
  for (const { path, folder: name } of files) {
    const cwd = join(folder.path, name)
    const { code, stderr } = await runCommand(['gateways'], { cwd })
    assert.equal(code, 0, `${path}: ${stderr.join('\n')}`)
  }
})

test('every test that the pages show passes', async () => {
  const files = snippets.filter(({ file }) => file.endsWith('.test.ts'))
  assert.ok(files.length > 1)
  const paths = files.map((one) => join(folder.path, one.folder, one.file))
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const ran = run(process.execPath, ['--test', ...paths], { env, cwd: folder.path })
  const { stdout } = await ran.catch((error: { stdout: string }) => assert.fail(error.stdout))
  const tests = files.flatMap(({ code }) => code.match(/^test\(/gm) ?? [])
  assert.match(stdout, new RegExp(`pass ${tests.length}\\b`))
})

test('the app of the README takes a signed callback, and no other; its first payment is granted', async () => {
  const cwd = join(folder.path, 'README')
  const [app, ...others] = snippets.filter(({ path, code }) =>
    /\b3000\b/.test(path === 'README.md' ? code : ''),
  )
  assert.ok(app?.file === 'app.ts' && others.length === 0)
  const port = await freePort()
  const program = join(cwd, 'run-app.ts')
  writeFileSync(program, app.code.replace('3000', String(port)))
  const secret = 'whsec_of_the_pages_0123456789'
  const env = { STRIPE_SIGNING_SECRET: secret, PORT: String(port) }
  fillDataFolder(join(cwd, '.quittance'))
  await using ends = new AsyncDisposableStack()
  ends.use(await startProgram(program, { cwd, env, port }))
  const payment = pendingPayment({ gateway: 'stripe' })
  const send = (signing_secret: string) => {
    const options = { url: `http://127.0.0.1:${port}`, gateways: { stripe: { signing_secret } } }
    return whileBusy(
      async () => (await fetch(signedRequest('stripe', { payment, options }))).status,
    )
  }
  assert.deepEqual([await send(secret), await send(`${secret}x`)], [200, 403])

  const socket = await findEmbedded(join(cwd, '.quittance'))
  const shop = new pg.Client({ ...socket, user: 'quittance', database: 'quittance' })
  await shop.connect()
  ends.defer(() => shop.end())
  const [table = ''] = /create table orders [^`]+/.exec(read('README.md')) ?? []
  await shop.query(`${table}; insert into orders values ('42', false)`)
  const typed = read('README.md').matchAll(/`npx quittance ((?:payments create|send) [^`]*)`/g)
  for (const [, line = ''] of typed) {
    const { code, stderr } = await runHosted(line.split(' '), { cwd })
    assert.deepEqual([code, stderr], [0, []], line)
  }
  assert.deepEqual((await shop.query('select * from orders')).rows, [{ id: '42', paid: true }])
})

test('the reader of the feed that the pages show marks what is paid, and stores its cursor', async () => {
  const cwd = join(folder.path, '17-feed')
  const shop = new DatabaseSync(join(cwd, 'shop.db'), { timeout: 5_000 })
  // So that looking at it locks nobody out.
  shop.exec('pragma journal_mode = wal')
  shop.exec('create table orders (id text primary key, paid integer not null)')
  shop.exec("insert into orders values ('42', 0), ('43', 0)")
  const program = join(cwd, 'run-follow-feed.ts')
  writeFileSync(
    program,
    `import { billing } from './billing.ts'
    for (const [id, result] of [['42', 'success'], ['43', 'failure']]) {
      const payable = { type: 'order', id }
      const payment = { gateway: 'fake', amount: 1999, currency: 'USD', payable }
      const { id: payment_id } = await billing.payments.create(payment)
      const body = JSON.stringify({ payment_id, result })
      const headers = { 'content-type': 'application/json' }
      const url = 'http://localhost/billing/webhooks/fake'
      await billing.fetch(new Request(url, { method: 'POST', headers, body }))
    }
    await import('./follow-feed.ts')`,
  )
  const env = { ...shellEnvironment(), DATABASE_URL: database.url ?? '' }
  const reader = spawn(process.execPath, [program], { cwd, env, stdio: 'ignore' })
  try {
    const paid = shop.prepare('select id from orders where paid = 1')
    await until(() => paid.all().length > 0, { what: 'the order is marked' })
    assert.deepEqual(
      paid.all().map(({ id }) => id),
      ['42'],
    )
    const { cursor } = shop.prepare('select cursor from reader').get() ?? {}
    assert.match(String(cursor), /^[0-9a-f]{8}-/)
  } finally {
    reader.kill('SIGKILL')
    await once(reader, 'close')
    shop.close()
  }
})

interface Checkout {
  readonly starts: string
  /** Sends the example's requests to this machine. */
  readonly redirect: (code: string, base: URL) => string
  readonly reply: object
  /** Where the payment's id and what else must be there stand in the request. */
  readonly says: (body: string) => object
  readonly expected: (id: string) => object
  readonly checkoutReference: string | null
}

const checkouts: readonly Checkout[] = [
  {
    starts: "startCheckout('42')",
    redirect: (code, { hostname, port: own }) =>
      code.replace(
        "new Stripe('sk_test_...')",
        `new Stripe('sk_test_...', { protocol: 'http', host: '${hostname}', port: '${own}' })`,
      ),
    reply: { id: 'cs_test_1', object: 'checkout.session', url: 'https://pay.example/1' },
    says: (body) => {
      const fields = new URLSearchParams(body)
      const names = ['metadata[payment_id]', 'payment_intent_data[metadata][payment_id]']
      return names.map((name) => fields.get(name))
    },
    expected: (id) => [id, id],
    checkoutReference: null,
  },
  {
    starts: "startInvoice('token', '42')",
    redirect: (code, { origin }) => code.replace('https://api.monobank.ua', origin),
    reply: { invoiceId: 'p2_of_the_pages', pageUrl: 'https://pay.example/1' },
    says: (body) => JSON.parse(body) as object,
    expected: (id) => ({
      amount: 1999,
      ccy: 980,
      merchantPaymInfo: { reference: id },
      webHookUrl: 'https://pay.example.com/billing/webhooks/monobank',
    }),
    checkoutReference: 'p2_of_the_pages',
  },
]

for (const { starts, ...checkout } of checkouts) {
  const [name = ''] = starts.split('(')
  test(`${name} of the pages makes a payment and names it to the provider`, async () => {
    const page = snippets.find(({ code }) => code.includes(`function ${name}(`))
    assert.ok(page !== undefined)
    await using ends = new AsyncDisposableStack()
    const provider = await startStandIn(() => ({ body: checkout.reply }))
    ends.defer(() => provider.close())
    const cwd = join(folder.path, page.folder)
    const own = checkout.redirect(page.code, new URL(provider.base))
    assert.notEqual(own, page.code)
    writeFileSync(join(cwd, `redirected-${name}.ts`), own)
    const program = join(cwd, `run-${name}.ts`)
    writeFileSync(
      program,
      `import { billing } from './billing.ts'
      import { ${name} } from './redirected-${name}.ts'
      const url = await ${starts}
      const { data: [payment] } = await billing.payments.list({ limit: 1 })
      const { id, payable, checkoutReference } = payment
      console.log(JSON.stringify({ url, id, payable, checkoutReference }))
      await billing.close()`,
    )
    const { url: databaseUrl = '' } = database
    const { stdout } = await run(process.execPath, [program], {
      cwd,
      env: { ...shellEnvironment(), DATABASE_URL: databaseUrl },
    })
    const { id, ...made } = JSON.parse(stdout.trim()) as { readonly id: string }
    const { checkoutReference } = checkout
    const payable = { type: 'order', id: '42' }
    assert.deepEqual(made, { url: 'https://pay.example/1', payable, checkoutReference })
    assert.deepEqual(
      provider.requests.map(({ body }) => checkout.says(body)),
      [checkout.expected(id)],
    )
  })
}
