import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Where endpoints are: those that take what they get, and the dead. */
export interface Places {
  readonly living: readonly string[]
  readonly dead: readonly string[]
}

/** What those that live have got. */
export interface Report {
  /** Different events of the one that has the fewest. */
  readonly fewest: number
  /** Events that an endpoint had already. */
  readonly repeated: number
  /** When half of all had come, nearly all, and the last one: milliseconds since 1970. */
  readonly p50At: number
  readonly p99At: number
  readonly lastAt: number
}

export interface Receivers {
  readonly places: Places
  report(): Promise<Report>
  stop(): void
}

/** Starts the apps of so many endpoints. */
export async function startReceivers(living: number, dead: number): Promise<Receivers> {
  const file = fileURLToPath(new URL('receivers-process.ts', import.meta.url))
  const child = fork(file, [String(living), String(dead)])
  const ended = once(child, 'exit').then(() => {
    throw new Error('the receivers ended')
  })
  ended.catch(() => {})
  const said = async <T>() => {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [T]
    return message
  }
  return {
    places: await said<Places>(),
    report() {
      child.send('report')
      return said<Report>()
    },
    stop: () => void child.kill(),
  }
}
