import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { openBrowser } from '../test/console/browser.ts'
import { signIn } from '../test/console/console-service.ts'
import { benchTargets, startOnPostgres, type Target } from './intake.ts'
import type { Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

const nobody = 'nobody looks'
const token = 'a-token-of-the-bench-that-nobody-guesses'
const viewers = 60
const consolePath = '/billing/console'

/** A page asks for itself again after so many seconds. */
interface Look {
  readonly path: string
  readonly everySeconds: number
}

/** What it costs callbacks that many people look at the console, by number of senders. */
export function benchViewers(
  options: BenchOptions,
): Promise<ReadonlyMap<number, readonly Figure[]>> {
  const { rounds, ...lasting } = options.settings.viewers
  const longer = { ...options, settings: { ...options.settings, ...lasting } }
  // One service: two of them differ by more than this.
  let service: Target | undefined
  return benchTargets(longer, {
    starts: [
      async (given) => {
        const program = { args: [], env: { BILLING_API_TOKEN: token } }
        return (service = await startOnPostgres(given, { subject: nobody, ...program }))
      },
      async () => {
        if (service === undefined) throw new Error('the service is started first')
        return watched({ ...service, subject: `${viewers} people look`, stop: async () => {} })
      },
    ],
    baselines: [nobody],
    areAlike: true,
    rounds,
  })
}

async function watched(target: Target): Promise<Target> {
  const { origin } = new URL(target.url)
  const browser = await signIn(
    openBrowser((request) => fetch(request), origin),
    token,
  )
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const look = (path: string) => readPage(origin + consolePath + path, cookie)
  const looks = [
    { path: '', everySeconds: 10 },
    { path: `/payments/${await createPayment(origin)}`, everySeconds: 10 },
    { path: '/calls', everySeconds: 5 },
  ]
  return { ...target, beside: () => lookOn(looks, look) }
}

/** With as little work as can be: the machine is that of the service, too. */
async function readPage(url: string, cookie: string): Promise<void> {
  const headers = { cookie, 'x-quittance-refresh': '1', 'sec-fetch-site': 'same-origin' }
  const [answer] = (await once(get(url, { headers }), 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  if (answer.statusCode !== 200) throw new Error(`${url} was answered ${answer.statusCode}`)
}

async function createPayment(origin: string): Promise<string> {
  const answer = await fetch(`${origin}/billing/api/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      gateway: 'fake',
      amount: 4_999,
      currency: 'USD',
      payable: { type: 'order', id: '42' },
    }),
  })
  const { id } = (await answer.json()) as { readonly id?: string }
  if (id === undefined) throw new Error(`no payment was created: ${answer.status}`)
  return id
}

/** Each at another time, and again in time, whether or not the look before was answered. */
function lookOn(looks: readonly Look[], look: (path: string) => Promise<void>) {
  const timers: NodeJS.Timeout[] = []
  const underWay = new Set<Promise<void>>()
  for (let viewer = 0; viewer < viewers; viewer += 1) {
    const { path = '', everySeconds = 10 } = looks[viewer % looks.length] ?? {}
    const again = () => {
      const looked = look(path).finally(() => underWay.delete(looked))
      underWay.add(looked)
    }
    const begin = () => {
      again()
      timers.push(setInterval(again, everySeconds * 1_000))
    }
    timers.push(setTimeout(begin, (everySeconds * 1_000 * viewer) / viewers))
  }
  return {
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(underWay)
    },
  }
}
