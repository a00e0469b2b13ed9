/** What the page has loaded before: https://github.com/bigskysoftware/idiomorph */
declare const Idiomorph: {
  morph(
    from: Element,
    to: Element,
    options: {
      readonly restoreFocus: boolean
      /** False: the attribute stays as it is. */
      readonly callbacks: { readonly beforeAttributeUpdated: (name: string) => boolean }
    },
  ): void
}

interface TrustedTypesLike {
  createPolicy(
    name: string,
    rules: { readonly createHTML: (text: string) => string },
  ): { createHTML(text: string): unknown }
}

// Not in every browser: https://developer.mozilla.org/docs/Web/API/Trusted_Types_API
declare var trustedTypes: TrustedTypesLike | undefined
