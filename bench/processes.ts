import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface StartOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Running<Ready> {
  /** What it said when it was ready. */
  readonly ready: Ready
  readonly pid: number
  /** Rejects if it ends by itself with an error. */
  readonly failed: Promise<never>
  stop(): Promise<void>
}

/** For what hangs: on a machine that is busy besides, a start takes long. */
const readyWithinMs = 120_000
const shownOnFailure = 2_000

/** The product's commands; the rest of the arguments follow. */
export const product = '../src/cli/main.ts'

/**
 * Starts a script of Node's, named relative to this folder, and waits for its first line: JSON, as
 * the product prints with `--json`. Nothing of the caller's settings leaks into it.
 */
export async function start<Ready>(
  [script, ...args]: readonly [string, ...string[]],
  { cwd, env }: StartOptions = {},
): Promise<Running<Ready>> {
  const { PATH = '', HOME = '' } = process.env
  const file = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    // An open input keeps PostgreSQL running, and ends it with this process.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const killIt = () => void child.kill()
  process.once('exit', killIt)
  const ended = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (text: Buffer) => {
    said = `${said}${text.toString()}`.slice(-shownOnFailure)
  })
  const lines = createInterface({ input: child.stdout })
  const command = [script, ...args].join(' ')
  const first = await Promise.race([
    once(lines, 'line', { signal: AbortSignal.timeout(readyWithinMs) }).catch((cause: unknown) => {
      killIt()
      const within = `within ${readyWithinMs / 1000} s`
      throw new Error(`${command} was not ready ${within}:\n${said}`, { cause })
    }),
    ended,
  ])
  if (typeof first[0] !== 'string') throw new Error(`${command} ended:\n${said}`)
  const failed = ended.then(([code]) => {
    if (code === 0) return new Promise<never>(() => {})
    throw new Error(`${command} ended with ${code}:\n${said}`)
  })
  failed.catch(() => {})
  return {
    ready: JSON.parse(first[0]) as Ready,
    pid: child.pid ?? Number.NaN,
    failed,
    stop: async () => {
      process.off('exit', killIt)
      child.stdin.end()
      child.kill()
      await ended
    },
  }
}
