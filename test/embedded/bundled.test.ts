import assert from 'node:assert/strict'
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'
import type * as quittance from 'quittance'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { root } from '../tidy/source-files.ts'

test('where a bundler left the code of the database behind, the error names the bundler', async (t) => {
  const { path: folder, remove } = temporaryFolder()
  t.after(remove)
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  rmSync(join(folder, 'dist/database/embedded/thread.js'))
  const { createBilling } = (await import(
    pathToFileURL(join(folder, 'dist/index.js')).href
  )) as typeof quittance
  const billing = createBilling({ database: { dataDir: join(folder, 'data') } })
  await assert.rejects(billing.start(), { code: 'package_bundled', message: /a bundler/ })
  await billing.close()
})
