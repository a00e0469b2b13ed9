import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { isEnding, type WatchdogSettings } from './watchdog-settings.ts'

const { beats, beatMs, missedBeats } = workerData as WatchdogSettings

let seen = Atomics.load(beats, 0)
let missed = 0

// Counts its own ticks, not time: a suspended machine stops both threads and must not count.
setInterval(() => {
  const now = Atomics.load(beats, 0)
  missed = now === seen ? missed + 1 : 0
  seen = now
  if (missed < missedBeats || now === isEnding) return
  sayWhy()
  // The main thread no longer runs any handler: only this ends it.
  process.kill(process.pid, 'SIGKILL')
}, beatMs)

function sayWhy(): void {
  try {
    writeSync(
      2,
      `quittance: the main thread did not answer for ${(missedBeats * beatMs) / 1000} s — ` +
        'Find the listener that blocks the CPU; the process ends, its calls are taken up again.\n',
    )
  } catch {
    // Maybe nobody reads it: that must not keep the process alive.
  }
}
