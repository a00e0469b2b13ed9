import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { fillBacklog, newPayments } from './backlog.ts'
import { untilFinished } from './finished-work.ts'
import { startLoad } from './load.ts'
import { webhookPath } from './requests.ts'
import { publish } from './publish.ts'
import { createRounds, type Figure } from './rounds.ts'
import { startService, type BenchOptions } from './service.ts'

const idleAfterMs = 5_000

/**
 * Megabytes that `serve` holds, as the package is published: before its first callback, and at most
 * under full load.
 */
export async function benchMemory(options: BenchOptions): Promise<readonly Figure[]> {
  const { server, settings, progress } = options
  const payments = newPayments(settings.together.postgres)
  const url = await server.create()
  await fillBacklog({ url }, { payments, callbacks: false })
  const main = await publish()
  const rounds = createRounds()
  for (let round = 1; round <= settings.rounds; round += 1) {
    progress(`memory, round ${round} of ${settings.rounds}`)
    rounds.add('serve, PostgreSQL', await runRound({ url, main }, payments, options))
  }
  return rounds.figures()
}

async function runRound(
  { url, main }: { readonly url: string; readonly main: string },
  payments: readonly string[],
  options: BenchOptions,
) {
  const service = await startService(
    { command: ['serve'], listener: 'no listener', copyOf: { url }, main },
    options,
  )
  const load = startLoad()
  try {
    const { running, database } = service
    await load.sign(payments)
    await pause(idleAfterMs)
    const idle = await readMemory(running.pid, 'VmRSS')
    const target = new URL(webhookPath, running.ready.url).href
    await load.send({ url: target, connections: 256 })
    await Promise.race([untilFinished(database), running.failed])
    return { idle, atMost: await readMemory(running.pid, 'VmHWM') }
  } finally {
    load.stop()
    await service.stop()
  }
}

/** NaN where the system does not tell. */
async function readMemory(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status) ?? []
  return Number(kilobytes ?? Number.NaN) / 1024
}
