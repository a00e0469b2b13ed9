/** What the main thread and its watchdog agree on. */
export interface WatchdogSettings {
  /** Counted up by the main thread at every beat. */
  readonly beats: Int32Array
  readonly beatMs: number
  readonly missedBeats: number
}

/** In place of a count: the process has stopped in order, and ends. */
export const isEnding = -1
