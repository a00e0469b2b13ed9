import { callRoutes } from './calls.ts'
import { endpointRoutes } from './endpoints.ts'
import { eventRoutes } from './events.ts'
import { gatewayRoutes } from './gateways.ts'
import { invoiceRoutes } from './invoices.ts'
import { paymentMethodRoutes } from './payment-methods.ts'
import { paymentRoutes } from './payments.ts'
import { reviewRoutes } from './reviews.ts'
import { runRoutes } from './runs.ts'
import type { Route } from './route.ts'
import { searchRoutes } from './search.ts'
import { subscriptionWishRoutes } from './subscription-wishes.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { usageRoutes } from './usage.ts'

/** Every route of the management API. */
export const routes: readonly Route[] = [
  ...paymentRoutes,
  ...paymentMethodRoutes,
  ...subscriptionRoutes,
  ...subscriptionWishRoutes,
  ...usageRoutes,
  ...invoiceRoutes,
  ...callRoutes,
  ...reviewRoutes,
  ...runRoutes,
  ...eventRoutes,
  ...endpointRoutes,
  ...gatewayRoutes,
  ...searchRoutes,
]
