import { stripTypeScriptTypes } from 'node:module'
import { newUuid } from '../../src/kernel/ids.ts'

/** Code of an example or a page, and the file from which it imports. */
export interface ExampleCode {
  readonly code: string
  readonly url: URL
}

declare global {
  /** What the examples that run here get as their `billing`, by the runs. */
  var exampleBillings: Map<string, object> | undefined
}

/** Runs the code with this as the `billing` of its `./billing.ts`. */
export async function runExample({ code, url }: ExampleCode, billing: object): Promise<void> {
  const run = newUuid()
  globalThis.exampleBillings ??= new Map()
  globalThis.exampleBillings.set(run, billing)
  const found = (specifier: string): string => {
    if (specifier === './billing.ts') {
      return moduleOf(`export const billing = exampleBillings.get('${run}')`)
    }
    if (specifier === 'quittance') return new URL('../../src/index.ts', import.meta.url).href
    return new URL(specifier, url).href
  }
  const text = stripTypeScriptTypes(code).replaceAll(
    /(?<=\bfrom )'([^']+)'/g,
    (_, specifier: string) => `"${found(specifier)}"`,
  )
  await import(moduleOf(text))
}

function moduleOf(text: string): string {
  // Within quotes, an apostrophe is left as it is.
  return `data:text/javascript,${encodeURIComponent(text)}`
}
