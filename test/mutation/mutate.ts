/**
 * Changes the code and runs its tests, which must notice each change. The first argument may name the
 * configuration: without one, that of the tests that need no database. The others are those of
 * `stryker run`: `npm run mutate:rooms -- --mutate src/queue/retry.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { globalTeardown, preparePostgres } from '../support/global-setup.ts'
import { installedProject } from '../support/installed-project.ts'

// A project of its own: it has a hundred packages that nothing else needs.
const project = await installedProject('test/mutation')
if (project.missing !== false) process.exit(1)
const command = join(project.folder, 'node_modules/.bin/stryker')
const withDatabase = process.argv[2] === 'stryker.rooms.config.json'
if (withDatabase) await preparePostgres()
try {
  const stryker = spawn(command, ['run', ...process.argv.slice(2)], { stdio: 'inherit' })
  const [code] = (await once(stryker, 'exit')) as [number | null]
  process.exitCode = code ?? 1
} finally {
  await globalTeardown()
}
