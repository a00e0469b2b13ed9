/** `npm run fresh-files`: writes what initdb makes into src/database/embedded; needs GNU tar. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { freshFilesUrl } from '../../src/database/embedded/fresh-files.ts'
import { runInitdb } from './fresh-files.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The three databases of a fresh server are nearly alike: the window holds more than one. */
const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }

using temporary = temporaryFolder()
const folder = join(temporary.path, 'database')
await runInitdb(folder)
const flags = ['--format=ustar', '--sort=name', '--mtime=@0', '--owner=0', '--group=0']
const archive = execFileSync('tar', [...flags, '--directory', folder, '--create', '.'], {
  maxBuffer: 1024 ** 3,
})
writeFileSync(freshFilesUrl, brotliCompressSync(archive, { params }))
