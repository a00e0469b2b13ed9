import { explain, seeOther } from '../../lib/answers.ts'
import { addOrder, payFor } from '../../lib/orders.ts'

export const runtime = 'nodejs'

export async function POST(): Promise<Response> {
  const order = await addOrder()
  return payFor(order).then(seeOther, explain)
}
