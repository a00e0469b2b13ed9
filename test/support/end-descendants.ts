import { execFileSync } from 'node:child_process'

/**
 * Ends what this process has started, and what that has started: a process that is ended takes none
 * of its own along. What has a process group of its own, as the shared PostgreSQL, is left alone.
 */
export function endDescendants(): void {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid='], { encoding: 'utf8' })
  const rows = listed.trim().split('\n').map(numbersOf)
  const group = rows.find(({ pid }) => pid === process.pid)?.group
  const found = new Set([process.pid])
  for (let known = 0; known < found.size;) {
    known = found.size
    for (const row of rows) if (row.group === group && found.has(row.parent)) found.add(row.pid)
  }
  found.delete(process.pid)
  for (const pid of found) end(pid)
}

function numbersOf(line: string) {
  const [pid = 0, parent = 0, group = 0] = line.trim().split(/\s+/).map(Number)
  return { pid, parent, group }
}

function end(pid: number): void {
  try {
    process.kill(pid)
  } catch {
    // It has ended by itself: the `ps` above, for one.
  }
}
