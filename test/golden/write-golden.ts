/** `npm run golden`: writes what the outside relies on into the files beside this one. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { globalTeardown, preparePostgres } from '../support/global-setup.ts'
import { root } from '../tidy/source-files.ts'
import { goldenStructures } from './golden.ts'

await preparePostgres()
try {
  const paths = Object.entries(await goldenStructures()).map(([name, structure]) => {
    const path = join(root, `test/golden/${name}.json`)
    writeFileSync(path, JSON.stringify(structure))
    return path
  })
  execFileSync(join(root, 'node_modules/.bin/oxfmt'), paths, { cwd: root, stdio: 'inherit' })
} finally {
  await globalTeardown()
}
