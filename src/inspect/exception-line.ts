/** What is shown of an exception: whose it is, and its first line. */
export interface ExceptionLine {
  /** The listener that threw it, if it says so. */
  readonly listener: string | null
  /** The first line, cut at 200 characters. Foreign text. */
  readonly line: string
}

/** Characters of an exception that are read to show its first line: the name of a listener comes first. */
export const exceptionBeginning = 1_000

const longestLine = 200
/** As it is stored of a call and of a deferred event, which may have several listeners. */
const inListener = 'in listener '

/** `listeners`: the names that are known, as a name may hold anything. */
export function exceptionLine(exception: string, listeners: readonly string[] = []): ExceptionLine {
  const [first = ''] = exception.split('\n', 1)
  if (!first.startsWith(inListener)) return { listener: null, line: cut(first) }
  const rest = first.slice(inListener.length)
  const known = listeners.find((name) => rest.startsWith(`${name}: `))
  const end = known === undefined ? rest.indexOf(': ') : known.length
  if (end < 0) return { listener: null, line: cut(first) }
  return { listener: rest.slice(0, end), line: cut(rest.slice(end + ': '.length)) }
}

function cut(line: string): string {
  return line.length <= longestLine ? line : line.slice(0, longestLine).toWellFormed()
}
