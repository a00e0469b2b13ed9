import type { Kysely } from 'kysely'
import { writeMinutes, type MinuteCount } from '../database/counts.ts'
import type { Tables } from '../database/tables.ts'
import type { Clock } from '../kernel/clock.ts'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { entryOf } from './catalogue.ts'
import type { Numbers, Slot } from './slots.ts'

export interface FlushOptions {
  readonly numbers: Numbers
  readonly db: Kysely<Tables>
  /** Names this process: no two count under one name. */
  readonly process: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
}

export interface Flush {
  /** Writes what was counted since. Never rejects. */
  now(): Promise<void>
  /** The same, and the last time. */
  stop(): Promise<void>
}

const every: Duration = seconds(10)
/** Either way: processes that started together do not write together. */
const apart: Duration = seconds(2)
const minute: Duration = minutes(1)
/** While the database is away. */
const mostMinutes = 60

/** What was counted in a minute that is over. */
interface EndedMinute {
  readonly at: Date
  readonly counts: readonly MinuteCount[]
}

/**
 * Writes the numbers of this process every ten seconds, by minutes: those of the present one, and of
 * those that are not known to be written. Whole values, so that a write whose answer was lost is
 * repeated. What a process that is killed has counted since the last write is gone.
 */
export function startFlush(options: FlushOptions): Flush {
  const { db, log, random, process } = options
  const counting = countByMinutes(options)
  let underWay: Promise<void> | undefined
  let isAway = false
  async function write(): Promise<void> {
    const { counts, done } = counting.due()
    try {
      await writeMinutes(db, process, counts)
      done()
      isAway = false
    } catch (error) {
      // Said once: it is tried again every ten seconds.
      if (!isAway) log.warn({ err: error }, 'the counts could not be written; they are kept')
      isAway = true
    }
  }
  const now = () => (underWay ??= write().finally(() => (underWay = undefined)))
  let timer = setTimeout(tick, 0)
  function tick(): void {
    void now()
    timer = setTimeout(tick, every - apart + 2 * apart * random()).unref()
  }
  timer.unref()
  return {
    now,
    async stop() {
      clearTimeout(timer)
      counting.stop()
      await underWay
      await now()
    },
  }
}

/** Tells apart what belongs to which minute. */
function countByMinutes({ numbers, clock }: Pick<FlushOptions, 'numbers' | 'clock'>) {
  const lost = numbers.slot('counts_lost_total', {})
  /** The values at the beginning of the present minute. */
  const begun = new Map<Slot, number>()
  let present = startOf(clock())
  let ended: readonly EndedMinute[] = []
  /** What was written last of the present minute. */
  let written = ''

  const since = (): readonly MinuteCount[] =>
    Array.from(numbers.slots(), (slot) => ({ slot, value: slot.value - (begun.get(slot) ?? 0) }))
      .filter(({ value }) => value > 0)
      .map(({ slot, value }) => countOf(slot, present, value))
  function turn(): void {
    const now = startOf(clock())
    // A clock that is set back stays in its minute until it is reached again.
    if (now <= present) return
    const counts = since()
    for (const slot of numbers.slots()) begun.set(slot, slot.value)
    if (counts.length > 0) ended = [...ended, { at: present, counts }]
    for (const dropped of ended.slice(0, -mostMinutes)) lost.value += dropped.counts.length
    ended = ended.slice(-mostMinutes)
    present = now
    written = ''
  }
  const untilTurn = () => minute - (clock().getTime() % minute)
  let timer = setTimeout(turnOver, untilTurn()).unref()
  function turnOver(): void {
    turn()
    timer = setTimeout(turnOver, untilTurn()).unref()
  }
  return {
    /** What is to be written, and what to do once it is. */
    due() {
      turn()
      const counts = since()
      const text = JSON.stringify(counts)
      const whole = ended
      return {
        counts: [...whole.flatMap((one) => one.counts), ...(text === written ? [] : counts)],
        done() {
          ended = ended.filter((one) => !whole.includes(one))
          if (counts[0]?.at === present) written = text
        },
      }
    },
    stop: () => clearTimeout(timer),
  }
}

function startOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / minute) * minute)
}

/** As it is stored: the gateway has a column of its own. */
function countOf({ metric, labels }: Slot, at: Date, value: number): MinuteCount {
  const hasGateway = entryOf(metric).labels[0] === 'gateway'
  const [gateway = '', ...rest] = hasGateway ? labels : ['', ...labels]
  return { at, metric, gateway, label: rest.join('/'), value }
}
