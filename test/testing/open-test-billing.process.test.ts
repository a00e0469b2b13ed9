import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('several are open at once, apart; closed they leave no file, and the process ends by itself', async () => {
  using folder = temporaryFolder()
  const library = new URL('../../src/testing/index.ts', import.meta.url).href
  const script = `
    import { openTestBilling } from ${JSON.stringify(library)}
    const first = await openTestBilling()
    await first.close()
    const [one, two] = await Promise.all([openTestBilling(), openTestBilling()])
    await one.send(await one.createPayment())
    await Promise.all([one.idle(), two.idle()])
    console.log(one.events.all.length, two.events.all.length)
    await Promise.all([one.close(), two.close()])
    console.log(process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap').join())
  `
  const file = join(folder.path, 'app.mjs')
  writeFileSync(file, script)
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
    cwd: folder.path,
    env: { ...process.env, TMPDIR: folder.path },
  })
  assert.deepEqual([stdout, stderr], ['1 0\n\n', ''])
  assert.deepEqual(readdirSync(folder.path), ['app.mjs'])
})
