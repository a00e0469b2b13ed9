import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  installedProject,
  npmEnvironment,
  type InstalledProject,
} from '../support/installed-project.ts'
import { root } from '../tidy/source-files.ts'

const execute = promisify(execFile)

/** Prisma, which the product does without, and a client for the schema there. */
export function prismaProject(): Promise<InstalledProject> {
  return installedProject('test/prisma', async (folder) => {
    await run(folder, [join(folder, 'node_modules/prisma/build/index.js'), 'generate'])
    symlinkSync(root, join(folder, 'node_modules/quittance'))
  })
}

/** Type-checks a module of the project. */
export async function typeCheck(home: string, file: string): Promise<void> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2024 --types node'
  const more = '--allowImportingTsExtensions --ignoreConfig'
  await run(home, [compiler, ...`${options} ${more}`.split(' '), file])
}

/** Runs a program with our Node. */
async function run(cwd: string, args: readonly string[]): Promise<void> {
  const env = {
    ...npmEnvironment(),
    // Only migrations use that engine: named, it is not downloaded.
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
  }
  const ran = execute(process.execPath, args, { cwd, env })
  await ran.catch(({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
    throw new Error([...args, stdout, stderr].join('\n'))
  })
}
