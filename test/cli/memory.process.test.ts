import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { onPostgres } from '../support/databases.ts'
import { deploy } from '../support/deployment.ts'
import { startService, startWorker } from '../support/process.ts'
import { until } from '../support/until.ts'
import { root } from '../tidy/source-files.ts'

/** Kilobytes, as Linux says it. */
function memoryOf(pid: number | undefined, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1])
}

onPostgres((engine) => {
  for (const [command, start] of [
    ['serve', startService],
    ['work', startWorker],
  ] as const) {
    test(`${command} gives back the memory that only its start needed`, async () => {
      const deployment = await deploy(engine)
      // As published: from sources, Node holds more.
      const file = join(root, 'dist/cli/main.js')
      const running = await start({ ...deployment, file })
      const { pid } = running.child
      const isSmaller = () => memoryOf(pid, 'VmRSS') < 0.95 * memoryOf(pid, 'VmHWM')
      await until(isSmaller, { what: 'less memory than at most' })
      assert.equal((await running.stop()).code, 0)
      await deployment.remove()
    })
  }
})
