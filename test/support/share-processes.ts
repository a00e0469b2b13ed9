import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Enough that both cores have work to the end; each start costs as much as a few small files. */
const processes = 8

const declareFiles = new URL('declare-files.ts', import.meta.url).href

/**
 * Deals the test files out to a few processes: most need less than it takes to start one, to compile
 * PGlite there and to get our code fast. The folder gets the files that load them.
 */
export function shareProcesses(files: readonly string[], folder: string): readonly string[] {
  return Array.from({ length: processes }, (_, at) => {
    const path = join(folder, `share-${at + 1}.mjs`)
    const part = files.filter((_file, index) => index % processes === at)
    writeFileSync(
      path,
      `import { declareFiles } from ${JSON.stringify(declareFiles)}
declareFiles(${JSON.stringify(part, undefined, 2)})
`,
    )
    return path
  })
}
