/** A value that is made at its first use, and again after a failure. */
export interface MadeOnce<T> {
  get(): Promise<T>
  /** The value if it was made already; does not make it. */
  peek(): Promise<T | undefined>
  readonly begun: boolean
}

export function makeOnce<T>(make: () => Promise<T>): MadeOnce<T> {
  let made: Promise<T> | undefined
  const start = async () => {
    try {
      return await make()
    } catch (error) {
      made = undefined
      throw error
    }
  }
  return {
    get() {
      made ??= start()
      return made
    },
    async peek() {
      try {
        return await made
      } catch {
        return undefined
      }
    },
    get begun() {
      return made !== undefined
    },
  }
}
