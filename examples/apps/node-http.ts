// node-http.ts
import { createServer } from 'node:http'
import { nodeHandler } from 'quittance/node'
import { billing } from './billing.ts'

await billing.migrate()
await billing.work()

const handle = nodeHandler(billing)
const server = createServer((incoming, outgoing) => {
  handle(incoming, outgoing, () => {
    outgoing.end('The rest of the app.')
  })
})
server.listen(Number(process.env.PORT || 3000), () => {
  console.log(`listening on ${billing.origin}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void billing.close())
process.once('SIGTERM', end).once('SIGINT', end)
