import type { ConsoleRoute } from '../routes.ts'
import { auditPage } from './audit.ts'
import { createTestPayment, sendTestCallback } from './development-actions.ts'
import { askNow, cancelPayment, refundPayment } from './payment-actions.ts'
import { failedPage } from './failed.ts'
import { overviewPage } from './overview.ts'
import { paymentPage } from './payment.ts'
import { paymentsPage } from './payments.ts'

/** Every page, and everything that can be done there. */
export const routes: readonly ConsoleRoute[] = [
  { path: '/', page: overviewPage },
  { path: '/payments', page: paymentsPage },
  { path: '/payments/new', action: createTestPayment },
  { path: '/payments/:id', page: paymentPage },
  { path: '/payments/:id/ask', action: askNow },
  { path: '/payments/:id/cancel', action: cancelPayment },
  { path: '/payments/:id/refund', action: refundPayment },
  { path: '/gateways/:name/test', action: sendTestCallback },
  { path: '/failed', page: failedPage },
  { path: '/audit', page: auditPage },
]
