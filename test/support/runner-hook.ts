/**
 * `node:test` watches every asynchronous resource of a process, to know in which suite a test is
 * declared: a tenth of what a test run costs. While the tests of a declared file run, nobody needs
 * that. What throws outside of any test is then a failure of the process, not of one test.
 */
import asyncHooks, { type AsyncHook, type HookCallbacks } from 'node:async_hooks'

const runnerHooks: AsyncHook[] = []

/** To be called before `node:test` is loaded. */
export function noteRunnerHooks(): void {
  const { createHook } = asyncHooks
  asyncHooks.createHook = (callbacks: HookCallbacks) => {
    const hook = createHook(callbacks)
    // The runner makes its hook while it is loaded; other packages ask for theirs later.
    if (/node:internal\/test_runner/.test(new Error().stack ?? '')) runnerHooks.push(hook)
    return hook
  }
}

/** To be called before tests are declared. */
export function holdRunnerHooks(): void {
  for (const hook of runnerHooks) hook.enable()
}

/** To be called when they are. */
export function releaseRunnerHooks(): void {
  for (const hook of runnerHooks) hook.disable()
}
