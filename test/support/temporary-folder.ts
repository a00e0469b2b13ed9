import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder extends Disposable {
  readonly path: string
  remove(): void
}

/** An empty folder of the test's own; `using` or `remove()` takes it away with its content. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'quittance-'))
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  return { path, remove, [Symbol.dispose]: remove }
}
