import assert from 'node:assert/strict'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ListenersOption } from '../../src/billing/listeners-option.ts'
import { codeBlocks } from '../docs/markdown.ts'
import { read, root } from '../tidy/source-files.ts'

/** Where users find a listener: a page, or a file of an example. */
const page = 'docs/13-subscriptions.md'
const example = 'examples/subscription-shop/listeners.ts'
export const shownIn = [page, example] as const

type Run = (event: never, context: never) => unknown

/** What a listener runs, around which a test puts something of its own. */
export type Around = (run: Run) => Run

/** Listeners as they are shown beside the one of this name. Their names say where. */
export async function shownListeners(
  path: (typeof shownIn)[number],
  wanted: string,
  around: Around,
): Promise<ListenersOption> {
  const blocks = path === page ? codeBlocks({ path, text: read(path) }) : [{ code: read(path) }]
  const shown = blocks.find(({ code }) => code.includes(`  ${wanted}: {`))
  assert.ok(shown, `${path} shows ${wanted}`)
  const listeners = await load(path, shown.code)
  return Object.fromEntries(
    Object.entries(listeners).map(([name, { run, ...listener }]) => [
      `${name} of ${path}`,
      { ...listener, run: around(run) } as ListenersOption[string],
    ]),
  )
}

async function load(path: string, code: string): Promise<ListenersOption> {
  const found = (specifier: string): string =>
    specifier === 'quittance'
      ? new URL('../../src/index.ts', import.meta.url).href
      : new URL(specifier, pathToFileURL(join(root, path))).href
  const text = stripTypeScriptTypes(code).replaceAll(
    /(?<=\bfrom )'([^']+)'/g,
    (_, specifier: string) => `"${found(specifier)}"`,
  )
  const shown = `data:text/javascript,${encodeURIComponent(text)}`
  return ((await import(shown)) as { readonly listeners: ListenersOption }).listeners
}
