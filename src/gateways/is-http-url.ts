/** Whether a setting is an http(s) URL, such as the base of a provider's API. */
export function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}
