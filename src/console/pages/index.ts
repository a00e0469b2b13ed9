import type { ConsoleRoute } from '../routes.ts'
import { auditPage } from './audit.ts'
import { replayCall, replayMarked } from './call-actions.ts'
import { callBody } from './call-body.ts'
import { callPage } from './call.ts'
import { callsPage } from './calls.ts'
import { checkRegistration } from './gateway-actions.ts'
import { gatewayPage } from './gateway.ts'
import { gatewaysPage } from './gateways.ts'
import { askNow, cancelPayment, refundPayment } from './payment-actions.ts'
import { paymentPage } from './payment.ts'
import { paymentsPage } from './payments.ts'
import { handleReview } from './review-actions.ts'
import { reviewPage } from './review.ts'
import { reviewsPage } from './reviews.ts'
import { settingsPage, signOutEverywhere } from './settings.ts'

/** Every page, and everything that can be done there. */
export const routes: readonly ConsoleRoute[] = [
  { path: '/payments', page: paymentsPage },
  { path: '/payments/:id', page: paymentPage },
  { path: '/payments/:id/ask', action: askNow },
  { path: '/payments/:id/cancel', action: cancelPayment },
  { path: '/payments/:id/refund', action: refundPayment },
  { path: '/calls', page: callsPage },
  { path: '/calls/replay', action: replayMarked },
  { path: '/calls/:id', page: callPage },
  { path: '/calls/:id/body', page: callBody },
  { path: '/calls/:id/replay', action: replayCall },
  { path: '/reviews', page: reviewsPage },
  { path: '/reviews/:id', page: reviewPage },
  { path: '/reviews/:id/handle', action: handleReview },
  { path: '/gateways', page: gatewaysPage },
  { path: '/gateways/:name', page: gatewayPage },
  { path: '/gateways/:name/registration', action: checkRegistration },
  { path: '/settings', page: settingsPage },
  { path: '/settings/sign-out', action: signOutEverywhere },
  { path: '/audit', page: auditPage },
]
