// Quittance in a Fastify app: a plugin of its own, where Fastify parses no body.
//
// Run it here, after `npm ci`:    npx node examples/fastify.ts
// In a project of your own:       npm install quittance fastify
import { fastify } from 'fastify'
import { createBilling } from 'quittance'
import { nodeHandler } from 'quittance/node'

const { BILLING_DATA_DIR = '.quittance-examples', DATABASE_URL, PORT = '3000' } = process.env

const billing = createBilling({
  // STRIPE_SIGNING_SECRET and the like, and NODE_ENV.
  environment: process.env,
  database: DATABASE_URL ? { url: DATABASE_URL } : { dataDir: BILLING_DATA_DIR },
})
billing.on('PaymentSucceeded', 'grantAccess', ({ payment }) => {
  console.log(`paid: ${payment.payable.type} ${payment.payable.id}`)
})
await billing.migrate()
await billing.work()

const app = fastify()
const handle = nodeHandler(billing)
app.register(async (scope) => {
  // The signature is about the exact bytes: in this scope nobody reads them before Quittance.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // Callbacks, and the pages that payers see.
  scope.all('/billing/*', (request, reply) => {
    reply.hijack()
    handle(request.raw, reply.raw)
  })
})
app.get('/', () => 'The rest of the app.')
// Fastify stops listening and answers what is under way before this.
app.addHook('onClose', () => billing.close())

await app.listen({ port: Number(PORT) })
console.log(`listening on http://localhost:${PORT}`)

const end = () => void app.close()
process.once('SIGTERM', end).once('SIGINT', end)
