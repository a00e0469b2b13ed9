// hono.ts
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { billing } from './billing.ts'

await billing.migrate()
await billing.work()

const app = new Hono()
// `c.env` tells where a request comes from.
app.all('/billing/*', (c) => billing.fetch(c.req.raw, c.env))
app.get('/', (c) => c.text('The rest of the app.'))

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT || 3000) }, () => {
  console.log(`listening on ${billing.origin}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void billing.close())
process.once('SIGTERM', end).once('SIGINT', end)
