/** A value that is made at its first use, by whoever comes first, and again after a failure. */
export interface MadeOnce<T> {
  get(): Promise<T>
  /** The value if it has been made, without making it. */
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
