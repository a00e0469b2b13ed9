import { readFileSync } from 'node:fs'

// Read, not imported: the file is outside of what is compiled, at the same place for both.
const packageFile = new URL('../../package.json', import.meta.url)

export const version = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string })
  .version
