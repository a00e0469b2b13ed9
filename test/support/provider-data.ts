import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

/** Files that the providers' protocol sheets come with: signature vectors and sample bodies. */
export interface ProviderData {
  readJson(path: string): unknown
  readBytes(path: string): Buffer
  list(folder: string): readonly string[]
}

/**
 * Declares a test on the folder that PROVIDER_DATA names. Unset, it is skipped, but never on CI; a
 * folder or a file that cannot be read fails it.
 */
export function testWithProviderData(
  name: string,
  run: (data: ProviderData) => void | Promise<void>,
): void {
  const folder = process.env['PROVIDER_DATA']
  if (folder !== undefined && folder !== '') {
    test(name, () => run(open(folder)))
    return
  }
  const missing = 'PROVIDER_DATA is not set: it names the folder of the vectors and samples'
  if (process.env['CI'] === 'true') {
    test(name, () => {
      throw new Error(missing)
    })
    return
  }
  test(name, { skip: missing })
}

function open(folder: string): ProviderData {
  const root = resolve(folder)
  const readBytes = (path: string) => orExplain(root, () => readFileSync(join(root, path)))
  return {
    readBytes,
    readJson: (path) => JSON.parse(readBytes(path).toString('utf8')) as unknown,
    list: (path) => orExplain(root, () => readdirSync(join(root, path)).toSorted()),
  }
}

function orExplain<T>(root: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new Error(`PROVIDER_DATA is set, but its folder ${root} cannot be read`, { cause })
  }
}
