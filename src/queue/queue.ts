/**
 * A queue connection only says that there are calls to look at: the stored call is the truth, and losing an
 * announcement costs time, never a call.
 */
export interface QueueConnection {
  readonly name: string
  /**
   * Calls are inserted already leased by this process, and have their first attempt before the
   * answer. The others are made by whoever works, like those of any call.
   */
  readonly inline: boolean
  /** Tells workers that calls wait. Runs after the commit. */
  announce(): Promise<void>
  /** Resolves when all that was announced has been told. */
  told(): Promise<void>
  /**
   * Wakes `onWork` whenever calls may wait; the worker also looks by itself every second.
   * `everyQueue`: it takes calls of every queue, so that nobody else need be told of ours.
   */
  subscribe(
    onWork: () => void,
    options?: { readonly everyQueue: boolean },
  ): Promise<() => Promise<void>>
}
