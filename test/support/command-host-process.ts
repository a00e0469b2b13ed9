/** Runs one command after another, each as if the process were its own. See command-host.ts. */
import { setTimeout as pause } from 'node:timers/promises'
import { run } from '../../src/cli/run.ts'

export interface HostedCommand {
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  /** Written to both outputs where those of this command end. */
  readonly mark: string
}

const { stdout, stderr } = process
const homeFolder = process.cwd()
let ownResources: readonly string[] = []

process.on('message', (command: HostedCommand) => void runOne(command))

async function runOne({ args, cwd, env, mark }: HostedCommand): Promise<void> {
  const listeners = stdout.listeners('error')
  ownResources = process.getActiveResourcesInfo()
  replaceEnvironment(env)
  process.chdir(cwd)
  process.exitCode = undefined
  await run(args)
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

const endLimitMs = 20_000

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
