// fastify.ts
import { fastify } from 'fastify'
import { nodeHandler } from 'quittance/node'
import { billing } from './billing.ts'

await billing.migrate()
await billing.work()

const app = fastify()
const handle = nodeHandler(billing)
app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
  scope.all('/billing/*', (request, reply) => {
    reply.hijack()
    handle(request.raw, reply.raw)
  })
})
app.get('/', () => 'The rest of the app.')
// Fastify stops listening and answers what is under way before this.
app.addHook('onClose', () => billing.close())

await app.listen({ port: Number(process.env.PORT || 3000) })
console.log(`listening on ${billing.origin}`)

const end = () => void app.close()
process.once('SIGTERM', end).once('SIGINT', end)
