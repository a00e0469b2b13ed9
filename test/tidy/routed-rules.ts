/** A node of PostgreSQL's own parse tree: the name of its type, and its fields. */
type Node = Readonly<Record<string, unknown>>

/** What the rules need to know of a server. */
export interface Known {
  /** Whether each function of this name gives the same result for the same arguments, always. */
  isImmutable(name: string): boolean
}

/**
 * Why a PostgreSQL that spreads schemas over several servers (Citus) refuses a statement, or does not
 * send it to one server as it is.
 */
export function faultsIn(statement: unknown, known: Known): readonly string[] {
  const names = new Set(all(statement, 'CommonTableExpr').map(({ ctename }) => ctename))
  return (['InsertStmt', 'UpdateStmt', 'DeleteStmt'] as const).flatMap((kind) =>
    all(statement, kind).flatMap((change) => [
      ...faultsOfReturning(kind, change, known),
      ...(kind === 'InsertStmt' ? faultsOfInsert(change, names, known) : []),
      ...faultsOfValues(kind, change, known),
    ]),
  )
}

function faultsOfReturning(kind: string, change: Node, known: Known): readonly string[] {
  const returning = [change['returningList'], change['returningClause']]
  return [
    ...(asksAgain(returning, known) ? ['RETURNING asks for the time'] : []),
    ...(kind === 'InsertStmt' && has(returning, 'SubLink')
      ? ['RETURNING of an INSERT has a subquery']
      : []),
  ]
}

function faultsOfInsert(
  { relation, selectStmt, onConflictClause }: Node,
  names: ReadonlySet<unknown>,
  known: Known,
): readonly string[] {
  const select = field(selectStmt, 'SelectStmt') as Node | undefined
  const isFromRows = select !== undefined && !('valuesLists' in select)
  const isChecked = onConflictClause !== undefined
  const isOwn = ({ relname }: Node) => relname === (relation as Node)['relname']
  const own = new Set(select && all(select, 'CommonTableExpr').map(({ ctename }) => ctename))
  const read = select === undefined ? [] : tablesRead(select)
  return [
    ...(asksAgain(onConflictClause, known) ? ['ON CONFLICT asks for the time'] : []),
    ...(has(onConflictClause, 'SubLink') ? ['ON CONFLICT has a subquery'] : []),
    ...(isFromRows && has(onConflictClause, 'ParamRef') ? ['ON CONFLICT has a parameter'] : []),
    ...(!isFromRows && has(select, 'SubLink') ? ['VALUES has a subquery'] : []),
    ...(isFromRows && isChecked && read.some(isOwn)
      ? ['INSERT with ON CONFLICT selects from its own table']
      : []),
    ...(read.some(({ relname }) => names.has(relname) && !own.has(relname))
      ? ['INSERT selects from another part of the statement']
      : []),
  ]
}

/** A CASE or COALESCE of an UPDATE is decided by each server. */
function faultsOfValues(kind: string, change: Node, known: Known): readonly string[] {
  if (kind === 'InsertStmt') return []
  const written = [change['targetList'], change['whereClause']]
  const branches = [...all(written, 'CaseExpr'), ...all(written, 'CoalesceExpr')]
  return branches.some((branch) => asksAgain(branch, known))
    ? ['a change asks for the time in CASE or COALESCE']
    : []
}

/** Not those that its own materialized parts read. */
function tablesRead(select: Node): readonly Node[] {
  const { withClause: _parts, ...rest } = select
  return all(rest, 'RangeVar')
}

function asksAgain(part: unknown, { isImmutable }: Known): boolean {
  const called = all(part, 'FuncCall').map(({ funcname }) => lastName(funcname))
  return has(part, 'SQLValueFunction') || called.some((name) => !isImmutable(name))
}

function lastName(names: unknown): string {
  return String(field((names as readonly Node[]).at(-1)?.['String'], 'sval'))
}

function has(part: unknown, kind: string): boolean {
  return all(part, kind).length > 0
}

/** The nodes of a kind within a part, however deep. */
function all(part: unknown, kind: string): readonly Node[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, value]) => [
    ...(name === kind ? [value as Node] : []),
    ...all(value, kind),
  ])
}

function field(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
}
