/**
 * A queue connection only says that there are calls to look at: the stored call is the truth, and
 * losing an announcement costs time, never a call.
 */
export interface QueueConnection {
  readonly name: string
  /**
   * Calls are inserted already leased by this process, and have their first attempt before the
   * answer. Workers make the others, like those of any call.
   */
  readonly inline: boolean
  /** Wakes workers because calls wait. Runs after the commit. */
  announce(): Promise<void>
  /** Resolves when all announcements have been sent. */
  flushed(): Promise<void>
  /**
   * Wakes `onWork` whenever calls may wait; the worker also polls every second. `everyQueue`: it
   * takes calls of every queue, so nobody else needs to hear of ours.
   */
  subscribe(
    onWork: () => void,
    options?: { readonly everyQueue: boolean },
  ): Promise<() => Promise<void>>
}
