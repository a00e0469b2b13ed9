import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { filesIn, root } from '../tidy/source-files.ts'

const execute = promisify(execFile)

/** Packages that only some tests need, or why they are not there: a reason skips these, loudly. */
export type InstalledProject =
  | { readonly folder: string; readonly missing: false }
  | { readonly missing: string }

/** In the checkout, so that what is put there finds the packages of the product. */
const cache = join(root, '.cache')

/** What a project needs besides its packages, done once, where they have just been installed. */
type Prepare = (folder: string) => void | Promise<void>

/** A project within `test/` with the packages of its lockfile, installed once for as long as it stays the same. */
export async function installedProject(
  project: string,
  prepare: Prepare = () => {},
): Promise<InstalledProject> {
  const folder = join(cache, `${basename(project)}-${keyOf(project)}`)
  try {
    if (!existsSync(folder)) await install(project, folder, prepare)
    return { folder, missing: false }
  } catch (error) {
    const { message } = error as Error
    const missing = `NOT INSTALLED: ${project}: ${message.split('\n').slice(0, 6).join('\n')}`
    process.stderr.write(`\n${missing}\n\n`)
    return { missing }
  }
}

function keyOf(project: string): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`)
  for (const { path, text } of filesIn(project, /./)) hash.update(`${path}\n${text}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** Made aside and then put in place: half a project never stands there, and another may be first. */
async function install(project: string, folder: string, prepare: Prepare): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(`${folder}.new-`)
  try {
    cpSync(join(root, project), aside, { recursive: true })
    cpSync(join(root, '.npmrc'), join(aside, '.npmrc'))
    // Not `npm ci`: it wants a binary of every platform in the lockfile, and mirrors lack some.
    const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    await execute('npm', ['install', ...flags], { cwd: aside, env: npmEnvironment() })
    await prepare(aside)
    try {
      renameSync(aside, folder)
    } catch (error) {
      if (!existsSync(folder)) throw error
    }
  } finally {
    rmSync(aside, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** What any shell has, and where npm finds packages; nothing of the run that we are part of. */
export function npmEnvironment(): Readonly<Record<string, string | undefined>> {
  const kept =
    /^(?:HOME|TMPDIR|NODE_EXTRA_CA_CERTS|.*_proxy|npm_config_(?:registry|cache|userconfig))$/i
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name))),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
    // The Node of these tests brings its own certificates; npm may need those of the machine.
    NODE_USE_SYSTEM_CA: '1',
  }
}
