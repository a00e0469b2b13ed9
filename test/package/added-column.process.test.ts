import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onPostgres } from '../support/databases.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import test from 'node:test'
import { copyRepository } from './copy-repository.ts'

const run = promisify(execFile)

/** All that a column of payments is written in: the schema, the table's row and the noun. */
const lines = [
  [
    'src/database/migrations/0001_schema.ts',
    /create table billing\.payments \(\n/,
    "  shade text not null default 'violet',\n",
  ],
  ['src/database/tables.ts', /export interface PaymentsTable {\n/, '  shade: Generated<string>\n'],
  ['src/database/payments.ts', /return paymentOf\({\n/, '    shade: row.shade,\n'],
  ['src/database/payments.ts', /unknownAtFirst = {/, " shade: 'violet',"],
  [
    'src/payments/payment.ts',
    /export const paymentFields = {\n/,
    '  /** The colour of the payment. */\n  shade: field.text(),\n',
  ],
] as const

onPostgres((engine) => {
  test('a column is added in its table and its noun alone, and every surface shows it', async () => {
    using temporary = temporaryFolder()
    const folder = temporary.path
    copyRepository(folder)
    for (const [path, after, line] of lines) {
      const text = readFileSync(join(folder, path), 'utf8')
      assert.match(text, after, path)
      writeFileSync(
        join(folder, path),
        text.replace(after, (found) => found + line),
      )
    }
    const database = await engine.createEmpty()
    try {
      const env = { ...process.env, DATABASE_URL: database.url }
      const node = (...words: readonly string[]) =>
        run(process.execPath, words, { cwd: folder, env })
      await node('src/cli/main.ts', 'migrate')
      const probed = await node('test/package/column-probe.ts')
      const seen = JSON.parse(probed.stdout) as {
        readonly id: string
        readonly api: { readonly shade?: string }
        readonly csv: string
        readonly console: string
      }
      assert.equal(seen.api.shade, 'violet')
      assert.match(seen.csv, /,shade,[^]*\r\n.*,violet,/)
      assert.match(seen.console, /Shade violet/)
      const command = await node('src/cli/main.ts', 'payments', 'show', seen.id)
      assert.match(command.stdout, /^shade +violet$/m)
      await node('test/openapi/write-document.ts')
      const document = readFileSync(join(folder, 'src/http/api/openapi.json'), 'utf8')
      assert.match(
        document,
        /"shade": { "type": "string", "description": "The colour of the payment\." }/,
      )
    } finally {
      await database.drop()
    }
  })
})
