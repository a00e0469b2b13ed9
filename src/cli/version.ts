import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

// Read, not imported: the file is outside of what is compiled, at the same place for both.
const folder = fileURLToPath(new URL('../..', import.meta.url))

interface PackageFile {
  readonly version: string
  /** The commit that `npm run package` was run on. */
  readonly gitHead?: string
}

/** Of the package in this folder, or of the checkout: `0.1.0+3e0c2426d1f0`; `0.1.0` from npm. */
export function versionIn(folder: string): string {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  const { version, gitHead = commitIn(folder) } = JSON.parse(text) as PackageFile
  return gitHead === undefined ? version : `${version}+${gitHead.slice(0, 12)}`
}

const reference = /^ref: (refs\/\S+)$/

/** The commit of a checkout; undefined if this is none. Git itself may not be installed. */
export function commitIn(folder: string): string | undefined {
  const read = (name: string) => {
    const path = join(folder, '.git', name)
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
  }
  const head = read('HEAD')
  const [, name] = reference.exec(head ?? '') ?? []
  const commit =
    name === undefined
      ? head
      : (read(name) ??
        read('packed-refs')
          ?.split('\n')
          .find((line) => line.endsWith(` ${name}`))
          ?.split(' ')[0])
  return commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

export const version = versionIn(folder)
