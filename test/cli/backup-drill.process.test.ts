import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { codeBlocks } from '../docs/markdown.ts'
import { startOwnServer } from '../support/own-server.ts'
import { openTestBilling } from '../../src/testing/index.ts'
import { cleanEnvironment } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { read, root } from '../tidy/source-files.ts'

const run = promisify(execFile)

/** The newest server that is installed with its tools: those of a newer one may read it, no others. */
const installed = '/usr/lib/postgresql'
const [version] = existsSync(installed)
  ? readdirSync(installed).toSorted((one, other) => Number(other) - Number(one))
  : []
const skip = version === undefined && "NO pg_dump: install Debian's package postgresql"
assert.ok(skip === false || process.env['CI'] !== 'true', String(skip))

const drill = codeBlocks({ path: 'docs/5-operations.md', text: read('docs/5-operations.md') }).find(
  ({ code }) => code.includes('pg_restore'),
)

test(
  'the drill of the docs restores what was there, with its charges on hold, and tells nothing twice',
  { skip },
  async () => {
    assert.ok(drill !== undefined)
    const bin = join(installed, version ?? '', 'bin')
    await using ends = new AsyncDisposableStack()
    const server = await startOwnServer(bin)
    ends.defer(() => server.stop())
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    for (const name of ['shop_test', 'restored_test']) await admin.query(`create database ${name}`)
    await admin.end()
    const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: name }).href
    const url = urlOf('shop_test')
    const shop = await openTestBilling({ database: { url } })
    const payment = await shop.createPayment({ gateway: 'stripe' })
    const paid = shop.signedRequest('stripe', { payment })
    await shop.deliver(paid)
    await shop.idle()
    await shop.close()

    using folder = temporaryFolder()
    const commands = `quittance() { "${process.execPath}" "${root}/src/cli/main.ts" "$@"; }
${drill.code}
echo "migrates $DATABASE_DIRECT_URL"`
    const { stdout } = await run('sh', ['-e', '-c', commands], {
      cwd: folder.path,
      env: {
        ...cleanEnvironment(),
        PATH: `${bin}:${process.env['PATH']}`,
        DATABASE_URL: url,
        DATABASE_DIRECT_URL: url,
        RESTORED_URL: urlOf('restored_test'),
      },
    })
    assert.match(stdout, new RegExp(payment.id))
    assert.match(stdout, /^No period is charged until/m)
    assert.match(stdout, /^migrates .*restored_test$/m, 'never the real one, also behind a pooler')
    const restored = await openTestBilling({ database: { url: urlOf('restored_test') } })
    ends.defer(() => restored.close())
    assert.equal((await restored.billing.payments.get(payment.id))?.status, 'paid')
    assert.equal((await restored.deliver(paid)).status, 200)
    await restored.idle()
    // It was told before the backup.
    assert.deepEqual(restored.events.all, [])
  },
)
