/** The configuration of the golden world: of its service, and of the commands beside it. */
import { worldParts } from '../openapi/world.ts'

const { billing } = worldParts()

export const encryptionKey = Buffer.alloc(32, 7).toString('base64')

export const listeners = {
  grantAccess: { on: 'PaymentSucceeded', run: () => {}, queued: true },
} as const

export default { ...billing, listeners }
