import type { Credentials } from './credential-fields.ts'

/**
 * A page of a gateway that the payer's browser opens on our side, such as one that loads the
 * provider's script. It is only data: the server decides how it looks, and makes sure that nothing
 * on it runs inline.
 */
export interface BrowserPage {
  /** One word: the page is at `/billing/{name or alias}/{path}`. */
  readonly path: string
  /**
   * A classic script, run after `sources`; it finds its data in the `data-` attributes of `main`.
   */
  readonly script: string
  /** In the language with this tag (`uk`), or in English. */
  content(query: URLSearchParams, credentials: Credentials, language: string): BrowserPageContent
}

/** The content of such a page for one query. */
export interface BrowserPageContent {
  /** 400: the address is wrong; 503: a setting is missing. */
  readonly status: 200 | 400 | 503
  /** The tag of the language that the texts are in; English by default. */
  readonly language?: string
  readonly heading: string
  /** One paragraph each; the script may change the first, which has the id `news`. */
  readonly texts: readonly string[]
  /** Everything besides text; absent if there is nothing to run. */
  readonly active?: {
    /** Values of `data-` attributes, by their names. They are public. */
    readonly data: Readonly<Record<string, string>>
    /** The provider's scripts. */
    readonly sources: readonly string[]
    /** The text of a button with the id `again`, hidden until the script shows it. */
    readonly button: string
    /** Added to the style of our pages. */
    readonly style?: string
    /** What the provider's script loads, by directive of the content security policy. */
    readonly policy: Readonly<
      Partial<
        Record<
          'script-src' | 'style-src' | 'img-src' | 'connect-src' | 'frame-src',
          readonly string[]
        >
      >
    >
  }
}
