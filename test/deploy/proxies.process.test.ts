import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { httpSettings } from '../../src/billing/http-settings.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { read } from '../tidy/source-files.ts'

const name = 'pay.example.com'

interface Place {
  readonly folder: string
  readonly port: number
  readonly service: number
}

interface Proxy {
  readonly title: string
  readonly command: string
  /** Writes its configuration, the sample in it, and says with which arguments it runs. */
  configure(place: Place): readonly string[]
}

/** The sample, which speaks plain HTTP at a port of the test. Fails if it has not all of this. */
function sample(path: string, replaced: readonly (readonly [what: string, by: string])[]): string {
  return replaced.reduce((text, [what, by]) => {
    assert.ok(text.includes(what), `${path} has ${what}`)
    return text.replaceAll(what, by)
  }, read(path))
}

const proxies: readonly Proxy[] = [
  {
    title: 'nginx',
    command: 'nginx',
    configure({ folder, port, service }) {
      const site = sample('deploy/proxy/nginx.conf', [
        ['127.0.0.1:3000', `127.0.0.1:${service}`],
        ['listen 443 ssl http2;', `listen 127.0.0.1:${port};`],
        ['  listen [::]:443 ssl http2;\n', ''],
        [`  ssl_certificate /etc/letsencrypt/live/${name}/fullchain.pem;\n`, ''],
        [`  ssl_certificate_key /etc/letsencrypt/live/${name}/privkey.pem;\n`, ''],
      ])
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((one) => `${one}_temp_path ${join(folder, one)};`)
        .join(' ')
      const file = join(folder, 'nginx.conf')
      writeFileSync(
        file,
        `user root root; daemon off; pid ${join(folder, 'pid')}; error_log stderr;
        events {} http { access_log off; ${paths}\n${site}}`,
      )
      return ['-p', folder, '-c', file]
    },
  },
  {
    title: 'Caddy',
    command: 'caddy',
    configure({ folder, port, service }) {
      const site = sample('deploy/proxy/Caddyfile', [
        ['127.0.0.1:3000', `127.0.0.1:${service}`],
        [`\n${name} {`, `\nhttp://${name}:${port} {`],
      ])
      const file = join(folder, 'Caddyfile')
      writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`)
      return ['run', '--adapter', 'caddyfile', '--config', file]
    },
  },
]

test('the proxies close their connections before the service does', () => {
  for (const path of ['nginx.conf', 'Caddyfile']) {
    const [, kept] = /\bkeepalive(?:_timeout)? (\d+)s/.exec(read(`deploy/proxy/${path}`)) ?? []
    assert.ok(Number(kept) < httpSettings.keepAliveSeconds.default, path)
  }
})

for (const { title, command, configure } of proxies) {
  const isThere = spawnSync('which', [command], { stdio: 'ignore' }).status === 0
  const skip = isThere ? false : `NO ${title}: install Debian's package ${command}`
  assert.ok(isThere || process.env['CI'] !== 'true', skip || '')

  describe(`the sample of ${title}`, { skip }, () => {
    const folder = temporaryFolder()
    const seen: {
      readonly url: string
      readonly headers: IncomingMessage['headers']
      readonly body: Buffer
    }[] = []
    const reading = Promise.withResolvers<void>()
    let service: Server
    let proxy: ChildProcess
    let port = 0

    before(async () => {
      service = createServer((asked, answer) => {
        if (asked.url === '/billing/console/stream') {
          answer.write('first\n')
          void reading.promise.then(() => answer.end('second\n'))
          return
        }
        const taken = (body: Buffer) => {
          seen.push({ url: asked.url ?? '', headers: asked.headers, body })
          answer.end('ok')
        }
        // A proxy that refuses what is too large ends its own request.
        buffer(asked).then(taken, () => answer.destroy())
      })
      service.listen(0, '127.0.0.1')
      await once(service, 'listening')
      port = await freePort()
      const { port: behind } = service.address() as AddressInfo
      const args = configure({ folder: folder.path, port, service: behind })
      const env = { PATH: process.env['PATH'], HOME: folder.path }
      proxy = spawn(command, args, { stdio: 'ignore', env })
      await until(
        () =>
          ask('/').then(
            () => true,
            () => false,
          ),
        { what: 'the proxy answers' },
      )
    })
    after(async () => {
      proxy.kill()
      if (proxy.exitCode === null) await once(proxy, 'exit')
      service.closeAllConnections()
      service.close()
      folder[Symbol.dispose]()
    })

    const send = (path: string, body?: Buffer) => {
      const headers = { host: name, 'stripe-signature': 't=1,v1=ab' }
      const method = body === undefined ? 'GET' : 'POST'
      const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false })
      sent.end(body)
      return once(sent, 'response') as Promise<[IncomingMessage]>
    }
    const ask = async (path: string, body?: Buffer) => {
      const [answer] = await send(path, body)
      return { status: answer.statusCode, text: (await buffer(answer)).toString() }
    }

    test('passes a callback on as it came, for the host that it came to', async () => {
      const body = Buffer.from('{"text": "\\u0457 \\/",\r\n"amount": 10.50}')
      const { status } = await ask('/billing/webhooks/stripe?a=%2F', body)
      assert.equal(status, 200)
      const call = seen.at(-1)
      assert.equal(call?.url, '/billing/webhooks/stripe?a=%2F')
      assert.deepEqual(call.body, body)
      assert.equal(call.headers['stripe-signature'], 't=1,v1=ab')
      assert.equal(call.headers.host, name)
      assert.match(String(call.headers['x-forwarded-for']), /127\.0\.0\.1$/)
    })

    test('passes on what comes to the other path of callbacks', async () => {
      assert.equal((await ask('/webhook/billing/stripe', Buffer.from('{}'))).status, 200)
      assert.equal(seen.at(-1)?.url, '/webhook/billing/stripe')
    })

    test('keeps the management API inside, however it is spelled, and all that is not ours', async () => {
      const before = seen.length
      for (const path of [
        '/billing/api',
        '/billing/api/payments',
        '//billing//api/payments',
        '/billing/%61pi/payments',
        '/billing/webhooks/../api/payments',
        '/webhook/other',
        '/metrics',
        '/',
      ]) {
        assert.equal((await ask(path)).status, 404, path)
      }
      assert.equal(seen.length, before)
    })

    test('takes a body of a megabyte, and none that is larger', async () => {
      const largest = 1024 ** 2
      assert.equal((await ask('/billing/webhooks/stripe', Buffer.alloc(largest))).status, 200)
      assert.equal(seen.at(-1)?.body.length, largest)
      const { status } = await ask('/billing/webhooks/stripe', Buffer.alloc(largest + 1))
      assert.ok(status === 413 || status === 502, String(status))
    })

    test('holds nothing back of an answer that goes on', async () => {
      const [answer] = await send('/billing/console/stream')
      const [first] = (await once(answer, 'data')) as [Buffer]
      assert.equal(first.toString(), 'first\n')
      reading.resolve()
      assert.equal((await buffer(answer)).toString(), 'second\n')
    })
  })
}
