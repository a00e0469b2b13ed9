import assert from 'node:assert/strict'
import test from 'node:test'
import { subscriptionStatuses } from '../../src/subscriptions/subscription.ts'
import { runHosted } from '../support/command-host.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { read } from '../tidy/source-files.ts'
import { codeBlocks, namesIn, section } from './markdown.ts'

const path = 'docs/13-subscriptions.md'
const page = { path, text: read(path) }

test('the rehearsal of the page prints what it shows', async () => {
  const blocks = codeBlocks(page)
  const at = blocks.findIndex(({ language }) => language === 'sh')
  const line = blocks[at]?.code.trim().replace('npm run quittance -- ', '') ?? ''
  const folder = temporaryFolder()
  try {
    const { stdout } = await runHosted(line.split(' '), { cwd: folder.path })
    assert.equal(stdout.join('\n').trim(), blocks[at + 1]?.code.trim())
  } finally {
    folder.remove()
  }
})

test('the page explains every status of a subscription, and no other', () => {
  assert.deepEqual(namesIn(section(page.text, 'States')), [...subscriptionStatuses])
})
