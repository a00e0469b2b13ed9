/**
 * Changes the code of the rooms that work on a database; their tests run on one that is made here.
 * Arguments are those of `stryker run`: `npm run mutate:rooms -- --mutate src/queue/retry.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globalTeardown, preparePostgres } from '../support/global-setup.ts'

await preparePostgres()
try {
  const stryker = spawn('stryker', ['run', 'stryker.rooms.config.json', ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  const [code] = (await once(stryker, 'exit')) as [number | null]
  process.exitCode = code ?? 1
} finally {
  await globalTeardown()
}
