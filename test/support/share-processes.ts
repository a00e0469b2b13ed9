import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { slowest } from './slow-first.ts'

interface Share {
  readonly name: string
  readonly files: RegExp
  readonly processes: number
}

/** Tests that start no process, and leave theirs as they found it. */
const shares: readonly Share[] = [
  { name: 'unit-tests', files: /^src\//, processes: 4 },
  { name: 'rooms', files: /^test\/rooms\//, processes: 1 },
  { name: 'scenarios', files: /^test\/scenarios\//, processes: 4 },
  {
    name: 'subscriptions',
    files: /^test\/subscriptions\/(?!processes|sync-processes)/,
    processes: 4,
  },
  { name: 'usage', files: /^test\/usage\/(?!processes|races)/, processes: 1 },
  { name: 'invoices', files: /^test\/invoices\/(?!export-load|numbering)/, processes: 1 },
  { name: 'money', files: /^test\/money\//, processes: 2 },
  { name: 'http', files: /^test\/http\/(?!connections|throttle|node-handler)/, processes: 2 },
  { name: 'conformance', files: /^test\/conformance\//, processes: 2 },
  { name: 'intake', files: /^test\/intake\/(?!failure|masking)/, processes: 1 },
  { name: 'faults', files: /^test\/faults\/(?:half-open|interleavings|lost-)/, processes: 1 },
  {
    name: 'cli',
    files: /^test\/(?:cli\/(?:doctor-(?!postgres)|help|tables)|testing\/(?:orders|signed))/,
    processes: 1,
  },
  { name: 'docs', files: /^test\/(?:docs\/(?!subscriptions|feed)|tidy\/)/, processes: 1 },
  { name: 'spec', files: /^test\/spec\/(?!configuration|limits|manual-|webhook-)/, processes: 2 },
]

const declareFiles = new URL('declare-files.ts', import.meta.url).href

/**
 * What a run starts, in order: the slow files, those that share a process, and the others. Most of
 * the shared ones need less than it takes to start a process, to compile PGlite there and to get
 * the code fast. The folder gets what loads them.
 */
export function shareProcesses(files: readonly string[], folder: string): readonly string[] {
  const shared = new Map(shares.map((share) => [share, [] as string[]]))
  const others: string[] = []
  for (const file of files) {
    const share = slowest.includes(file) ? undefined : shares.find((one) => one.files.test(file))
    const group = share === undefined ? others : shared.get(share)
    group?.push(file)
  }
  const slow = others.filter((file) => slowest.includes(file))
  const loaders = [...shared].flatMap(([share, its]) => writeLoaders(share, its, folder))
  return [...slow, ...loaders, ...others.filter((file) => !slowest.includes(file))]
}

function writeLoaders(
  { name, processes }: Share,
  files: readonly string[],
  folder: string,
): readonly string[] {
  return Array.from({ length: processes }, (_, at) => {
    const path = join(folder, `${name}-${at + 1}.mjs`)
    const part = files.filter((_file, index) => index % processes === at)
    writeFileSync(path, loaderOf(part))
    return path
  })
}

function loaderOf(files: readonly string[]): string {
  return `import { declareFiles } from ${JSON.stringify(declareFiles)}
declareFiles(${JSON.stringify(files, undefined, 2)})
`
}
