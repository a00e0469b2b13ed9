/** `npm run fresh-files`: writes what initdb makes into src/database/embedded; needs GNU tar. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { runInitdb } from './fresh-files.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { read } from '../tidy/source-files.ts'

const { version } = JSON.parse(read('node_modules/@electric-sql/pglite/package.json')) as {
  readonly version: string
}

/** The three databases of a fresh server are nearly alike: the window holds more than one. */
const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }

using temporary = temporaryFolder()
const folder = join(temporary.path, 'database')
await runInitdb(folder)
const flags = ['--format=ustar', '--sort=name', '--mtime=@0', '--owner=0', '--group=0']
const archive = execFileSync('tar', [...flags, '--directory', folder, '--create', '.'], {
  maxBuffer: 1024 ** 3,
})
// As JSON, which the compiler copies beside what it builds.
const made = {
  pglite: version,
  archive: brotliCompressSync(archive, { params }).toString('base64'),
}
const file = new URL('../../src/database/embedded/fresh-files.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(made, undefined, 2)}\n`)
