import assert from 'node:assert/strict'
import { createServer, setGlobalProxyFromEnv, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { createProviderApi } from './provider-api.ts'
import { wasUnsent } from './unsent.ts'

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('where there was no connection, nothing was sent; else it is not known', async () => {
  const proxy = createServer()
  proxy.on('connect', (_request, socket: Duplex) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  const cut = createServer((_request, response) => response.destroy())
  const there = createServer((_request, response) => response.end('{}'))
  const absent = createServer((_request, response) => response.writeHead(404).end())
  const gone = createServer()
  const [proxyUrl, cutUrl, thereUrl, absentUrl, goneUrl] = await Promise.all(
    [proxy, cut, there, absent, gone].map(listening),
  )
  gone.close()
  const post = async (base = '', { signal } = new AbortController()) => {
    const api = createProviderApi({ title: 'Acme', base })
    return wasUnsent(await api.post('x', { json: {}, signal }).catch((error: unknown) => error))
  }
  const unproxied = setGlobalProxyFromEnv({ https_proxy: proxyUrl ?? '' })
  try {
    assert.equal(await post('https://provider.example'), true, 'refused by the proxy')
    assert.equal(await post(goneUrl), true)
    assert.equal(await post(cutUrl), false)
    for (const base of [thereUrl, absentUrl]) {
      const one = new AbortController()
      await post(base, one)
      assert.equal(await post(goneUrl, one), false, 'something was sent before')
    }
  } finally {
    unproxied()
    for (const server of [proxy, cut, there, absent]) server.close().closeAllConnections()
  }
})
