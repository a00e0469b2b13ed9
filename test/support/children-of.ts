import { readFileSync } from 'node:fs'

/** The processes that this one has started and that still run, in the order of their start. */
export function childrenOf(pid: number | undefined): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}
