import { endOf } from '../../src/rehearsal/rehearsal.ts'
import type { RehearsalPlay } from '../../src/rehearsal/rehearsal.ts'

export type Act<Result> = (play: RehearsalPlay) => Promise<Result>

/**
 * Plays several acts on one rehearsal: an act that lets time go by waits for the clock, which goes
 * from one of these times to the next. Only one act is on at a time, so each finds what it would
 * find alone. Nobody may close the rehearsal, or let the service be down, meanwhile.
 * Each act by its name: a test awaits its own, and fails alone.
 */
export async function playTogether<Result>(
  play: RehearsalPlay,
  acts: Readonly<Record<string, Act<Result>>>,
): Promise<ReadonlyMap<string, Promise<Result>>> {
  const waiting: { readonly at: Date; readonly goOn: () => void }[] = []
  let rest: () => void = () => {}
  /** Until the act that begins, or goes on, waits for the clock or has ended. */
  const untilItRests = (begin: () => void) =>
    new Promise<void>((rests) => {
      rest = rests
      begin()
    })
  const advance = (by: string | Date) =>
    new Promise<void>((goOn) => {
      waiting.push({ at: typeof by === 'string' ? endOf(by, play.now()) : by, goOn })
      rest()
    })
  const played = new Map<string, Promise<Result>>()
  for (const [name, act] of Object.entries(acts)) {
    await untilItRests(() => {
      const ended = act({ ...play, advance })
      played.set(name, ended)
      ended.then(rested, rested)
    })
  }
  function rested(): void {
    rest()
  }
  for (;;) {
    waiting.sort((one, other) => one.at.getTime() - other.at.getTime())
    const next = waiting.shift()
    if (next === undefined) return played
    await play.advance(next.at)
    await untilItRests(next.goOn)
  }
}
