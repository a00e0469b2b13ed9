/** Runs one command after another, each as if the process were its own. See command-host.ts. */
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { WriteStream } from 'node:tty'
import { run } from '../../src/cli/run.ts'

/** What the command takes for a terminal; what it prints is still read by its caller. */
export interface Terminal {
  readonly columns: number
  /** Pressed again and again by a person; without them there is no input. */
  readonly keys?: string
}

export interface HostedCommand {
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly terminal?: Terminal | undefined
  /** Written to both outputs where those of this command end. */
  readonly mark: string
}

const { stdout, stderr } = process
const homeFolder = process.cwd()
let ownResources: readonly string[] = []

process.on('message', (command: HostedCommand) => void runOne(command))

async function runOne({ args, cwd, env, terminal, mark }: HostedCommand): Promise<void> {
  const listeners = stdout.listeners('error')
  ownResources = process.getActiveResourcesInfo()
  replaceEnvironment(env)
  process.chdir(cwd)
  process.exitCode = undefined
  const leaveTerminal = terminal && enterTerminal(terminal)
  await run(args)
  leaveTerminal?.()
  await nothingIsLeft()
  const code = process.exitCode ?? 0
  process.exitCode = undefined
  process.chdir(homeFolder)
  for (const listener of stdout.listeners('error')) {
    if (!listeners.includes(listener)) stdout.off('error', listener as () => void)
  }
  stdout.write(`${mark}${code}\n`)
  stderr.write(`${mark}\n`)
}

function replaceEnvironment(env: HostedCommand['env']): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** Returns what takes the terminal away again. */
function enterTerminal({ columns, keys }: Terminal): () => void {
  const { getColorDepth } = WriteStream.prototype
  const named = { isTTY: true, columns, getColorDepth }
  for (const stream of [stdout, stderr]) Object.assign(stream, named)
  const input = new Readable({ read() {} })
  if (keys !== undefined) Object.assign(input, { isTTY: true, setRawMode: () => input })
  const pressing = setInterval(() => input.push(keys), 100).unref()
  const own = Object.getOwnPropertyDescriptor(process, 'stdin')
  const replaceInput = (descriptor: PropertyDescriptor) => {
    Object.defineProperty(process, 'stdin', descriptor)
    syncBuiltinESMExports()
  }
  replaceInput({ value: input, configurable: true })
  return () => {
    clearInterval(pressing)
    input.destroy()
    if (own !== undefined) replaceInput(own)
    for (const stream of [stdout, stderr]) {
      for (const name of Object.keys(named)) Reflect.deleteProperty(stream, name)
    }
  }
}

const endLimitMs = 180_000

/** A process of its own would end now: nothing that would keep it alive may be left. */
async function nothingIsLeft(): Promise<void> {
  const deadline = performance.now() + endLimitMs
  for (;;) {
    const left = leftOver()
    if (left.length === 0) return
    if (performance.now() > deadline) {
      stderr.write(`the command does not end, it left open: ${left.join(', ')}\n`)
      process.exit(70)
    }
    await pause(2)
  }
}

function leftOver(): readonly string[] {
  const own = [...ownResources]
  return process.getActiveResourcesInfo().filter((resource) => {
    const at = own.indexOf(resource)
    if (at === -1) return true
    own.splice(at, 1)
    return false
  })
}
