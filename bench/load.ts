import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Sends until the time is up, or until every request was sent once. */
export interface LoadOrder {
  readonly kind: 'send'
  readonly url: string
  readonly connections: number
  readonly milliseconds?: number
  /** Requests a second, however long the answers take; as fast as they are answered if left out. */
  readonly perSecond?: number
}

/** Signs a request about each of these payments; signatures are valid for five minutes. */
export interface SignOrder {
  readonly kind: 'sign'
  readonly payments: readonly string[]
}

export interface LoadResult {
  /** Answered 200. */
  readonly accepted: number
  readonly refused: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** When the first request was sent. */
  readonly startedAt: number
  /** When each payment's request was answered, if they were sent at a pace. */
  readonly answeredAt: Readonly<Record<string, number>>
}

export interface Load {
  sign(payments: readonly string[]): Promise<void>
  send(order: Omit<LoadOrder, 'kind'>): Promise<LoadResult>
  stop(): void
}

/** Starts the load generator. */
export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)))
  const ended = once(child, 'exit').then(() => {
    throw new Error('the load generator ended')
  })
  ended.catch(() => {})
  const ask = async (order: LoadOrder | SignOrder) => {
    child.send(order)
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as [
      LoadResult | { readonly error: string } | 'signed',
    ]
    if (typeof answer === 'object' && 'error' in answer) throw new Error(answer.error)
    return answer
  }
  return {
    sign: async (payments) => void (await ask({ kind: 'sign', payments })),
    send: async (order) => (await ask({ kind: 'send', ...order })) as LoadResult,
    stop: () => void child.kill(),
  }
}
