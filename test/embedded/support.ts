import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import {
  openEmbedded,
  type Embedded,
  type EmbeddedOptions,
} from '../../src/database/embedded/open-embedded.ts'
import { socketPath, type SocketAddress } from '../../src/database/embedded/socket-place.ts'
import type { QuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { directPool } from '../support/direct-pool.ts'
import { holdCompiled } from '../support/embedded-template.ts'
import { until } from '../support/until.ts'

export const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'embedded-test-'))

/** A folder that does not outlive the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = makeFolder()
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface OpenedForTest extends Embedded {
  readonly lost: QuittanceError[]
}

/** Opens a database that is closed at the end of the test, or by the caller. */
export async function open(
  t: Pick<TestContext, 'after'> | undefined,
  options: Partial<EmbeddedOptions>,
): Promise<OpenedForTest> {
  holdCompiled()
  const lost: QuittanceError[] = []
  const embedded = await openEmbedded({
    dataDir: undefined,
    log: silentLog,
    onLost: (error) => lost.push(error),
    transactionIdleMs: 5000,
    ...options,
  })
  t?.after(() => embedded.close())
  return { ...embedded, lost }
}

/** A pool whose idle connections may be cut without ending the process. */
export function createPool(
  t: TestContext,
  socket: SocketAddress,
  more: Readonly<pg.PoolConfig> = {},
): pg.Pool {
  const known = { user: 'quittance', database: 'quittance', max: 4 }
  const pool = directPool({ ...socket, ...known, ...more })
  t.after(() => pool.end())
  return pool
}

/** A connection that speaks the wire protocol by hand. */
export async function connectRaw(t: TestContext, address: SocketAddress): Promise<Socket> {
  const socket = connect(socketPath(address))
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

const readyForQuery = Buffer.from('Z\0\0\0\u0005')

/** Collects bytes until the last six are a ReadyForQuery, or the peer ends the connection. */
export async function answer(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  return new Promise((resolve) => {
    const finish = () => {
      socket.off('data', take).off('close', finish)
      resolve(Buffer.concat(chunks))
    }
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      if (Buffer.concat(chunks).subarray(-6, -1).equals(readyForQuery)) finish()
    }
    socket.on('data', take).on('close', finish)
  })
}

/** The letters of the messages in an answer. */
export function letters(bytes: Buffer): string {
  let found = ''
  for (let at = 0; at < bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
    found += String.fromCharCode(bytes.readUInt8(at))
  }
  return found
}

export interface Started {
  readonly child: ChildProcess
  /** Every line so far of standard output. */
  readonly lines: string[]
  /** Resolves with the first line that starts so; rejects if the process ends before. */
  line(start: string): Promise<string>
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>
}

const owner = new URL('owner.ts', import.meta.url)

/** Starts owner.ts, a process of its own that opens the folder. */
export function startOwner(t: TestContext, ...parameters: readonly string[]): Started {
  const child = spawn(process.execPath, [owner.pathname, ...parameters])
  t.after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += String(chunk)))
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const ended = once(child, 'close').then(([code]) => ({ code: Number(code), errors }))
  let isOver = false
  void ended.then(() => (isOver = true))
  const line = async (start: string) => {
    const found = () => lines.find((text) => text.startsWith(start))
    await until(() => found() !== undefined || isOver, { what: `it says ${start}`, everyMs: 5 })
    return found() ?? assert.fail(`the process ended without ${start}: ${errors}`)
  }
  return { child, lines, line, ended }
}
