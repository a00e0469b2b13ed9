import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProcess } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const urlOf = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url))

const script = `
  import { createServer } from 'node:http'
  import { createBilling } from ${urlOf('index.ts')}
  import { nodeHandler } from ${urlOf('http/node-handler.ts')}
  const globals = { Request, Response }
  const server = createServer(nodeHandler(createBilling()))
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready))
  const { status } = await fetch('http://127.0.0.1:' + server.address().port + '/healthz')
  server.close()
  console.log(status, Request === globals.Request, Response === globals.Response)
  process.exit(0)`

// In a process of its own: a service of ours that runs in the same one replaces them for speed.
test('Request and Response of the host stay what they are', async () => {
  using folder = temporaryFolder()
  const words = ['--input-type=module', '--eval', script]
  const options = { runtime: process.execPath, cwd: folder.path }
  const { code, stdout, stderr } = await startProcess(words, options).ended
  assert.deepEqual([code, stdout], [0, ['200 true true']], stderr.join('\n'))
})
