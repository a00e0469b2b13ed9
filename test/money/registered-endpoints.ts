import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { startPaddle } from '../providers/paddle.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { startStripe } from '../providers/stripe.ts'

/** An endpoint as somebody else, or we ourselves earlier, made it in the provider's dashboard. */
export interface MadeEndpoint {
  readonly url: string
  readonly events?: readonly string[]
  readonly enabled?: boolean
}

/** A provider whose endpoints a person can look at and change. */
export interface Registrar {
  readonly provider: ProviderStandIn
  /** Its id. */
  make(endpoint: MadeEndpoint): Promise<string>
  /** Changes one, as a person does in the dashboard. */
  change(id: string, endpoint: MadeEndpoint): Promise<void>
  list(): Promise<readonly Listed[]>
  /** Removes all of them. */
  clear(): Promise<void>
  /** The secret of an endpoint. */
  secretOf(id: string): string
}

export interface Listed {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly enabled: boolean
}

type Json = Readonly<Record<string, unknown>>

async function answered(request: Promise<Response>): Promise<Json> {
  const answer = await request
  const body = await answer.text()
  assert.ok(answer.ok, body)
  return body === '' ? {} : (JSON.parse(body) as Json)
}

async function startStripeRegistrar(): Promise<Registrar> {
  const provider = await startStripe()
  const { api_base: base = '', secret_key: key = '' } = provider.config
  const path = `${base}/v1/webhook_endpoints`
  const headers = { authorization: `Bearer ${key}`, 'stripe-version': '2026-10-28.endive' }
  const fields = ({ url, events = ['charge.succeeded'] }: MadeEndpoint) => {
    const form = new URLSearchParams({ url })
    for (const event of events) form.append('enabled_events[]', event)
    return form
  }
  const change: Registrar['change'] = async (id, endpoint) => {
    const body = fields(endpoint)
    body.set('disabled', String(endpoint.enabled === false))
    await answered(fetch(`${path}/${id}`, { method: 'POST', headers, body }))
  }
  const list: Registrar['list'] = async () => {
    const { data } = await answered(fetch(`${path}?limit=100`, { headers }))
    return (data as readonly Json[]).map((one) => ({
      id: String(one['id']),
      url: String(one['url']),
      events: one['enabled_events'] as readonly string[],
      enabled: one['status'] === 'enabled',
    }))
  }
  return {
    provider,
    make: async (endpoint) => {
      const body = fields(endpoint)
      body.set('api_version', '2026-10-28.endive')
      const { id } = await answered(fetch(path, { method: 'POST', headers, body }))
      if (endpoint.enabled === false) await change(String(id), endpoint)
      return String(id)
    },
    change,
    list,
    clear: async () => {
      for (const { id } of await list()) {
        await answered(fetch(`${path}/${id}`, { method: 'DELETE', headers }))
      }
    },
    secretOf: (id) => `whsec_of_${id}`,
  }
}

async function startPaddleRegistrar(): Promise<Registrar> {
  const provider = await startPaddle()
  const { endpoints, newId } = provider.account
  const change: Registrar['change'] = async (id, { url, events, enabled = true }) => {
    const known = endpoints.get(id)
    assert.ok(known)
    const subscribed_events = events ?? known.subscribed_events
    endpoints.set(id, { ...known, destination: url, active: enabled, subscribed_events })
  }
  return {
    provider,
    make: async (endpoint) => {
      const id = newId('ntfset')
      const made = {
        id,
        active: true,
        destination: endpoint.url,
        subscribed_events: endpoint.events ?? ['customer.created'],
        endpoint_secret_key: `pdl_${id}_s+c/t`,
      }
      // As it is kept where it was made by a request.
      endpoints.set(id, Object.assign(made, { type: 'url', api_version: 1 }))
      await change(id, endpoint)
      return id
    },
    change,
    list: async () =>
      Array.from(endpoints.values(), ({ id, destination, subscribed_events, active }) => ({
        id,
        url: destination,
        events: subscribed_events,
        enabled: active,
      })),
    clear: async () => endpoints.clear(),
    secretOf: (id) => endpoints.get(id)?.endpoint_secret_key ?? '',
  }
}

/** The providers that have to be told where callbacks go. */
export const registrars: readonly (readonly [string, () => Promise<Registrar>])[] = [
  ['stripe', startStripeRegistrar],
  ['paddle', startPaddleRegistrar],
]

/** A provider whose replies are altered on their way; the URL to reach it at. */
export async function altered(
  base: string,
  alter: (body: string) => string,
): Promise<{ readonly base: string; close(): Promise<void> }> {
  const server = createServer((incoming, response) => {
    const pass = async () => {
      const { method = 'GET', url = '/', headers } = incoming
      const body = await text(incoming)
      const answer = await fetch(base + url, {
        method,
        headers: passedOn(headers),
        ...(body !== '' && { body }),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(alter(await answer.text()))
    }
    pass().catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  return {
    base: `http://127.0.0.1:${port}`,
    close: () => new Promise((closed) => server.close(() => closed())),
  }
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  const names = ['authorization', 'content-type', 'stripe-version', 'paddle-version']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
