import { url as inspectorUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { isEnding, type WatchdogSettings } from './watchdog-settings.ts'

const missedBeats = 10

/**
 * Ends the process when its main thread stands still for about ten seconds (a listener that blocks
 * the CPU): its leases then run out and another worker takes the calls.
 * Not while a debugger is attached, which stops the main thread for good reason.
 */
export function startWatchdog(beatMs = 1_000): void {
  if (inspectorUrl() !== undefined) return
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData: WatchdogSettings = { beats, beatMs, missedBeats }
  // Published files end in .js, a checkout's in .ts.
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const thread = new Worker(new URL(`./watchdog-thread${extension}`, import.meta.url), {
    workerData,
    execArgv: [],
  })
  thread.unref()
  setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref()
  // A process that has stopped may need long to end, where what it leaves behind is written slowly.
  process.once('exit', () => Atomics.store(beats, 0, isEnding))
}
