import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { copyRepository } from './copy-repository.ts'

const run = promisify(execFile)

/** What holds every gateway to the same rules. */
const suites = [
  ...['gateways', 'polls', 'written-fields'].map((name) => `test/conformance/${name}.test.ts`),
  'test/tidy/gateway-folders.test.ts',
  'test/docs/tables.test.ts',
]

/** All of its files, with another name, another title and other variables. */
function copyAs(folder: string, from: string, to: string): void {
  const filter = (path: string) => !path.endsWith('.test.ts')
  cpSync(join(folder, from), join(folder, to), { recursive: true, filter })
  for (const file of globSync('**/*.{ts,md}', { cwd: join(folder, to) })) {
    const path = join(folder, to, file)
    const text = readFileSync(path, 'utf8').replaceAll("'sha1-base64'", '')
    writeFileSync(path, renamed(text))
  }
}

function renamed(text: string): string {
  return text
    .replaceAll('liqpay', 'acme')
    .replaceAll(/LiqPay|Liqpay/g, 'Acme')
    .replaceAll('LIQPAY', 'ACME')
}

function addLine(path: string, pattern: RegExp, line: string): void {
  const text = readFileSync(path, 'utf8')
  assert.match(text, pattern)
  writeFileSync(
    path,
    text.replace(pattern, (found) => found + line),
  )
}

test('a gateway is added by its folder, its line, its stand-in and the generated tables alone', async () => {
  using temporary = temporaryFolder()
  const folder = temporary.path
  copyRepository(folder)

  copyAs(folder, 'src/gateways/liqpay', 'src/gateways/acme')
  const builtin = join(folder, 'src/gateways/builtin.ts')
  addLine(builtin, /import { hutko }.*\n/, "import { acme } from './acme/index.ts'\n")
  addLine(builtin, /\n {2}hutko,\n/, '  acme,\n')
  for (const name of globSync('liqpay*.ts', { cwd: join(folder, 'test/providers') })) {
    const standIn = readFileSync(join(folder, 'test/providers', name), 'utf8')
    writeFileSync(join(folder, 'test/providers', renamed(name)), renamed(standIn))
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const node = (...words: readonly string[]) => run(process.execPath, words, { cwd: folder, env })
  await node('test/docs/write-tables.ts')

  const { stdout } = await node(
    '--test',
    '--test-reporter=tap',
    '--test-name-pattern=acme|changes nothing|files of a gateway',
    ...suites,
  ).catch((error: unknown) => error as { readonly stdout: string })
  const failed = stdout.match(/^ *not ok .*$/gm) ?? []
  assert.deepEqual(failed, [])
  assert.ok((stdout.match(/^ *ok .* - acme[ :]/gm) ?? []).length > 20, stdout)
})
