import { Hono } from 'hono'
import { assetRoutes, assetsPath } from './assets.ts'
import { browserSignals } from './browser-signals.ts'
import { gatewayPageRoutes, scriptOf } from './gateway-page.ts'
import { invoicePage, invoicePages } from './invoice-page.ts'
import { lookOf } from './look.ts'
import { chargeFinder, type PageContext, type StreamLimits } from './page-context.ts'
import { paymentLink } from './payment-link.ts'
import { troublePage } from './payment-view.ts'
import { returnPage } from './return-page.ts'
import { followStatus, submitForm } from './scripts.ts'
import { subscriptionPage, subscriptionPages } from './subscription-page.ts'
import { minutes, seconds } from '../../kernel/duration.ts'
import { requestIdOf } from '../request-id.ts'

const payPages = '/billing/pay'
const returnPages = '/billing/return'

export const defaultLimits: StreamLimits = {
  streams: 200,
  perAddress: 10,
  perPayment: 10,
  streamLasts: minutes(1),
  lookEvery: seconds(1),
}

/** Everything that payers see. */
export function browserPages(surroundings: Omit<PageContext, 'findCharge'>): Hono {
  const { core, log } = surroundings
  const context: PageContext = { ...surroundings, findCharge: chargeFinder(core) }
  const signal = browserSignals(core, surroundings)
  const app = new Hono()
  app.route(payPages, paymentLink(context, signal))
  app.route(returnPages, returnPage(context, signal))
  app.route(subscriptionPages, subscriptionPage(context))
  app.route(invoicePages, invoicePage(context))
  app.route('/', gatewayPageRoutes(core))
  app.route(assetsPath, assetRoutes([submitForm, followStatus, ...core.pages.map(scriptOf)]))
  app.onError((error, c) => {
    const requestId = requestIdOf(c)
    log.error({ err: error, requestId }, 'a page could not be shown')
    return troublePage(lookOf(core, c), requestId)
  })
  return app
}

/** Whether a path is one of these pages, or something that they load. */
export function isPagePath(path: string, pages: readonly { readonly path: string }[]): boolean {
  const folders = [payPages, returnPages, subscriptionPages, invoicePages, assetsPath]
  return (
    folders.some((folder) => path.startsWith(`${folder}/`)) ||
    pages.some((page) => page.path === path)
  )
}
