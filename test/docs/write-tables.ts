// Writes what follows from the code: the tables of the pages, the list of exports, .env.example, what
// help says of the gateways, the type of quittance.config.ts, the alerts of facts: npm run tables
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../tidy/source-files.ts'
import { generated } from './generated.ts'

const written = [...generated()]
for (const [path, text] of written) writeFileSync(join(root, path), text)
const formatted = written.map(([path]) => path).filter((path) => /\.md$|-summaries\.ts$/.test(path))
execFileSync(join(root, 'node_modules/.bin/oxfmt'), formatted, { cwd: root, stdio: 'inherit' })
