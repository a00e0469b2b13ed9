import { mkdirSync, openSync, closeSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const shareFiles = new URL('share-files.ts', import.meta.url).href

/**
 * Makes a few processes share the test files: most files need less than it takes to start a process,
 * to compile PGlite there and to get our code fast. Each process takes the next file when it has run
 * its last one. The folder gets the programs of the processes, and what each has taken.
 */
export function shareProcesses(
  files: readonly string[],
  { folder, processes }: { readonly folder: string; readonly processes: number },
): readonly string[] {
  const taken = join(folder, 'taken')
  mkdirSync(taken)
  return Array.from({ length: processes }, (_, at) => {
    const path = join(folder, `share-${at + 1}.mjs`)
    writeFileSync(
      path,
      `import { shareFiles } from ${JSON.stringify(shareFiles)}
await shareFiles(${JSON.stringify(files, undefined, 2)}, ${JSON.stringify(taken)})
`,
    )
    return path
  })
}

/** Whether this process is the first that takes the file at this place of the list. */
export function takes(at: number, taken: string): boolean {
  try {
    closeSync(openSync(join(taken, String(at)), 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
