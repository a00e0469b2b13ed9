import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { runCommand, startService, type RunningService } from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { read, root } from '../tidy/source-files.ts'

/** The code blocks of the README in this language. */
function shown(language: string): readonly string[] {
  const blocks = read('README.md').matchAll(new RegExp('```' + language + '\n(.*?)```', 'gs'))
  return [...blocks].map(([, block = '']) => block)
}

const lines = shown('sh').flatMap((block) => block.trim().split('\n'))
const prefix = 'npm run quittance -- '
const commands = lines.flatMap((line) =>
  line.startsWith(prefix) ? [line.slice(prefix.length)] : [],
)
/** Both run until they are stopped: start.test.ts starts them. */
const lasting = new Set(['serve --no-worker', 'work'])

let folder: TemporaryFolder
let service: RunningService
let database: pg.Client

before(async () => {
  folder = temporaryFolder()
  const data = join(folder.path, '.quittance')
  fillDataFolder(data)
  mkdirSync(join(folder.path, 'node_modules'))
  symlinkSync(root, join(folder.path, 'node_modules/quittance'))
  const config = shown('ts').find((block) => block.startsWith('// quittance.config.ts'))
  assert.ok(config !== undefined)
  writeFileSync(join(folder.path, 'quittance.config.ts'), config)
  service = await startService({ cwd: folder.path })
  const socket = await findEmbedded(data)
  database = new pg.Client({ ...socket, user: 'quittance', database: 'quittance' })
  await database.connect()
  await database.query('create table orders (id text primary key, paid boolean)')
  await database.query("insert into orders values ('42', false)")
})
after(async () => {
  await database.end()
  await service.stop()
  folder.remove()
})

/** Without what differs from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/(127\.0\.0\.1|localhost):\d+/g, '$1:PORT')
    .replaceAll(/(token of this run: |Bearer )[^\s']+/g, '$1TOKEN')
    .trim()
}

test('the start prints what the README shows', async () => {
  await service.line(/^In a browser/)
  assert.equal(steady(service.stdout.join('\n')), steady(shown('text')[0] ?? ''))
})

test('every command that the README shows works, and its listener grants access', async () => {
  assert.ok(commands.length > 5)
  const env = { PORT: new URL(service.url).port }
  for (const command of commands.filter((one) => !lasting.has(one))) {
    const { code, stderr } = await runCommand(command.split(' '), { cwd: folder.path, env })
    assert.deepEqual([code, stderr], [0, []], command)
  }
  const deadline = performance.now() + 5_000
  for (;;) {
    const { rows } = await database.query<{ paid: boolean }>('select paid from orders')
    if (rows[0]?.paid === true) break
    assert.ok(performance.now() < deadline, 'the order was not paid')
    await new Promise((wait) => setTimeout(wait, 25))
  }
})

test('the README shows no other shell line than those that tests and CI run', () => {
  assert.deepEqual(
    lines.filter((line) => !line.startsWith(prefix)),
    [
      'npm ci && npm start',
      'export DATABASE_URL=postgres://user:password@localhost:5432/billing',
      'npm ci && npm test',
    ],
  )
})
