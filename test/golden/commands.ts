import assert from 'node:assert/strict'
import { runHosted } from '../support/command-host.ts'
import { startLocalService } from '../support/local-service.ts'
import type { Ending } from '../support/process.ts'
import type { GoldenWorld } from './world.ts'

/**
 * Each command as it is typed, with words of the world in braces. They run in this order: first what
 * looks, then what changes something.
 */
export const commandLines = [
  'migrate',
  'gateways',
  'listeners list',
  'send fake --list',
  'doctor',
  'find {paid}',
  'find --in-calls {paid}',
  'payments list',
  'payments show {paid}',
  'payments show {refund}',
  'payment-methods list',
  'subscriptions list',
  'subscriptions show {local}',
  'subscriptions show {managed}',
  'subscriptions due --within 60d',
  'subscriptions rehearse --stories',
  'subscriptions rehearse --plan pro --months 1',
  'usage show {metered}',
  'invoices list',
  'invoices show {invoice}',
  'invoices export --month {month} --format jsonl',
  'calls list',
  'calls show {call}',
  'events list',
  'events show {event}',
  'events tail --after start',
  'endpoints list',
  'endpoints attempts one',
  'reviews list',
  'reviews show {review}',
  'payments create --gateway scripted --amount 1999 --currency UAH --payable order:42',
  'payments cancel {owed}',
  'payments cancel {paid}',
  'poll {open}',
  'refund {settled} --amount 1',
  'usage record {metered} calls --key one',
  'invoices issue {paid}',
  'invoices void {unpaid}',
  'subscriptions create --gateway scripted --payable account:7 --plan pro',
  'subscriptions change {local} --plan pro',
  'subscriptions pause {local}',
  'subscriptions resume {local}',
  'subscriptions sync {managed}',
  'subscriptions pay {metered}',
  'subscriptions cancel {local}',
  'subscriptions hold maintenance',
  'subscriptions release',
  'subscriptions run',
  'payment-methods remove {card}',
  'endpoints create shop --url {app}',
  'endpoints show shop',
  'endpoints update shop --description changed',
  'endpoints test shop',
  'endpoints rotate-secret shop',
  'endpoints disable shop',
  'endpoints enable shop',
  'endpoints replay shop --after start',
  'endpoints resend shop {event}',
  'endpoints delete shop',
  'events resend {event} --forward-to {app}',
  'operators add olena --role viewer --expires 90d',
  'operators list',
  'operators sign-out olena',
  'operators remove olena',
  'operators actions',
  'reviews handle {review} --note looked',
  'calls replay {call}',
  'calls replay --failed',
  'listeners forget grantAccess',
  'reconcile',
  'backfill --gateway stripe --since 1h',
  'stripe-register-webhook',
  'paddle-register-webhook',
  'prune',
  'listen --forward-to {app}',
  'send fake --payment {pending} --url {service}',
  'work',
  'serve',
] as const

/** What those say that go on until they are interrupted. */
const endless: Readonly<Record<string, string>> = {
  'events tail': '"type":',
  listen: '"forward_to":',
  work: '"queues":',
}

/** Runs one of them; what it prints as JSON, a document or one a line. */
export async function printedBy(line: string, world: GoldenWorld): Promise<readonly unknown[]> {
  if (line === 'serve') return [await announcedIn(world)]
  const args = line
    .split(' ')
    .map((word) => word.replace(/^\{(\w+)\}$/, (_all, name: string) => world.values[name] ?? ''))
  const [, until] =
    Object.entries(endless).find(([words]) => `${line} `.startsWith(`${words} `)) ?? []
  const { cwd, env } = world
  const hosted = await runHosted([...args, '--json'], { cwd, env, ...(until && { until }) })
  return documentsIn(hosted, line)
}

/** As `serve --json` does, within this process: `work` has ended that of the commands. */
async function announcedIn({ cwd, env }: GoldenWorld): Promise<unknown> {
  const service = await startLocalService({ cwd, env })
  try {
    return JSON.parse(service.announcedJson())
  } finally {
    await service.stop()
  }
}

function documentsIn({ stdout, stderr, code, signal }: Ending, line: string): readonly unknown[] {
  try {
    return [JSON.parse(stdout.join('\n'))]
  } catch {
    assert.ok(stdout.length > 0, `${line}: ${code ?? signal}, ${stderr.join('\n')}`)
    return stdout.map((one) => JSON.parse(one) as unknown)
  }
}
