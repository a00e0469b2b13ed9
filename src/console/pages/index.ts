import type { ConsoleRoute } from '../routes.ts'
import { auditPage } from './audit.ts'
import { createTestPayment, sendTestCallback } from './development-actions.ts'
import {
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  replayEndpoint,
  testEndpoint,
} from './endpoint-actions.ts'
import { endpointForwardsPage } from './endpoint-forwards.ts'
import { addEndpoint, rotateSecret } from './endpoint-secrets.ts'
import { endpointPage } from './endpoint.ts'
import { endpointsPage } from './endpoints.ts'
import { resendEvent } from './event-actions.ts'
import { eventPage } from './event.ts'
import { eventsPage } from './events.ts'
import { voidInvoice } from './invoice-actions.ts'
import { invoiceExport } from './invoice-export.ts'
import { invoicePage } from './invoice.ts'
import { invoicesPage } from './invoices.ts'
import { replayCall, replayMarked } from './call-actions.ts'
import { callBody } from './call-body.ts'
import { callPage } from './call.ts'
import { callsPage } from './calls.ts'
import { checkRegistration } from './gateway-actions.ts'
import { gatewayPage } from './gateway.ts'
import { gatewaysPage } from './gateways.ts'
import { askNow, cancelPayment, refundPayment } from './payment-actions.ts'
import { failedPage } from './failed.ts'
import { overviewPage } from './overview.ts'
import { paymentExport } from './payment-export.ts'
import { paymentPage } from './payment.ts'
import { paymentsPage } from './payments.ts'
import { refusedPage } from './refused.ts'
import { runPage, runsPage, startRun, stopRun } from './runs.ts'
import { searchCallsPage, searchPage } from './search.ts'
import {
  cancelSubscription,
  changePlan,
  pauseSubscription,
  resumeSubscription,
  syncSubscription,
} from './subscription-actions.ts'
import { subscriptionPage } from './subscription.ts'
import { subscriptionsPage } from './subscriptions.ts'
import { handleReview } from './review-actions.ts'
import { reviewPage } from './review.ts'
import { reviewsPage } from './reviews.ts'
import { settingsPage, signOutEverywhere } from './settings.ts'
import { totalsExport } from './totals-export.ts'
import { totalsPage } from './totals.ts'

/** Every page, and everything that can be done there. */
export const routes: readonly ConsoleRoute[] = [
  { path: '/', page: overviewPage, isShared: true },
  { path: '/payments', page: paymentsPage },
  { path: '/payments/new', action: createTestPayment },
  { path: '/payments/export', page: paymentExport },
  { path: '/payments/:id', page: paymentPage, isShared: true },
  { path: '/payments/:id/ask', action: askNow },
  { path: '/payments/:id/cancel', action: cancelPayment },
  { path: '/payments/:id/refund', action: refundPayment },
  { path: '/gateways/:name/test', action: sendTestCallback },
  { path: '/refused', page: refusedPage },
  { path: '/failed', page: failedPage },
  { path: '/runs', page: runsPage },
  { path: '/runs/new', action: startRun },
  { path: '/runs/:id', page: runPage, isShared: true },
  { path: '/runs/:id/stop', action: stopRun },
  { path: '/search', page: searchPage },
  { path: '/search/calls', page: searchCallsPage },
  { path: '/calls', page: callsPage, isShared: true },
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
  { path: '/totals', page: totalsPage },
  { path: '/totals/export', page: totalsExport },
  { path: '/settings', page: settingsPage },
  { path: '/settings/sign-out', action: signOutEverywhere },
  { path: '/audit', page: auditPage },
  { path: '/subscriptions', page: subscriptionsPage },
  { path: '/subscriptions/:id', page: subscriptionPage },
  { path: '/subscriptions/:id/cancel', action: cancelSubscription },
  { path: '/subscriptions/:id/pause', action: pauseSubscription },
  { path: '/subscriptions/:id/resume', action: resumeSubscription },
  { path: '/subscriptions/:id/change', action: changePlan },
  { path: '/subscriptions/:id/sync', action: syncSubscription },
  { path: '/invoices', page: invoicesPage },
  { path: '/invoices/export', page: invoiceExport },
  { path: '/invoices/:id', page: invoicePage },
  { path: '/invoices/:id/void', action: voidInvoice },
  { path: '/endpoints', page: endpointsPage },
  { path: '/endpoints/_new', action: addEndpoint },
  { path: '/endpoints/:name', page: endpointPage },
  { path: '/endpoints/:name/forwards', page: endpointForwardsPage },
  { path: '/endpoints/:name/enable', action: enableEndpoint },
  { path: '/endpoints/:name/disable', action: disableEndpoint },
  { path: '/endpoints/:name/test', action: testEndpoint },
  { path: '/endpoints/:name/replay', action: replayEndpoint },
  { path: '/endpoints/:name/rotate-secret', action: rotateSecret },
  { path: '/endpoints/:name/remove', action: removeEndpoint },
  { path: '/events', page: eventsPage },
  { path: '/events/:id', page: eventPage },
  { path: '/events/:id/resend', action: resendEvent },
]
