import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { configFileName } from '../../src/cli/config-file.ts'
import type { HostedCommand, Terminal } from './command-host-process.ts'
import { cleanEnvironment, type Ending, type ProcessOptions } from './process.ts'
import { cheapFlags } from './run-files.ts'

const hostFile = fileURLToPath(new URL('command-host-process.ts', import.meta.url))

/**
 * A process that has our program loaded and runs one command after another. Between two commands it
 * keeps nobody, and it ends with whoever started it: the files of tests that share a process share it.
 */
interface Host {
  readonly child: ChildProcess
  /** The configuration files that it has loaded: it would never see what is written later. */
  readonly configs: Map<string, string>
  run(
    command: Omit<HostedCommand, 'mark'>,
    watching: Pick<HostedOptions, 'until' | 'onStderr'>,
  ): Promise<Ending>
}

let host: Host | undefined
let last: Promise<unknown> = Promise.resolve()

export interface HostedOptions extends Pick<ProcessOptions, 'cwd' | 'env'> {
  /** Interrupted, as by Ctrl-C, once it has printed this. */
  readonly until?: string
  /** Gets what it writes there, as it comes. */
  readonly onStderr?: (text: string) => void
  readonly terminal?: Terminal
}

/**
 * Runs a command to its end, without a start of Node for each: for what is about the command's
 * words and its work, not about its process. One after another; `serve` and `work` end the process.
 */
export function runHosted(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, terminal, ...watching }: HostedOptions = {},
): Promise<Ending> {
  const ending = last.then(() => {
    const command = { args, cwd, env: { ...cleanEnvironment(), ...env }, terminal }
    return hostFor(cwd).run(command, watching)
  })
  last = ending.catch(() => {})
  return ending
}

function hostFor(cwd: string): Host {
  const name = configFileName(cwd)
  const path = join(cwd, name ?? '')
  const text = name === undefined ? '' : readFileSync(path, 'utf8')
  const known = host?.configs.get(path)
  if (host !== undefined && known !== undefined && known !== text) {
    host.child.kill()
    host = undefined
  }
  host ??= startHost()
  host.configs.set(path, text)
  return host
}

function startHost(): Host {
  const child = spawn(process.execPath, [...cheapFlags, hostFile], {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const { stdout, stderr } = child
  assert.ok(stdout !== null && stderr !== null)
  for (const one of [child, stdout as Socket, stderr as Socket]) one.unref()
  child.channel?.unref()
  const outputs = [stdout, stderr].map((input) => createInterface({ input }))
  const gone = new Promise<Pick<Ending, 'code' | 'signal'>>((end) => {
    child.once('close', (code, signal) => {
      if (host?.child === child) host = undefined
      end({ code, signal })
    })
  })
  const run: Host['run'] = async (command, { until, onStderr }) => {
    const mark = randomUUID()
    const interrupt = (line: string) => {
      if (until === undefined || !line.includes(until)) return
      outputs[0]?.off('line', interrupt)
      // While the command goes on, it takes the signal.
      child.kill('SIGINT')
    }
    outputs[0]?.on('line', interrupt)
    const hear = (chunk: Buffer) => onStderr?.(chunk.toString())
    stderr.on('data', hear)
    const texts = outputs.map((): string[] => [])
    const marked = outputs.map((output, at) => linesUntil(output, mark, texts[at] ?? []))
    child.channel?.ref()
    child.send({ ...command, mark })
    const code = Promise.all(marked).then(([said = '']) => Number(said))
    // A command that ends its process ends this one.
    const ending = await Promise.race([code.then((code) => ({ code, signal: null })), gone])
    outputs[0]?.off('line', interrupt)
    stderr.off('data', hear)
    child.channel?.unref()
    const [out = [], err = []] = texts
    return { ...ending, stdout: out, stderr: err }
  }
  return { child, configs: new Map(), run }
}

/** Collects lines up to the mark; what follows it there. */
function linesUntil(
  output: ReturnType<typeof createInterface>,
  mark: string,
  lines: string[],
): Promise<string> {
  return new Promise((found) => {
    const watch = (line: string) => {
      const at = line.indexOf(mark)
      const text = at === -1 ? line : line.slice(0, at)
      if (at === -1 || text !== '') lines.push(text)
      if (at === -1) return
      output.off('line', watch)
      found(line.slice(at + mark.length))
    }
    output.on('line', watch)
  })
}
