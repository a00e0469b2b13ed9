import { announce, announceJson } from '../../src/cli/announce.ts'
import { readConfiguration } from '../../src/cli/env.ts'
import { openConfigured } from '../../src/cli/open-service.ts'
import { startService } from '../../src/cli/start-service.ts'
import { createLog } from '../../src/kernel/log.ts'
import { muchPatience } from './patience.ts'
import { cleanEnvironment } from './process.ts'
import { until } from './until.ts'

interface LocalServiceOptions {
  /** Where its configuration file is, and its data folder, if it has one. */
  readonly cwd: string
  /** On top of an otherwise almost empty environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly '--no-worker'[]
}

export interface LocalService {
  /** Origin, e.g. `http://127.0.0.1:40123`. */
  readonly url: string
  /** What it has logged. */
  readonly stderr: readonly string[]
  /** The first line of the log, past or future, that matches. */
  line(pattern: RegExp): Promise<string>
  /** The lines that a start prints; outside production it makes the sample payment for them. */
  announced(): Promise<readonly string[]>
  /** The line that a start prints for programs. */
  announcedJson(): string
  stop(): Promise<void>
}

/**
 * What `quittance serve` runs, within this process: for tests of what a service does, where commands
 * ask it or run beside it. A start of Node costs as much as many tests.
 */
export async function startLocalService({
  cwd,
  env = {},
  args = [],
}: LocalServiceOptions): Promise<LocalService> {
  const configuration = await configurationIn(cwd, {
    HOST: '127.0.0.1',
    PORT: '0',
    ...(env['DATABASE_URL'] === undefined && { BILLING_DATA_DIR: `${cwd}/.quittance` }),
    ...env,
  })
  const stderr: string[] = []
  const say = (line: string) => void stderr.push(line.trimEnd())
  const log = createLog({ level: 'info', destination: { write: say } })
  const commandLog = { log, say, flush: () => Promise.resolve() }
  const stage = { patience: muchPatience }
  const onLost = (error: Error) => {
    throw error
  }
  const service = await openConfigured({ configuration, commandLog, onLost, stage })
  const { http, stop } = await startService(service, { upkeepOnly: args.includes('--no-worker') })
  return {
    url: http.url,
    stderr,
    line: async (pattern) => {
      const found = () => stderr.find((line) => pattern.test(line))
      await until(() => found() !== undefined, { what: `the log has ${pattern}` })
      return found() ?? ''
    },
    announced: async () => {
      const lines: string[] = []
      await announce(service, http, (line = '') => lines.push(line))
      return lines
    },
    announcedJson: () => printedBy(() => announceJson(service, http)),
    stop,
  }
}

/** What is printed at once, within this process. */
function printedBy(print: () => void): string {
  const { stdout } = process
  const write = stdout.write.bind(stdout)
  let printed = ''
  stdout.write = (text: string | Uint8Array) => {
    printed += String(text)
    return true
  }
  try {
    print()
  } finally {
    stdout.write = write
  }
  return printed
}

/** The environment is read at once, and is this process's own again before anything else runs. */
function configurationIn(cwd: string, env: Readonly<Record<string, string>>) {
  const own = process.env
  process.env = { ...cleanEnvironment(), ...env }
  try {
    return readConfiguration(cwd)
  } finally {
    process.env = own
  }
}
