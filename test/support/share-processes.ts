import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const declareFiles = new URL('declare-files.ts', import.meta.url).href

const unitTests = /^src\//
const unitProcesses = 4

/**
 * What a run starts: the tests beside the code share a few processes, for most of them need less
 * than the start of one; every other file has its own. The folder gets what loads them.
 */
export function shareProcesses(files: readonly string[], folder: string): readonly string[] {
  const units = files.filter((file) => unitTests.test(file))
  const others = files.filter((file) => !unitTests.test(file))
  const shared = Array.from({ length: unitProcesses }, (_, at) => {
    const path = join(folder, `unit-tests-${at + 1}.mjs`)
    const part = units.filter((_unit, index) => index % unitProcesses === at)
    writeFileSync(path, loaderOf(part))
    return path
  })
  return [...others, ...shared]
}

function loaderOf(files: readonly string[]): string {
  return `import { declareFiles } from ${JSON.stringify(declareFiles)}
declareFiles(${JSON.stringify(files, undefined, 2)})
`
}
