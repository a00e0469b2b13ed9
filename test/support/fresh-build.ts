import { execFileSync } from 'node:child_process'
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')

/**
 * Builds `dist` if something in `src` is newer: what tests run from there is never stale. Made
 * aside and then put in place, because another test run may be reading the old one.
 */
export function freshBuild(): void {
  const begun = new Date()
  if (newestChange() <= changeOf(dist)) return
  const made = join(root, `dist.${process.pid}`)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  // Unchecked: the types are the check's business, and a test should not wait for them.
  const args = [compiler, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', made]
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  utimesSync(made, begun, begun)
  putInPlace(made)
}

/** Another run may be doing the same: whoever comes second throws his own away. */
function putInPlace(made: string): void {
  const old = `${made}.old`
  if (changeOf(dist) > 0) tolerate(['ENOENT'], () => renameSync(dist, old))
  tolerate(['ENOTEMPTY', 'EEXIST'], () => renameSync(made, dist))
  for (const folder of [old, made]) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}

function tolerate(codes: readonly string[], work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Folders too: their time tells of files that are gone. */
function newestChange(): number {
  const src = join(root, 'src')
  const inside = readdirSync(src, { recursive: true, encoding: 'utf8' })
  const inputs = inside.filter((name) => !name.endsWith('.test.ts')).map((name) => join(src, name))
  const settings = ['tsconfig.json', 'tsconfig.build.json'].map((name) => join(root, name))
  return Math.max(...[...inputs, ...settings].map(changeOf))
}

/** Milliseconds; 0 for what does not exist. */
function changeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
