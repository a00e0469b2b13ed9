import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Builds the package as it is published, and gives the path of its program. */
export async function publish(): Promise<string> {
  const project = fileURLToPath(new URL('..', import.meta.url))
  // Below the project, so that its packages are found.
  const built = join(project, 'node_modules', '.cache', 'quittance-bench')
  const dist = join(built, 'dist')
  const args = ['tsc', '-p', 'tsconfig.build.json', '--outDir', dist]
  await promisify(execFile)('npx', args, { cwd: project })
  copyFileSync(join(project, 'package.json'), join(built, 'package.json'))
  return join(dist, 'cli', 'main.js')
}
