import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder extends Disposable {
  readonly path: string
  remove(): void
}

/** An empty folder of the test's own; `using` or `remove()` takes it away with its content. */
export function temporaryFolder(place = spaciousPlace()): TemporaryFolder {
  const path = mkdtempSync(join(place, 'quittance-test-'))
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  return { path, remove, [Symbol.dispose]: remove }
}

const memory = '/dev/shm'
const enoughBytes = 2 * 1024 ** 3

/** In memory where the system offers that: what tests write need not outlive them. */
export function spaciousPlace(): string {
  return freeBytes(memory) > enoughBytes ? memory : tmpdir()
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}
