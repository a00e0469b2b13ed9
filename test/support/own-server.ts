import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A PostgreSQL server of the caller's own, for settings that would reach every other test. */
export interface OwnServer {
  readonly url: string
  stop(): Promise<void>
}

const serverFile = fileURLToPath(import.meta.resolve('./postgres-server.ts'))

/** `binaries`: the folder of an installed one. */
export async function startOwnServer(binaries?: string): Promise<OwnServer> {
  const flags = ['--in-memory', ...(binaries === undefined ? [] : [`--binaries=${binaries}`])]
  const child = spawn(process.execPath, [serverFile, ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((end) => child.once('exit', () => end()))
  let output = ''
  for await (const text of child.stdout as AsyncIterable<Buffer>) {
    output += text.toString()
    if (output.includes('\n')) break
  }
  const started = JSON.parse(output) as { readonly url?: string; readonly error?: string }
  if (started.url === undefined) throw new Error(`no PostgreSQL: ${started.error}`)
  return {
    url: started.url,
    stop: () => {
      child.stdin.end()
      return ended
    },
  }
}
