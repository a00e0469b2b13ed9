import { setTimeout as pause } from 'node:timers/promises'
import {
  countDuePayments,
  readDuePayments,
  readDueTime,
  takeDuePayment,
  type DuePayments,
} from '../database/due-payments.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { PollReply } from '../gateways/operations.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'
import { isPassing } from '../database/failure.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { lackingCredential, requireGateway, requireOperation } from '../gateways/require.ts'
import type { MoneyContext } from '../money/context.ts'
import { isProviderDown, pollPayment, pollTogether } from '../money/poll-payment.ts'
import { repairEvents } from './repair-events.ts'

/** Which payments are polled, and how to watch it. */
export interface ReconcileOptions {
  /** Only payments of this gateway, by name or alias. */
  readonly gateway?: string | undefined
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  /** For how long payments are taken; if left out, all that were due at the start. */
  readonly lasts?: Duration | undefined
  /** Ends the run between two payments. */
  readonly signal?: AbortSignal | undefined
}

/** The result of a run. */
export interface ReconcileResult {
  /** Payments that were polled. */
  readonly polled: number
  /** Of these, those whose status changed. */
  readonly changed: number
  /** Those that could not be polled; they are due again. */
  readonly failed: number
  /** Events of paid payments that had never been dispatched. */
  readonly repaired: number
  /** Gateways whose provider was out of reach, so that the rest of their payments waits. */
  readonly unreachable: readonly string[]
}

/** Requests under way to one provider at a time. */
const mostAtOnce = 4
const usualPollsPerMinute = 600
/** Payments that are chosen together; what becomes due meanwhile is of the next run anyway. */
const chosenTogether = 20
const notTogether = 'payments were not polled together'
/** After this many in a row without an answer, the provider is left alone until the next run. */
const mostUnanswered = 3
/**
 * A scheduled run ends by then, so that a slow provider holds up nobody; the next run continues.
 */
const scheduledFor = seconds(50)

/**
 * Polls every payment that is due when the run begins, once, each in its own transactions, and
 * defers the events that were never dispatched. If a run is killed, nothing is lost: what it had
 * taken is due again after a few minutes. Errors, for a gateway that is named: `gateway_unknown`,
 * `operation_unsupported`, `gateway_not_configured`.
 */
export async function reconcile(
  context: MoneyContext,
  options: ReconcileOptions = {},
): Promise<ReconcileResult> {
  const asked = askedGateways(context, options.gateway)
  const polling = pollDue(asked, context, options)
  const repairing = repairEvents(context)
  // Nothing goes on unattended if one of them fails.
  await Promise.allSettled([polling, repairing])
  return { ...(await polling), repaired: await repairing }
}

async function pollDue(
  asked: readonly RegisteredGateway[],
  context: MoneyContext,
  options: ReconcileOptions,
): Promise<Omit<ReconcileResult, 'repaired'>> {
  const { db } = context.processing.database
  const tally = { polled: 0, changed: 0, failed: 0, unreachable: new Set<string>() }
  const dueAt = await readDueTime(db)
  const due = options.onProgress ? await countDuePayments(db, dueAt) : []
  const names = new Set(asked.map(({ gateway }) => gateway.name))
  const total = due.reduce((sum, one) => (names.has(one.gateway) ? sum + one.due : sum), 0)
  const run: Run = {
    context,
    options,
    dueAt,
    tally,
    onDone: () => {
      const done = tally.polled + tally.failed
      options.onProgress?.(done, Math.max(total, done))
    },
  }
  await allOf(asked.map((found) => reconcileGateway(found, run)))
  return { ...tally, unreachable: [...tally.unreachable].toSorted() }
}

/** A scheduled run. Rejects if a provider was out of reach: such a run does not count as done. */
export async function reconcileDue(context: MoneyContext, signal: AbortSignal): Promise<void> {
  const asked = askedGateways(context)
  const { unreachable } = await pollDue(asked, context, { signal, lasts: scheduledFor })
  signal.throwIfAborted()
  if (unreachable.length === 0) return
  const text = `out of reach: ${unreachable.join(', ')}; their payments are due again`
  throw new QuittanceError('provider_unreachable', text)
}

interface Run {
  readonly context: MoneyContext
  readonly options: ReconcileOptions
  readonly dueAt: Date
  readonly tally: {
    polled: number
    changed: number
    failed: number
    readonly unreachable: Set<string>
  }
  onDone(): void
}

/** One that is named must be there to be asked: else it would look as if all were well. */
function askedGateways(
  { processing: { gateways } }: MoneyContext,
  only?: string,
): readonly RegisteredGateway[] {
  if (only === undefined) return gateways.list().filter(isAskable)
  const found = requireGateway(gateways, only)
  requireOperation(found, 'poll')
  return [found]
}

function isAskable(found: RegisteredGateway): boolean {
  const { gateway, credentials } = found
  return gateway.poll !== undefined && credentials.configured && !lackingCredential(found)
}

async function reconcileGateway(found: RegisteredGateway, run: Run): Promise<void> {
  const { gateway } = found
  const spacing = minutes(1) / (gateway.pollsPerMinute ?? usualPollsPerMinute)
  const end = performance.now() + (run.options.lasts ?? Infinity)
  const underWay = new Set<Promise<void>>()
  // Two refunds of one payment are polled by one request.
  const asked = new Set<string>()
  const failures: unknown[] = []
  let unanswered = 0
  const ask = async ({ charge, said }: Taken) => {
    try {
      unanswered = (await reconcilePayment(charge, run, said)) ? 0 : unanswered + 1
    } catch (error) {
      failures.push(error)
    }
  }
  let asksTogether = gateway.pollTogether !== undefined
  const lookAhead = async (ids: readonly string[]) => {
    if (!asksTogether) return undefined
    const said = await pollTogether(ids, found, run.context).catch((error: unknown) => {
      // For the rest of the run each is asked about alone, as long as the database answers.
      asksTogether = false
      if (isProviderDown(error)) unanswered += 1
      run.context.processing.log.warn({ err: error, gateway: gateway.name }, notTogether)
      return new Map<string, PollReply>()
    })
    if (said !== undefined) await pause(spacing)
    return said
  }
  const isOver = () =>
    performance.now() > end ||
    run.options.signal?.aborted === true ||
    failures.length > 0 ||
    unanswered >= mostUnanswered
  try {
    for await (const taken of takeDue(gateway, run, { isOver, lookAhead })) {
      if (asked.has(taken.charge)) continue
      asked.add(taken.charge)
      const asking = ask(taken).finally(() => underWay.delete(asking))
      underWay.add(asking)
      // What is known already is no request.
      if (taken.said === undefined) await pause(spacing)
      if (underWay.size >= mostAtOnce) await Promise.race(underWay)
    }
  } catch (error) {
    failures.push(error)
  }
  await Promise.all(underWay)
  if (unanswered >= mostUnanswered) run.tally.unreachable.add(gateway.name)
  if (failures.length > 0) throw failures[0]
}

/** A charge to be polled, and what its provider has said of it among others. */
interface Taken {
  readonly charge: string
  readonly said: PollReply | undefined
}

interface Taking {
  isOver(): boolean
  /** What the provider says of payments that are chosen, and not taken yet. */
  lookAhead(ids: readonly string[]): Promise<ReadonlyMap<string, PollReply> | undefined>
}

/**
 * Takes the payments of a gateway that are due, one by one; those first of which an answer is there,
 * so that it does not grow old.
 */
async function* takeDue(
  { name: gateway, pollTogether: together }: Gateway,
  { context, dueAt }: Run,
  { isOver, lookAhead }: Taking,
): AsyncGenerator<Taken> {
  const { db } = context.processing.database
  const limit = Math.max(chosenTogether, together?.most ?? 0)
  // Another process has them, or a transaction locks them: they may stay due.
  const passed = new Set<string>()
  while (!isOver()) {
    const due = await readDuePayments(db, { gateway, dueAt }, { limit, passed })
    const chosen = inShares(due, limit)
    if (chosen.length === 0) return
    const said = (await lookAhead(chosen)) ?? new Map<string, PollReply>()
    for (const id of new Set([...said.keys(), ...chosen])) {
      if (isOver()) return
      const charge = await takeDuePayment(db, id, dueAt)
      if (charge === undefined) passed.add(id)
      else yield { charge, said: said.get(charge) }
    }
  }
}

/** Waits for all of them, then throws the first failure: nothing goes on unattended. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(works)
  const failed = ended.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** False if the provider is out of reach. Rejects only if the database is. */
async function reconcilePayment(id: string, run: Run, said?: PollReply): Promise<boolean> {
  const { context, tally } = run
  try {
    const { changed } = await pollPayment(id, context, said)
    tally.polled += 1
    if (changed) tally.changed += 1
    run.onDone()
    return true
  } catch (error) {
    if (isPassing(error)) throw error
    tally.failed += 1
    run.onDone()
    context.processing.log.warn({ err: error, payment: id }, 'a payment was not reconciled')
    return !isProviderDown(error)
  }
}

type Order = keyof DuePayments

/**
 * Whose turn it is, again and again: however many are due, a young payment never waits for those
 * that nobody will pay, and none waits for ever.
 */
const turns: readonly Order[] = ['unanswered', 'youngest', 'longestDue', 'youngest']
/** An order without more leaves its turn to the first of these that has. */
const instead: readonly Order[] = ['unanswered', 'youngest', 'longestDue']

/** Which payments are polled next, in this order, each once. */
export function inShares(due: DuePayments, most: number): readonly string[] {
  const chosen = new Set<string>()
  const chooseFrom = (order: Order) => {
    const next = due[order].find((id) => !chosen.has(id))
    if (next !== undefined) chosen.add(next)
    return next !== undefined
  }
  const all = new Set([...due.unanswered, ...due.youngest, ...due.longestDue])
  const count = Math.min(most, all.size)
  while (chosen.size < count) {
    for (const order of turns) {
      if (chosen.size < count) [order, ...instead].some(chooseFrom)
    }
  }
  return [...chosen]
}
