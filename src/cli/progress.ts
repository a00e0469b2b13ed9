/** Called with how much is done, and of how much. */
export type OnProgress = (done: number, total: number) => void

/** Room for the bar and its numbers in one line. */
const narrowest = 60

const counted = (done: number, total: number) => `${done} of ${total}`

/** For a known part of the whole: gets numbers up to a hundred. */
export const percent = (done: number) => `${done} %`

/**
 * A bar on standard error while `work` runs; nothing if that is not a terminal. The work then gets
 * `undefined`, and need not count.
 */
export async function withProgress<T>(
  message: string,
  work: (onProgress: OnProgress | undefined) => Promise<T>,
  worded: (done: number, total: number) => string = counted,
): Promise<T> {
  const { isTTY, columns } = process.stderr
  // Some terminals, e.g. in containers, do not know their width.
  if (!isTTY || columns < narrowest) return work(undefined)
  const { progress } = await import('@clack/prompts')
  const max = 1000
  const bar = progress({
    max,
    size: 30,
    output: process.stderr,
    withGuide: false,
    cancelMessage: 'Interrupted; the same command goes on from here.',
    onCancel: () => process.exit(1),
  })
  let shown = 0
  // By default, Ctrl-C at a bar ends the process with exit code 0.
  const interrupted = () => {
    process.exitCode = 1
  }
  process.once('exit', interrupted)
  bar.start(message)
  try {
    return await work((done, total) => {
      const reached = total === 0 ? 0 : Math.floor((done / total) * max)
      bar.advance(reached - shown, `${message} ${worded(done, total)}`)
      shown = reached
    })
  } finally {
    process.off('exit', interrupted)
    bar.clear()
  }
}
