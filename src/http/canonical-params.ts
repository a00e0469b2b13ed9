import { readUuid } from '../kernel/uuid.ts'

/** The parts of a path, its ids in their canonical spelling. */
export function canonicalParams<Params extends Readonly<Record<string, string>>>(
  params: Params,
): Params {
  const entries = Object.entries(params).map(([name, value]) => [name, readUuid(value) ?? value])
  return Object.fromEntries(entries) as Params
}
