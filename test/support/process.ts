import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

export { freePort }

const mainFile = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface Output {
  /** Lines so far. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
}

/** Our program as a real process. */
export interface RunningProcess extends Output {
  readonly child: ChildProcess
  readonly ended: Promise<Ending>
  /** The first line, of either stream, past or future, that matches; fails if the process ends. */
  line(pattern: RegExp, timeoutMs?: number): Promise<string>
  /** SIGTERM, and how it ended. */
  stop(): Promise<Ending>
  /** `kill -9`. */
  kill(): Promise<Ending>
}

export interface Ending extends Output {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface RunningService extends RunningProcess {
  /** Origin, e.g. `http://127.0.0.1:40123`. */
  readonly url: string
}

export interface ProcessOptions {
  /** On top of an otherwise almost empty environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Flags for Node itself. */
  readonly nodeFlags?: readonly string[]
  /** Another program than ours. */
  readonly file?: string
  /** Where Node is, if it is not the one that runs the tests. */
  readonly node?: string
  /** Another runtime than Node: it gets the arguments alone. */
  readonly runtime?: string
  /** It reads what is written to `child.stdin`; left out: it has no input. */
  readonly stdin?: 'pipe'
}

/** Many times what a start takes: a busy machine must not fail a test. */
const defaultTimeoutMs = 180_000

/** What a failed test left behind must not keep its file from ending. */
const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** Nothing of the caller's settings leaks in: only what any shell has. */
export function cleanEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'PROVIDER_DATA', 'NODE_COMPILE_CACHE']
  return Object.fromEntries(
    kept.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function spawnProcess(args: readonly string[], options: ProcessOptions) {
  const { runtime, node = process.execPath, nodeFlags = [], file = mainFile } = options
  const program = runtime ?? node
  const words = runtime === undefined ? [...nodeFlags, file, ...args] : args
  const set = { env: { ...cleanEnvironment(), ...options.env }, cwd: options.cwd }
  return options.stdin === 'pipe'
    ? spawn(program, words, { ...set, stdio: ['pipe', 'pipe', 'pipe'] })
    : spawn(program, words, { ...set, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Starts `quittance <args>`. */
export function startProcess(
  args: readonly string[],
  options: ProcessOptions = {},
): RunningProcess {
  const child = spawnProcess(args, options)
  running.add(child)
  const stdout: string[] = []
  const stderr: string[] = []
  const watchers = new Set<(line: string) => void>()
  const keep = (lines: string[]) => (line: string) => {
    lines.push(line)
    for (const watch of watchers) watch(line)
  }
  createInterface({ input: child.stdout }).on('line', keep(stdout))
  createInterface({ input: child.stderr }).on('line', keep(stderr))
  const ended = new Promise<Ending>((end) => {
    child.once('close', (code, signal) => {
      running.delete(child)
      end({ code, signal, stdout, stderr })
    })
  })
  const signalled = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  const line = (pattern: RegExp, timeoutMs = defaultTimeoutMs) => {
    const past = [...stdout, ...stderr].find((text) => pattern.test(text))
    if (past !== undefined) return Promise.resolve(past)
    return new Promise<string>((found, failed) => {
      const end = (report: () => void) => {
        clearTimeout(timer)
        watchers.delete(watch)
        report()
      }
      const fail = (why: string) =>
        failed(new Error(`${why} before ${pattern}:\n${[...stdout, ...stderr].join('\n')}`))
      const watch = (text: string) => {
        if (pattern.test(text)) end(() => found(text))
      }
      const timer = setTimeout(() => end(() => fail(`${timeoutMs} ms passed`)), timeoutMs)
      watchers.add(watch)
      void ended.then(({ code, signal }) =>
        end(() => fail(`the process ended (${code ?? signal})`)),
      )
    })
  }
  return {
    child,
    stdout,
    stderr,
    ended,
    line,
    stop: () => signalled('SIGTERM'),
    kill: () => signalled('SIGKILL'),
  }
}

/** Runs a command to its end. */
export function runCommand(args: readonly string[], options: ProcessOptions = {}): Promise<Ending> {
  return startProcess(args, options).ended
}

const mostStarts = 3

/**
 * Starts `quittance serve` on a free port, or the given one, and waits until it answers. A free
 * port may be taken by somebody else before the service listens on it; then it gets another one.
 */
export async function startService(
  options: ProcessOptions & { readonly args?: readonly string[] } = {},
): Promise<RunningService> {
  const givenPort = options.env?.['PORT']
  for (let starts = 1; ; starts += 1) {
    const port = givenPort ?? String(await freePort())
    const running = startProcess(['serve', ...(options.args ?? [])], {
      ...options,
      env: { HOST: '127.0.0.1', ...options.env, PORT: port },
    })
    const url = `http://127.0.0.1:${port}`
    if (await isReady(running, url)) return { ...running, url }
    const { code, signal, stdout, stderr } = await running.kill()
    const said = [...stdout, ...stderr].join('\n')
    const mayStartAgain = givenPort === undefined && starts < mostStarts
    if (mayStartAgain && /port \d+ is in use/.test(said)) continue
    throw new Error(`the service did not become ready (${code ?? signal}):\n${said}`)
  }
}

/** Starts `quittance work` and waits until it says that it works. */
export async function startWorker(
  options: ProcessOptions & { readonly args?: readonly string[] } = {},
): Promise<RunningProcess> {
  const running = startProcess(['work', ...(options.args ?? [])], options)
  await running.line(/waiting for calls/)
  return running
}

/** False: it ended, or its time is up. Until it has said its address, another may answer there. */
async function isReady(running: RunningProcess, url: string): Promise<boolean> {
  const deadline = performance.now() + defaultTimeoutMs
  while (performance.now() < deadline) {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return false
    if (running.stdout.some((line) => line.includes(url))) {
      const answer = await fetch(`${url}/readyz`).catch(() => undefined)
      await answer?.arrayBuffer()
      if (answer?.status === 200) return true
    }
    await new Promise((wait) => setTimeout(wait, 25))
  }
  return false
}
