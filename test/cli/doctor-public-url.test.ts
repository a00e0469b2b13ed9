import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { checkOrigin } from '../../src/cli/doctor/check-public-url.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFinding, doctor, type Report } from './doctor.ts'

/** What doctor says of a public URL behind which this server stands. */
async function lookAt(answer: RequestListener, scheme = 'http'): Promise<Report> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  using folder = temporaryFolder()
  try {
    return await doctor({
      cwd: folder.path,
      env: { APP_URL: `${scheme}://127.0.0.1:${port}` },
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const json = { 'content-type': 'application/json' }

describe('doctor explains what answers at the public URL instead of our route:', () => {
  const rows: readonly (readonly [name: string, answer: RequestListener, pattern: RegExp])[] = [
    [
      'another site’s 404',
      (_, response) => response.writeHead(404).end('<h1>Not found</h1>'),
      /404, and not by Quittance.*proxy/,
    ],
    [
      'our own 404',
      (_, response) => response.writeHead(404, json).end('{"message":"not found"}'),
      /404 by Quittance.*BILLING_WEBHOOK_PATH/,
    ],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: 'https://www.example.com/' }).end(),
      /302, a redirect to https:\/\/www\.example\.com\/.*gateways do not follow/,
    ],
    [
      'a password',
      (_, response) => response.writeHead(401).end(),
      /401.*Exempt the route from the password/,
    ],
    ['a proxy alone', (_, response) => response.writeHead(502).end(), /502.*does not reach/],
    ['another site’s page', (_, response) => response.end('hello'), /200, and not as Quittance/],
    [
      'another site’s 405',
      (_, response) => response.writeHead(405).end('no'),
      /405, and not as Quittance/,
    ],
    ['a server that hangs up', (request) => request.socket.destroy(), /no answer/],
    ['a server that never answers', () => {}, /no answer: .*timeout.*firewall/],
  ]
  for (const [name, answer, pattern] of rows) {
    test(name, async () => {
      assertFinding((await lookAt(answer)).of('route'), 'error', pattern)
    })
  }

  test('our own 405 is as it should be', async () => {
    const { of } = await lookAt((_, response) =>
      response.writeHead(405, json).end('{"message":"method not allowed"}'),
    )
    assertFinding(of('route'), 'ok', /answers at/)
  })

  test('a port without TLS', async () => {
    const { of } = await lookAt((_, response) => response.end(), 'https')
    assertFinding(of('route'), 'error', /TLS fails.*certificate/)
  })

  test('a name that does not exist', async () => {
    using folder = temporaryFolder()
    const env = { APP_URL: 'https://quittance.invalid' }
    const { of } = await doctor({ cwd: folder.path, env })
    assertFinding(of('public_url'), 'ok', /invalid/)
    assertFinding(of('route'), 'error', /name cannot be resolved.*DNS/)
  })
})

test('the public URL must be public and encrypted once it matters', () => {
  const state = (url: string, production: boolean, real: boolean) =>
    checkOrigin(new URL(url), { production, real }).state
  const local = ['http://localhost:3000', 'https://192.168.1.9', 'http://[::1]:3000']
  for (const url of local) {
    assert.deepEqual(
      [state(url, false, false), state(url, false, true), state(url, true, true)],
      ['ok', 'warning', 'error'],
      url,
    )
  }
  assert.equal(state('http://pay.example.com', false, true), 'warning')
  assert.equal(state('http://pay.example.com', true, true), 'error')
  assert.equal(state('https://pay.example.com', true, true), 'ok')
  assert.equal(state('https://10.example.com', true, true), 'ok')
})
