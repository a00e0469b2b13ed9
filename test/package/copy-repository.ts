import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../tidy/source-files.ts'

/** What is needed to run tests of a changed tree, and nothing that is built. */
const parts = [
  'src',
  'test',
  'docs',
  'deploy',
  'package.json',
  'tsconfig.json',
  'README.md',
  'CONTRIBUTING.md',
  '.env.example',
]

export function copyRepository(folder: string): void {
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}
