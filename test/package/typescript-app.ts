// What a stranger's app looks like: the tarball test checks and runs it as a project of its own.
import { createServer } from 'node:http'
import { createBilling, defineConfig, isQuittanceError, throttle, type Payment } from 'quittance'
import {
  constantTimeEqual,
  days,
  ignored,
  invalid,
  parseJsonBody,
  plainAcknowledgment,
  valid,
  type Gateway,
} from 'quittance/gateways'
import { stripe } from 'quittance/gateways/stripe'
import { nodeHandler } from 'quittance/node'
import packageFile from 'quittance/package.json' with { type: 'json' }
import { prismaPool } from 'quittance/prisma'
import { openTestBilling } from 'quittance/testing'

// It has no API, hence no key for one.
const { apiCredential: _key, ...asStripe } = stripe

const acme: Gateway = {
  ...asStripe,
  name: 'acme',
  title: 'Acme',
  aliases: [],
  scheme: 'a shared word',
  credentials: {
    word: { env: ['ACME_WORD'], secret: true, required: true, description: 'The shared word.' },
  },
  retryWindow: days(1),
  account: () => ({ merchantAccount: null, live: null }),
  verify(request, { secrets }) {
    const sent = new TextEncoder().encode(request.headers['acme-word'] ?? '')
    const known = secrets['word']?.map((word) => new TextEncoder().encode(word.reveal())) ?? []
    return known.some((word) => constantTimeEqual(word, sent)) ? valid : invalid('wrong_word')
  },
  parse: (request) => parseJsonBody(request.body),
  acknowledge: () => plainAcknowledgment,
  interpret: () => Promise.resolve([ignored('unhandled_event')]),
}

const granted: Payment[] = []

const options = defineConfig({
  database: { memory: true },
  webhook: { middleware: [throttle('60 per minute')] },
  gateways: { acme: { word: 'a word that both sides know' } },
  extra_gateways: [acme],
  listeners: {
    grantAccess: {
      on: 'PaymentSucceeded',
      run: ({ payment }, { tx }) => {
        if (prismaPool(tx).max === 1) granted.push(payment)
      },
    },
  },
})

const billing = createBilling(options)
const { configured, webhook_url } = billing.gateways()['acme'] ?? {}
const server = createServer(nodeHandler(billing))
say(packageFile.version, configured, webhook_url, server.listening)

try {
  createBilling({ url: 'nowhere' })
} catch (error) {
  if (isQuittanceError(error)) say(error.code)
}

await using rehearsal = await openTestBilling(options)
await rehearsal.send(await rehearsal.createPayment({ gateway: 'stripe' }), 'paid')
await rehearsal.idle()
say(granted.map(({ status }) => status).join())

function say(...words: readonly unknown[]): void {
  process.stdout.write(`${words.join(' ')}\n`)
}
