import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import made from './fresh-files.json' with { type: 'json' }

/**
 * A new database as a tar archive of its files. initdb needs seconds for them: `npm run fresh-files`
 * writes down what it makes, and a test compares that with what initdb of the installed PGlite makes.
 */
export function freshFiles(): Buffer<ArrayBuffer> {
  return brotliDecompressSync(Buffer.from(made.archive, 'base64'))
}

/**
 * Makes a database in a folder that is not there yet. The files are written aside, and renamed when
 * they are complete: a kill leaves no half-made database.
 */
export function unpackInto(folder: string): void {
  const aside = `${folder}.initialising`
  rmSync(aside, { recursive: true, force: true })
  for (const { name, content } of entriesOf(freshFiles())) {
    const path = join(aside, name)
    mkdirSync(content === undefined ? path : dirname(path), { recursive: true, mode: 0o700 })
    if (content !== undefined) writeFileSync(path, content, { mode: 0o600 })
  }
  renameSync(aside, folder)
}

interface Entry {
  readonly name: string
  /** Undefined for a folder. */
  readonly content: Buffer | undefined
}

const blockBytes = 512

/** Reads the plain form of the format (ustar); the archive holds files and folders alone. */
function* entriesOf(archive: Buffer): Generator<Entry> {
  for (let at = 0; archive[at] !== 0;) {
    const text = (from: number, length: number) =>
      archive.toString('latin1', at + from, at + from + length).replace(/\0.*$/s, '')
    const size = Number.parseInt(text(124, 12), 8)
    const begin = at + blockBytes
    const isFolder = text(156, 1) === '5'
    yield {
      name: text(0, 100),
      content: isFolder ? undefined : archive.subarray(begin, begin + size),
    }
    at = begin + Math.ceil(size / blockBytes) * blockBytes
  }
}
