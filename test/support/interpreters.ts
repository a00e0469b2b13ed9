import { spawnSync } from 'node:child_process'

/** Another language, as Debian has it. */
export interface Interpreter {
  readonly program: 'php' | 'python3'
  /** Why it cannot run the examples; a reason skips their tests, loudly. */
  readonly missing: string | false
}

/** What each must be able to do, as an argument list that succeeds if it can. */
const proofs = {
  php: ['-r', "exit(extension_loaded('pdo_sqlite') ? 0 : 1);"],
  python3: ['-c', 'import sqlite3, urllib.request, http.server'],
} as const

const packages = { php: 'php-cli and php-sqlite3', python3: 'python3' } as const

/** Looks for it, and says so if it is not there. */
export function interpreter(program: keyof typeof proofs): Interpreter {
  const { status } = spawnSync(program, proofs[program], { stdio: 'ignore' })
  if (status === 0) return { program, missing: false }
  const missing = `NO ${program.toUpperCase()}: install Debian's packages ${packages[program]}`
  process.stderr.write(`\n${missing}\n\n`)
  return { program, missing }
}
