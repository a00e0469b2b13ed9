/**
 * What a statement does to the transaction that it is sent in: begins one, or ends the one begun
 * last. `refused`: it cannot be had as a savepoint.
 */
export type TransactionControl = 'begin' | 'commit' | 'rollback' | 'refused'

// Stryker disable next-line Regex: it spares most statements the look at their comments
const mayControl = /^[\s;]*(?:--|\/\*|(?:begin|start|commit|end|abort|prepare|rollback)\b)/i

const controls =
  /^(?:begin|start transaction|commit|end|abort|prepare transaction|rollback(?!(?: work| transaction)? to\b))\b/

/**
 * The isolation level and the access mode are those of the transaction around it: a stronger level
 * is refused, not ignored. Nothing may follow; only text that we know whole becomes a savepoint.
 */
const plain = {
  begin:
    /^(?:begin(?: work| transaction)?|start transaction)(?:,? (?:isolation level read (?:un)?committed|read write|not deferrable))*$/,
  commit: /^(?:commit|end)(?: work| transaction)?(?: and no chain)?$/,
  rollback: /^(?:rollback|abort)(?: work| transaction)?(?: and no chain)?$/,
}

/** Undefined for every other statement, savepoints too. */
export function readControl(text: string): TransactionControl | undefined {
  // Stryker disable next-line ConditionalExpression: the same
  if (!mayControl.test(text)) return undefined
  const words = withoutComments(text)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^[ ;]+|[ ;]+$/g, '')
    .toLowerCase()
  if (!controls.test(words)) return undefined
  const kinds = ['begin', 'commit', 'rollback'] as const
  return kinds.find((kind) => plain[kind].test(words)) ?? 'refused'
}

const outsideComments = /--[^\n\r]*|\/\*/g
const insideComments = /\/\*|\*\//g

/** As PostgreSQL reads them: block comments nest. Of strings it knows nothing. */
function withoutComments(text: string): string {
  let kept = ''
  let depth = 0
  let from = 0
  for (;;) {
    const mark = depth === 0 ? outsideComments : insideComments
    mark.lastIndex = from
    const found = mark.exec(text)
    if (depth === 0) kept += `${text.slice(from, found?.index)} `
    if (found === null) return kept
    from = mark.lastIndex
    if (found[0] === '/*') depth += 1
    if (found[0] === '*/') depth -= 1
  }
}
