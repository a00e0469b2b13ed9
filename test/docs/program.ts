import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface ProgramOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Where it listens once it is ready. */
  readonly port: number
}

/** What any shell has, and what was compiled before. */
export function shellEnvironment(): Readonly<Record<string, string>> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}

/** Runs a TypeScript file that serves, until it is disposed of. */
export async function startProgram(
  file: string,
  { cwd, env, port }: ProgramOptions,
): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [file], {
    cwd,
    env: { ...shellEnvironment(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text: Buffer) => (said += text.toString()))
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const deadline = performance.now() + 180_000
  while (!(await isListening(port))) {
    if (child.exitCode === null && performance.now() < deadline) await pause(25)
    else {
      await stop()
      throw new Error(`${file} does not listen:\n${said}`)
    }
  }
  return { [Symbol.asyncDispose]: stop }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((tell) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => tell(true)).once('error', () => tell(false))
    socket.once('connect', () => socket.destroy())
  })
}
