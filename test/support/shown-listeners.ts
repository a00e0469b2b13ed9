import assert from 'node:assert/strict'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ListenersOption } from '../../src/billing/listeners-option.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { codeBlocks } from '../docs/markdown.ts'
import { read, root } from '../tidy/source-files.ts'

/** Where users find a listener: a page, or a file of an example. */
const page = 'docs/13-subscriptions.md'
const example = 'examples/subscription-shop/listeners.ts'
export const shownIn = [page, example] as const

type Run = (event: never, context: never) => unknown
type Registered = readonly [of: never, name: string, run: Run, options?: object]

declare global {
  /** What the examples that run here get as their `billing`. */
  var billingsOfExamples: Map<string, object> | undefined
}

/** What a listener runs, around which a test puts something of its own. */
export type Around = (run: Run) => Run

/**
 * Listeners as they are shown, for the billing of a test: those that are registered beside the one of
 * this name. Their own names say where they are shown.
 */
export async function shownListeners(
  path: (typeof shownIn)[number],
  wanted: string,
  { core, around }: { readonly core: () => object; readonly around: Around },
): Promise<ListenersOption> {
  const found: Record<string, ListenersOption[string]> = {}
  const on = (...[of, name, run, options]: Registered) => {
    found[`${name} of ${path}`] = { on: of, run: around(run), ...options }
  }
  const get = (_: object, field: string): unknown =>
    field === 'on' ? on : Reflect.get(core(), field)
  const blocks = path === page ? codeBlocks({ path, text: read(path) }) : [{ code: read(path) }]
  const shown = blocks.find(({ code }) => code.includes(`'${wanted}'`))
  assert.ok(shown, `${path} shows ${wanted}`)
  await run(path, shown.code, new Proxy({}, { get }))
  return found
}

async function run(path: string, code: string, billing: object): Promise<void> {
  const name = newUuid()
  globalThis.billingsOfExamples ??= new Map()
  globalThis.billingsOfExamples.set(name, billing)
  const found = (specifier: string): string => {
    if (specifier === './billing.ts') {
      return moduleOf(`export const billing = billingsOfExamples.get('${name}')`)
    }
    if (specifier === 'quittance') return new URL('../../src/index.ts', import.meta.url).href
    return new URL(specifier, pathToFileURL(join(root, path))).href
  }
  const text = stripTypeScriptTypes(code).replaceAll(
    /(?<=\bfrom )'([^']+)'/g,
    (_, specifier: string) => `"${found(specifier)}"`,
  )
  await import(moduleOf(text))
}

function moduleOf(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`
}
