import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface LoadOrder {
  readonly url: string
  readonly milliseconds: number
  readonly connections: number
}

export interface LoadResult {
  /** Answered 200. */
  readonly accepted: number
  readonly refused: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Load {
  run(order: LoadOrder): Promise<LoadResult>
  stop(): void
}

/** Starts the load generator; it is ready once its requests are signed. */
export async function startLoad(requests: number): Promise<Load> {
  const child = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)), [`${requests}`])
  const ended = once(child, 'exit').then(() => {
    throw new Error('the load generator ended')
  })
  ended.catch(() => {})
  const message = async () =>
    ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0]
  await message()
  return {
    run: async (order) => {
      child.send(order)
      const result = (await message()) as LoadResult | { readonly error: string }
      if ('error' in result) throw new Error(`${order.url}: ${result.error}`)
      return result
    },
    stop: () => void child.kill(),
  }
}
