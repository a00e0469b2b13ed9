import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { codeBlocks, section } from '../docs/markdown.ts'
import { whileBusy } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { productFiles, read, root } from '../tidy/source-files.ts'

const run = promisify(execFile)
const documented = section(read('docs/5-operations.md'), 'Traces')

/** A program in which every package of OpenTelemetry is as if it were not installed, and asks for it. */
const withoutPackage = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith('@opentelemetry/')) return next(specifier, context)
      console.log('asked for ' + specifier)
      throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' })
    },
  })
`

/** What the program prints: the answer to a callback, and what the listeners got. */
async function played(options: string): Promise<readonly string[]> {
  const program = `
    import { openTestBilling } from 'quittance/testing'
    const log = { warn: (_, text) => console.log(text), child: () => log }
    for (const level of ['debug', 'error', 'info', 'trace']) log[level] = () => {}
    const listeners = {
      grantAccess: { on: 'PaymentSucceeded', run: () => console.log('direct') },
      sendReceipt: { on: 'PaymentSucceeded', queued: true, run: () => console.log('queued') },
    }
    const opened = await openTestBilling({ log, listeners, ${options} })
    console.log(String((await opened.send(await opened.createPayment())).status))
    await opened.idle()
    await opened.close()`
  const hook = `data:text/javascript,${encodeURIComponent(withoutPackage)}`
  const args = ['--import', hook, '--input-type=module', '--eval', program]
  const { stdout } = await run(process.execPath, args, { cwd: root })
  return stdout.trim().split('\n')
}

test('without a tracer, no package of OpenTelemetry is ever asked for', async () => {
  assert.deepEqual((await played('')).toSorted(), ['200', 'direct', 'queued'])
})

test('with a tracer whose package is not installed all is done as without one, and a line says so', async () => {
  const printed = await played('tracer: { startSpan: () => ({}) }')
  assert.deepEqual(printed.toSorted(), [
    '200',
    'asked for @opentelemetry/api',
    'direct',
    'no spans are made: @opentelemetry/api cannot be loaded',
    'queued',
  ])
})

test('the service makes spans by the configuration that docs/5-operations.md shows', async () => {
  using folder = temporaryFolder()
  const [config] = codeBlocks({ path: '', text: documented })
  writeFileSync(join(folder.path, 'quittance.config.ts'), config?.code ?? '')
  writeFileSync(join(folder.path, 'package.json'), '{"type": "module"}')
  const modules = join(folder.path, 'node_modules')
  mkdirSync(modules)
  symlinkSync(root, join(modules, 'quittance'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  fillDataFolder(join(folder.path, '.quittance'))
  const service = await startService({ cwd: folder.path })
  const sample = await service.line(/A sample payment is pending/)
  const [, id = ''] = /pending: ([0-9a-f-]+)/.exec(sample) ?? []
  const body = JSON.stringify({ payment_id: id, result: 'success' })
  const url = `${service.url}/billing/webhooks/fake`
  const send = async () => (await fetch(url, { method: 'POST', body })).status
  assert.equal(await whileBusy(send), 200)
  const printed = () => service.stdout.join('\n')
  const has = (name: string) => printed().includes(`name: '${name}'`)
  await until(() => has('callback') && has('dispatch PaymentSucceeded'), {
    what: 'the spans are printed',
  })
  const call = /'quittance\.call\.id': '([0-9a-f-]+)'/.exec(printed())?.[1] ?? ''
  const traces = Array.from(printed().matchAll(/traceId: '([0-9a-f]+)'/g))
  const ids = new Set(traces.map(([, trace]) => trace))
  assert.deepEqual([...ids], [call.replaceAll('-', '')])
  await service.stop()
})

test('docs/5-operations.md lists every span and every attribute, and no other', () => {
  const texts = productFiles().flatMap(({ text }) => (text.includes("/spans.ts'") ? [text] : []))
  const made = texts.flatMap((text) =>
    Array.from(
      text.matchAll(/\bname: (?:'([^']+)'|`([^$`]+)\$\{[^`]*`), kind: /g),
      ([, plain, begun = '']) => plain ?? `${begun}...`,
    ),
  )
  const rows = documented.matchAll(/^\| `([^`]+)` *\|/gm)
  assert.deepEqual(new Set(Array.from(rows, ([, name]) => name)), new Set(made))
  assert.equal(made.length, 7)
  const attributes = texts.flatMap(
    (text) => text.match(/(?<=')(?:quittance|http\.response|error)\.[a-z_.]+(?=')/g) ?? [],
  )
  const [, listed = ''] = /Attributes are ([^;]*?)\. Nothing/s.exec(documented) ?? []
  const shown = listed.match(/(?<=`)[a-z_.]+(?=`)/g) ?? []
  assert.deepEqual(new Set(shown), new Set(attributes))
})
