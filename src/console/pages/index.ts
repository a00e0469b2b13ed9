import type { ConsoleRoute } from '../routes.ts'
import { auditPage } from './audit.ts'
import { callBody, callPage, replayCall, replayMarked } from './call.ts'
import { callsPage } from './calls.ts'
import { createTestPayment, sendTestCallback } from './development-actions.ts'
import {
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  replayEndpoint,
  testEndpoint,
} from './endpoint-actions.ts'
import { addEndpoint, rotateSecret } from './endpoint-secrets.ts'
import { endpointForwardsPage, endpointPage } from './endpoint.ts'
import { endpointsPage } from './endpoints.ts'
import { eventPage, resendEvent } from './event.ts'
import { eventsPage } from './events.ts'
import { failedPage } from './failed.ts'
import { checkRegistration, gatewayPage } from './gateway.ts'
import { gatewaysPage } from './gateways.ts'
import { invoicePage, voidInvoice } from './invoice.ts'
import { invoiceExport, invoicesPage } from './invoices.ts'
import { overviewPage } from './overview.ts'
import { askNow, cancelPayment, paymentPage, refundPayment } from './payment.ts'
import { paymentExport, paymentsPage } from './payments.ts'
import { refusedPage } from './refused.ts'
import { handleReview, reviewPage } from './review.ts'
import { reviewsPage } from './reviews.ts'
import { runPage, runsPage, startRun, stopRun } from './runs.ts'
import { searchCallsPage, searchPage } from './search.ts'
import { settingsPage, signOutEverywhere } from './settings.ts'
import {
  cancelSubscription,
  changePlan,
  pauseSubscription,
  resumeSubscription,
  syncSubscription,
} from './subscription-actions.ts'
import { subscriptionPage } from './subscription.ts'
import { subscriptionsPage } from './subscriptions.ts'
import { totalsExport, totalsPage } from './totals.ts'

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
