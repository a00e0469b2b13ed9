/** `npm run openapi`: writes the document of the management API into src/http/api/openapi.json. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../tidy/source-files.ts'
import { openApiDocument } from './document.ts'

const path = join(root, 'src/http/api/openapi.json')
writeFileSync(path, JSON.stringify(openApiDocument()))
execFileSync(join(root, 'node_modules/.bin/oxfmt'), [path], { cwd: root, stdio: 'inherit' })
