import { noteRunnerHooks } from './runner-hook.ts'

noteRunnerHooks()
// It loads `node:test`.
const { preload } = await import('./preload.ts')
preload()
