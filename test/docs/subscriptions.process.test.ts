import assert from 'node:assert/strict'
import test from 'node:test'
import { runCommand } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { read } from '../tidy/source-files.ts'
import { codeBlocks } from './markdown.ts'

const path = 'docs/13-subscriptions.md'

test('the rehearsal of the page prints what it shows', async () => {
  const blocks = codeBlocks({ path, text: read(path) })
  const at = blocks.findIndex(({ language }) => language === 'sh')
  const line = blocks[at]?.code.trim().replace('npm run quittance -- ', '') ?? ''
  using folder = temporaryFolder()
  const { stdout } = await runCommand(line.split(' '), { cwd: folder.path })
  assert.equal(stdout.join('\n').trim(), blocks[at + 1]?.code.trim())
})
