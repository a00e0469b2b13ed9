import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fillDataFolder } from '../support/embedded-template.ts'
import { interpreter } from '../support/interpreters.ts'
import { freePort, startProcess, startService, type RunningService } from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { read } from '../tidy/source-files.ts'
import { codeBlocks } from './markdown.ts'

const path = 'docs/start/php-python.md'
const blocks = codeBlocks({ path, text: read(path) })
const files = blocks.flatMap(({ code }) => {
  const [, file] = /^(?:<\?php \/\/|#) (\w+\.(?:php|py))\n/.exec(code) ?? []
  return file === undefined ? [] : [{ file, code }]
})
const typed = blocks.filter(({ language }) => language === 'console').map(({ code }) => code.trim())
const [
  settings = '',
  enter = '',
  php = '',
  python = '',
  again = '',
  curl = '',
  find = '',
  back = '',
] = typed

let checkout: TemporaryFolder
let service: RunningService
/** Where each language has its folder `shop`. */
let shop: string
/** Instead of the addresses of the page. */
let hooks: number
const here = (text: string) =>
  text.replaceAll('8000', String(hooks)).replaceAll('http://localhost:3000', service.url)

/** Typed in a shell of its own that has the variables; it becomes what is typed last. */
function type(line: string) {
  const lines = here(`${again}\n${line}`).replace(/\n(?=(?:php|python3|curl) )/, '\nexec ')
  return startProcess(['-c', lines], { runtime: 'bash', cwd: shop })
}

async function printed(line: string): Promise<string> {
  const { code, stdout, stderr } = await type(line).ended
  assert.equal(code, 0, `${line}: ${stderr.join('\n')}`)
  return stdout.join('\n')
}

before(async () => {
  checkout = temporaryFolder()
  hooks = await freePort()
  fillDataFolder(join(checkout.path, '.quittance'))
  const write = settings.replaceAll('8000', String(hooks))
  const written = startProcess(['-c', write], { runtime: 'bash', cwd: checkout.path })
  assert.equal((await written.ended).code, 0)
  service = await startService({ cwd: checkout.path })
  const entered = startProcess(['-c', enter], { runtime: 'bash', cwd: checkout.path })
  assert.equal((await entered.ended).code, 0)
  shop = join(checkout.path, 'shop')
  for (const { file, code } of files) writeFileSync(join(shop, file), here(code))
})
after(async () => {
  await service.stop()
  checkout.remove()
})

test('every block of the page is a file or is typed', () => {
  assert.deepEqual(
    files.map(({ file }) => file),
    ['verify.php', 'hooks.php', 'verify.py', 'hooks.py', 'pay.php', 'pay.py'],
  )
  const others = blocks.filter(({ language }) => !/^(?:php|python|console)$/.test(language))
  assert.deepEqual(
    others.map(({ code }) => code),
    ['order 42 is paid\n'],
  )
  assert.equal(typed.length, 8)
})

interface Shown {
  readonly id: string
  readonly status: string
  readonly refunded: number
  readonly checkout_url: string
}

/** What the buttons of the checkout do. */
async function press(url: string): Promise<void> {
  const body = new URLSearchParams({ result: 'success' })
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' })
  assert.equal(answer.status, 303)
}

async function isListening(): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${hooks}/`, { method: 'POST', body: '{}' }).catch(
    () => {},
  )
  // What is not signed.
  return answer?.status === 401
}

async function found(): Promise<readonly Shown[]> {
  return (JSON.parse(await printed(find)) as { readonly data: readonly Shown[] }).data
}

const phpHere = interpreter('php')
const codeOf = (name: string) => files.find(({ file }) => file === name)?.code ?? ''

test('a script of PHP that dies takes no event', { skip: phpHere.missing }, async () => {
  using folder = temporaryFolder()
  const port = await freePort()
  writeFileSync(join(folder.path, 'hooks.php'), codeOf('hooks.php'))
  // As PHP is without a php.ini. There is no verify.php.
  const args = ['-n', '-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, 'hooks.php']
  const receiver = startProcess(args, { runtime: 'php', cwd: folder.path })
  const url = `http://127.0.0.1:${port}/`
  const ask = () => fetch(url, { method: 'POST', body: '{}' }).catch(() => {})
  await until(async () => (await ask()) !== undefined, { what: 'the receiver listens' })
  assert.equal((await ask())?.status, 500)
  await receiver.kill()
})

for (const { program, missing } of [phpHere, interpreter('python3')]) {
  test(`in ${program} an order is paid, looked up and refunded`, { skip: missing }, async () => {
    const isPhp = program === 'php'
    const receiver = type(isPhp ? php : python)
    await until(isListening, { what: 'the receiver listens' })
    const url = await printed(isPhp ? 'php pay.php' : 'python3 pay.py')
    await press(url)
    await receiver.line(/order 42 is paid/)
    const payment = (await found()).find((one) => one.checkout_url === url)
    assert.deepEqual([payment?.status, payment?.refunded], ['paid', 0])
    const refund = back.replace(/(?<=ID=)\S+/, payment?.id ?? '')
    assert.equal((JSON.parse(await printed(refund)) as Shown).status, 'paid')
    assert.equal((await found()).find((one) => one.checkout_url === url)?.refunded, 500)
    await receiver.kill()
    const error = type(`BILLING_API_TOKEN=other\n${isPhp ? 'php pay.php' : 'python3 pay.py'}`)
    assert.match((await error.ended).stdout.join(), /unauthorized|token/i)
  })
}

test('by curl a payment is created', async () => {
  const { status, checkout_url: url } = JSON.parse(await printed(curl)) as Shown
  assert.equal(status, 'pending')
  assert.match(url, /\/billing\/fake\/checkout\//)
})
