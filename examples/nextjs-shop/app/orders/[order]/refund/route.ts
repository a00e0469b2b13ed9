import { explain, seeOther } from '../../../../lib/answers.ts'
import { getShop } from '../../../../lib/shop.ts'

export const runtime = 'nodejs'

interface Context {
  readonly params: Promise<{ readonly order: string }>
}

/** For anybody to press here: in your shop, see who it is first. */
export async function POST(request: Request, { params }: Context): Promise<Response> {
  const { order } = await params
  const { billing } = await getShop()
  // The id of the refund comes from the form: pressed twice it is one refund.
  const refund = new URLSearchParams(await request.text()).get('refund') ?? undefined
  const refunded = billing.refunds.create(order, { id: refund })
  return refunded.then(() => seeOther(`/orders/${order}`), explain)
}
