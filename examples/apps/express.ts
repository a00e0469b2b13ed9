// express.ts
import express from 'express'
import { nodeHandler } from 'quittance/node'
import { billing } from './billing.ts'

await billing.migrate()
await billing.work()

const app = express()
// It takes what is for Quittance; every other request goes on, unread.
app.use(nodeHandler(billing))
app.use(express.json())
app.get('/', (_request, response) => {
  response.send('The rest of the app.')
})

const server = app.listen(Number(process.env.PORT || 3000), () => {
  console.log(`listening on ${billing.origin}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void billing.close())
process.once('SIGTERM', end).once('SIGINT', end)
