import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '')

export interface SourceFile {
  /** From the repository's root, with `/`. */
  readonly path: string
  readonly text: string
}

export function filesIn(folder: string, pattern: RegExp): readonly SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).split(sep).join('/'))
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: read(path) }))
}

/** Files of the repository's root itself. */
export function topFiles(pattern: RegExp): readonly SourceFile[] {
  return readdirSync(root)
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: read(path) }))
}

/** Product code: no tests. What they share is in `test/`. */
export function productFiles(): readonly SourceFile[] {
  return filesIn('src', /\.ts$/).filter(({ path }) => !path.endsWith('.test.ts'))
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The specifiers of every import and re-export, dynamic ones with a literal included. */
export function importsOf({ text }: SourceFile): readonly string[] {
  const code = withoutComments(text)
  const patterns = [
    /^\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^\s*import\s*['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]/g,
  ]
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ''))
}

/** A relative import as a path from the root; undefined for a package. */
export function importedPath(from: SourceFile, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const target = join(root, from.path, '..', specifier)
  return relative(root, target).split(sep).join('/')
}

/** Good enough for our own style: comments stand on lines of their own, or behind two spaces. */
export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1')
}
