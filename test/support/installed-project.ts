import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { root } from '../tidy/source-files.ts'

/** Packages that only some tests need, or why they are not there: a reason skips these, loudly. */
export type InstalledProject =
  | { readonly folder: string; readonly missing: false }
  | { readonly missing: string }

const papers = ['package.json', 'package-lock.json']

/**
 * What a project within `test/` has in its lockfile, installed once: kept for as long as neither it
 * nor `node_modules` is replaced. Nothing may be written there.
 */
export function installedProject(project: string): InstalledProject {
  const folder = join(
    root,
    'node_modules/.cache/projects',
    `${basename(project)}-${keyOf(project)}`,
  )
  try {
    if (!existsSync(folder)) install(project, folder)
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
  for (const name of papers) hash.update(readFileSync(join(root, project, name)))
  return hash.digest('hex').slice(0, 16)
}

/** Made aside and then put in place: half a project never stands there, and another may be first. */
function install(project: string, folder: string): void {
  const made = `${folder}.${process.pid}`
  mkdirSync(made, { recursive: true })
  try {
    for (const name of papers) copyFileSync(join(root, project, name), join(made, name))
    // Not `npm ci`: it wants a binary of every platform in the lockfile, and mirrors lack some.
    const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    execFileSync('npm', ['install', ...flags], { cwd: made, env: npmEnvironment(), stdio: 'pipe' })
    if (!existsSync(folder)) renameSync(made, folder)
  } finally {
    rmSync(made, { recursive: true, force: true, maxRetries: 3 })
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
