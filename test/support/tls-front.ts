import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createSecureContext, TLSSocket, type SecureContextOptions } from 'node:tls'

/** A PostgreSQL server with TLS: what is behind it has none. */
export interface TlsFront {
  readonly port: number
  /** Whether the last connection had a certificate. */
  readonly hadCertificate: boolean
  close(): Promise<void>
}

/** What a client sends before TLS: length 8, and the code of an SSLRequest. */
const request = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

export async function startTlsFront(url: string, options: SecureContextOptions): Promise<TlsFront> {
  const { hostname, port } = new URL(url)
  const secureContext = createSecureContext(options)
  const sockets = new Set<Socket>()
  let hadCertificate = false
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (first) => {
      socket.pause()
      const isRequest = request.equals(Buffer.from(first))
      if (isRequest) socket.write('S')
      else socket.unshift(first)
      const secure = new TLSSocket(socket, {
        isServer: true,
        secureContext,
        requestCert: true,
        rejectUnauthorized: false,
        ALPNProtocols: ['postgresql'],
      })
      const behind = connect(Number(port), hostname)
      sockets.add(behind)
      behind.on('error', () => socket.destroy())
      secure.on('error', () => behind.destroy())
      secure.on('secure', () => {
        hadCertificate = Object.keys(secure.getPeerCertificate()).length > 0
      })
      secure.pipe(behind).pipe(secure)
    })
  })
  server.listen(0)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get hadCertificate() {
      return hadCertificate
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
