import { sql } from 'kysely'
import { titleWithName } from '../gateways/accounts.ts'
import type { OperationContext } from '../gateways/interpret-context.ts'
import type { PastEvent } from '../gateways/operations.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import { hours, minutes, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { idAt } from '../kernel/ids.ts'
import { blankedOut } from '../kernel/safe-error.ts'
import { newCall, type Intake } from '../intake/receive.ts'
import type { MoneyContext } from '../money/context.ts'

/** Whose events are listed, and since when. */
export interface BackfillOptions {
  /** Name or alias. */
  readonly gateway: string
  /** Events that happened then or later. */
  readonly since: Date
  /** Called with the part of that time that has been read, from 0 to 1. */
  readonly onProgress?: ((part: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** What the provider listed, and how much of it was new. */
export interface BackfillResult {
  readonly listed: number
  /** Stored as calls, which a worker processes like any other. */
  readonly stored: number
}

/**
 * Lists the provider's events and stores those that never reached us as calls: after an outage.
 * They go through the same processing, and what is already known changes nothing. If a run is
 * killed, start it again. Errors: `gateway_unknown`, `operation_unsupported`,
 * `gateway_not_configured`, `backfill_too_old`, and the provider's.
 */
export async function backfill(
  { gateway, since, onProgress, signal }: BackfillOptions,
  context: MoneyContext,
  intake: Intake,
): Promise<BackfillResult> {
  const found = requireGateway(context.processing.gateways, gateway)
  const source = requireOperation(found, 'backfill')
  const now = context.now()
  requireKept(since, now, { title: titleWithName(found.gateway), keptFor: source.keptFor })
  const known = await knownEvents(found, since, context)
  const operation: OperationContext = {
    credentials: found.credentials,
    log: context.processing.log,
    signal: signal ?? new AbortController().signal,
    now,
  }
  const covered = coverage(since, now)
  let listed = 0
  let stored = 0
  try {
    for await (const page of source.list(since, operation)) {
      signal?.throwIfAborted()
      const fresh = page.filter(({ id }) => !known.has(id))
      for (const { id } of fresh) known.add(id)
      // Together: they share a commit.
      await Promise.all(fresh.map((event) => store(event, found, intake)))
      listed += page.length
      stored += fresh.length
      onProgress?.(covered(page))
    }
  } catch (error) {
    throw blankedOut(error, context.processing.scrub)
  } finally {
    // Even what was stored before a failure.
    if (stored > 0) context.processing.wake()
  }
  return { listed, stored }
}

/** A time that is as old as allowed when it is typed is a little older when it gets here. */
const allowance = minutes(10)

function requireKept(
  since: Date,
  now: Date,
  { title, keptFor }: { readonly title: string; readonly keptFor: Duration },
): void {
  const oldest = new Date(now.getTime() - keptFor)
  if (since.getTime() >= oldest.getTime() - allowance) return
  const text = `${title} lists events since ${oldest.toISOString()} only`
  throw new QuittanceError('backfill_too_old', text)
}

const mostRows = 500
/** Clocks differ. */
const earlier = hours(1)

/** Ids of the events that we have, read from the calls of that time. */
async function knownEvents(
  { gateway }: RegisteredGateway,
  since: Date,
  { processing }: MoneyContext,
): Promise<Set<string>> {
  const known = new Set<string>()
  let after = idAt(new Date(since.getTime() - earlier))
  for (;;) {
    const { rows } = await sql<{ id: string; payload: string }>`
      select id, payload from billing.webhook_calls
      where gateway = ${gateway.name} and payload is not null and id > ${after}::uuid
      order by id limit ${mostRows}`.execute(processing.database.db)
    for (const { payload } of rows) {
      const id = gateway.backfill?.eventIdOf(payload)
      if (id !== undefined) known.add(id)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < mostRows) return known
    after = last.id
  }
}

/** A header says where the event came from: its signature was never seen. */
async function store(event: PastEvent, found: RegisteredGateway, intake: Intake): Promise<void> {
  const { name } = found.gateway
  const body = Buffer.from(event.body)
  const headers = { 'x-quittance-backfill': event.id }
  const request = { gateway: name, target: `/backfill/${name}`, headers, body }
  const payload = found.gateway.parse(request)
  const call = { ...newCall(request, { payload, found, intake }), leaseToken: null }
  if ((await intake.calls.store(call)) === 'stored') return
  throw new QuittanceError('database_unreachable', `event ${event.id} could not be stored`)
}

/** Lists may start at either end of the time; the furthest point reached counts. */
function coverage(since: Date, now: Date): (page: readonly PastEvent[]) => number {
  const whole = Math.max(1, now.getTime() - since.getTime())
  let first: number | undefined
  let furthest = 0
  return (page) => {
    for (const { at } of page) {
      first ??= at.getTime()
      furthest = Math.max(furthest, Math.abs(at.getTime() - first) / whole)
    }
    return Math.min(1, furthest)
  }
}
