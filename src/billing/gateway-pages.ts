import type { BrowserPageContent } from '../gateways/browser-page.ts'
import type { Registry } from '../gateways/registry.ts'

/** A gateway's page for payers' browsers, at one of its addresses. */
export interface GatewayPage {
  /** `/billing/{name or alias}/...` */
  readonly path: string
  /** The gateway's canonical name. */
  readonly gateway: string
  readonly script: string
  content(query: URLSearchParams, language: string): BrowserPageContent
}

/** The pages of all gateways, under the name of each and under its aliases. */
export function gatewayPages(gateways: Registry): readonly GatewayPage[] {
  return gateways.list().flatMap(({ gateway, credentials }) =>
    (gateway.browserPages ?? []).flatMap((page) =>
      [gateway.name, ...gateway.aliases].map((name) => ({
        path: `/billing/${name}/${page.path}`,
        gateway: gateway.name,
        script: page.script,
        content: (query: URLSearchParams, language: string) =>
          page.content(query, credentials, language),
      })),
    ),
  )
}
