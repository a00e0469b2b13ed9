import { terminalWidth } from './output.ts'

/** Called with how much is done, and of how much. */
export type OnProgress = (done: number, total: number) => void

const counted = (done: number, total: number) => `${done} of ${total}`

/** For a known part of the whole: gets numbers up to a hundred. */
export const percent = (done: number) => `${done} %`

/**
 * One line on standard error that says how far `work` is; nothing if that is not a terminal. The work
 * then gets `undefined`, and need not count.
 */
export async function withProgress<T>(
  message: string,
  work: (onProgress: OnProgress | undefined) => Promise<T>,
  worded: (done: number, total: number) => string = counted,
): Promise<T> {
  if (!process.stderr.isTTY) return work(undefined)
  let shown = ''
  const show = (text: string) => {
    // A longer line could not be written over. Some terminals do not know their width.
    const width = process.stderr.columns || terminalWidth
    const fitting = text.length < width ? text : `${text.slice(0, width - 2)}…`
    if (fitting !== shown) process.stderr.write(`\r${clearLine}${fitting}`)
    shown = fitting
  }
  const interrupted = () => {
    show('')
    process.stderr.write('Interrupted; the same command goes on from here.\n')
    process.exit(1)
  }
  process.once('SIGINT', interrupted)
  try {
    return await work((done, total) => show(`${message} ${worded(done, total)}`))
  } finally {
    process.off('SIGINT', interrupted)
    show('')
  }
}

/** From the cursor to the end. */
const clearLine = '\u001B[K'
