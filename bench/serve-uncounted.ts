/** The product's commands, but nothing is counted: what counting costs is the difference. */
import { registerHooks } from 'node:module'

const counted = new URL('../src/intake/count-answers.ts', import.meta.url).href
const uncounted = new URL('uncounted-answers.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    return resolved.url === counted ? { ...resolved, url: uncounted } : resolved
  },
})
await import('../src/cli/main.ts')
