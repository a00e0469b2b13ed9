import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { runHosted } from '../support/command-host.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a call that waits is shown with the time when it is due', async () => {
  using folder = temporaryFolder()
  fillDataFolder(join(folder.path, '.quittance'))
  const cwd = folder.path
  const service = await startService({ cwd, args: ['--no-worker'] })
  try {
    const env = { PORT: new URL(service.url).port }
    const quittance = async (...args: string[]) => (await runHosted(args, { cwd, env })).stdout
    await quittance('send', 'fake', '--no-wait')
    const [headings, row = ''] = await quittance('calls', 'list')
    assert.match(headings ?? '', /received \(UTC\)/)
    const shown = await quittance('calls', 'show', row.slice(0, 36))
    assert.ok(shown.includes('state       pending, 0 failed attempts'), shown.join('\n'))
    const due = shown.find((line) => line.startsWith('due ')) ?? ''
    const received = shown.find((line) => line.startsWith('received ')) ?? ''
    assert.ok(Math.abs(timeIn(due) - timeIn(received)) < 60_000, `${due}, ${received}`)
  } finally {
    await service.stop()
  }
})

function timeIn(line: string): number {
  return Date.parse(line.slice(12))
}
